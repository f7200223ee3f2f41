"""JSON as host and guest exchange it (runtime and plugins, section 15).

>>> decode(b'{"a": 1.50}')
{'a': 1.5}
>>> decode(b'{"a": 1, "a": 2}')
Traceback (most recent call last):
ValueError: a key stands twice
"""

import json
from typing import Any, Final, NoReturn

from agentic_os.text.unicode_form import SURROGATE

SAFE_INTEGER: Final = 2**53 - 1
_NESTING: Final = 64


def decode(data: bytes) -> Any:
    """Read one JSON text: no key twice, no integer beyond 2^53 - 1, no NUL, no lone surrogate.

    Raises:
        ValueError: it is no such text.
    """
    text = data.decode("utf-8")
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if "\\u" in text or text.count("[") + text.count("{") > _NESTING:
        _check(value, 1)
    return value


def encode(value: object) -> bytes:
    """Write a value without blanks.

    Raises:
        ValueError: it holds what JSON has no spelling for.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice")
    return members


def _integer(text: str) -> int:
    if len(text) > len(str(-SAFE_INTEGER)) or abs(int(text)) > SAFE_INTEGER:
        raise ValueError("an integer is too large")
    return int(text)


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=_integer, parse_constant=_constant
)


def _check(value: object, level: int) -> None:
    if level > _NESTING:
        raise ValueError("nested too deep")
    match value:
        case str():
            if "\0" in value or SURROGATE.search(value):
                raise ValueError("a NUL or a lone surrogate")
        case list():
            for item in value:
                _check(item, level + 1)
        case dict():
            for key, item in value.items():
                _check(key, level)
                _check(item, level + 1)
        case _:
            return
