"""The error tree is the one its docstring draws."""

import re

import pytest

from agentic_os import errors
from agentic_os.errors import AgenticOSError, StoreError, StoreLockedError

_DRAWN = re.compile(r"^\s*[|`\- ]*(\w+)\s+exit (\d+)", re.MULTILINE)
TREE = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, AgenticOSError)
]
EXIT_CODES = {1, 2, 3, 64, 130}


def test_the_docstring_draws_the_tree() -> None:
    assert errors.__doc__ is not None
    drawn = {name: int(code) for name, code in _DRAWN.findall(errors.__doc__)}

    assert drawn == {error.__name__: error.exit_code for error in TREE}


def test_the_docstring_draws_who_is_below_whom() -> None:
    assert errors.__doc__ is not None
    above: dict[int, str] = {}
    for line in errors.__doc__.splitlines():
        match = re.match(r"^(\s*[|` -]*)(\w+)\s+exit", line)
        if match is None:
            continue
        depth, name = len(match[1]), match[2]
        above[depth] = name
        parents = [above[at] for at in sorted(above) if at < depth]
        if parents:
            error = next(each for each in TREE if each.__name__ == name)
            assert parents[-1] in {base.__name__ for base in error.__bases__}


@pytest.mark.parametrize("error", TREE, ids=[each.__name__ for each in TREE])
def test_every_error_has_a_code_of_its_own(error: type[AgenticOSError]) -> None:
    assert re.fullmatch(r"[A-Z][A-Z0-9_]*", error.default_code)
    assert [each for each in TREE if each.default_code == error.default_code] == [error]
    assert error.exit_code in EXIT_CODES
    assert error.__doc__


def test_an_error_can_narrow_its_code_and_say_what_to_do() -> None:
    plain = StoreLockedError("busy")
    narrow = StoreError("no room", code="STORE_FULL", hint="Free some.")

    assert (plain.code, plain.hint, plain.exit_code) == ("STORE_LOCKED", "", 1)
    assert (narrow.code, narrow.hint) == ("STORE_FULL", "Free some.")
    assert (str(narrow), narrow.message) == ("no room", "no room")
    assert isinstance(plain, StoreError)
