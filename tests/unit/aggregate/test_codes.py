"""Every code that can come out of the room stands in its table."""

import inspect
import re
from pathlib import Path

import agentic_os.aggregate
from agentic_os.aggregate.codes import CODES
from agentic_os.aggregate.surfaces.memory import parse_fact
from agentic_os.files import handles, reading, refusals
from agentic_os.text import front_matter

_CODE = re.compile(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"')


def sources() -> str:
    files = [
        path
        for path in Path(agentic_os.aggregate.__path__[0]).rglob("*.py")
        if "graph" not in path.parts and path.name not in {"codes.py", "database.py"}
    ]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_codes_of_diagnostics_are_listed() -> None:
    written = set(_CODE.findall(sources()))

    # Raised, not collected: see the error tree.
    errors = {"SPACE_NOT_DELETED", "LOCK_BUSY", "FACT_UNKNOWN"}
    errors |= {"SEAM_EXISTS", "SEAM_PROGRAM_MISSING", "SEAM_CHANGED", "SEAM_FAILED"}
    assert written - CODES.keys() <= errors
    assert {"FACT_MISSING", "NAME_NOT_UTF8", "VAULT_TOO_DEEP"} <= written


def test_codes_of_the_front_matter_reader_are_listed() -> None:
    codes = {
        value
        for name, value in vars(front_matter).items()
        if name.isupper() and isinstance(value, str) and value.startswith("FRONT_MATTER")
    }

    assert codes
    assert codes <= CODES.keys()


def test_a_code_says_what_it_means() -> None:
    assert all(row.meaning.endswith(".") and row.code == code for code, row in CODES.items())


def test_every_refusal_of_a_read_is_listed() -> None:
    """What ``files`` refuses becomes a diagnostic of this room; an unlisted code would end it."""
    text = "".join(inspect.getsource(module) for module in (handles, reading, refusals))

    refused = set(re.findall(r'(?:code=|errno\.\w+: )"(\w+)"', text))

    assert {"FILE_MISSING", "NAME_INVALID", "OUTSIDE_ROOT"} <= refused
    assert refused - CODES.keys() == set()


def test_a_duplicate_key_is_not_told_to_close_the_block() -> None:
    parsed = parse_fact("---\nname: a\nname: b\n---\ntext\n", path="m/a.md", stem="a")

    (noted,) = parsed.diagnostics
    assert noted.code == "FRONT_MATTER_DUPLICATE_KEY"
    assert noted.hint == "Remove one of them."
