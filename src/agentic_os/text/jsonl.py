"""JSON Lines read one bounded line at a time; a bad line is a value, not an error.

Parsing is strict: ``NaN`` and ``Infinity`` are not JSON, and hostile nesting is a fault,
never a crash.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NoReturn

MAX_NESTING_LEVELS: Final = 200
"""Levels of arrays and objects that a document may nest; deeper ones are not JSON here."""

_BOM: Final = b"\xef\xbb\xbf"

JsonlFaultCode = Literal["LINE_TOO_LONG", "LINE_NOT_UTF8", "LINE_NOT_JSON", "LINE_TOO_DEEP"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonlFault:
    """Why a line gave no value."""

    code: JsonlFaultCode
    message: str


class NestingError(ValueError):
    """A document nests deeper than can be read."""

    def __init__(self) -> None:
        """Say so."""
        super().__init__("nested too deeply")


def iterate_jsonl(data: bytes, *, max_line_bytes: int) -> Iterator[tuple[int, object]]:
    """Yield each line's 1-based number with its JSON value, or with a ``JsonlFault``.

    Lines end at LF (a CR before it is white space); blank lines are passed over and a
    byte order mark at the start is dropped. A line of more than ``max_line_bytes`` bytes, its
    end not counted, is not parsed.
    """
    at = len(_BOM) if data.startswith(_BOM) else 0
    number = 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = end if end >= 0 else len(data)
        number += 1
        if end - at > max_line_bytes:
            message = f"{end - at} bytes, more than {max_line_bytes}"
            yield number, JsonlFault(code="LINE_TOO_LONG", message=message)
        elif line := data[at:end].strip(b" \t\r"):
            yield number, _parsed(line)
        at = end + 1


def parse_json(text: str) -> object:
    """Parse one JSON document.

    Raises:
        NestingError: it nests deeper than ``MAX_NESTING_LEVELS``.
        ValueError: the text is not JSON.
    """
    try:
        parsed: object = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise NestingError from None
    if text.count("[") + text.count("{") > MAX_NESTING_LEVELS and _too_deep(parsed):
        raise NestingError
    return parsed


def _parsed(line: bytes) -> object:
    try:
        text = line.decode()
    except UnicodeDecodeError as fault:
        return JsonlFault(code="LINE_NOT_UTF8", message=f"byte {fault.start} is not UTF-8")
    try:
        value = parse_json(text)
    except NestingError as fault:
        return JsonlFault(code="LINE_TOO_DEEP", message=str(fault))
    except ValueError as fault:  # also numbers of thousands of digits
        reason = fault.msg if isinstance(fault, json.JSONDecodeError) else str(fault)
        return JsonlFault(code="LINE_NOT_JSON", message=reason)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _too_deep(parsed: object) -> bool:
    level: list[object] = [parsed]
    for _ in range(MAX_NESTING_LEVELS):
        below: list[object] = []
        for value in level:
            if isinstance(value, list):
                below.extend(value)
            elif isinstance(value, dict):
                below.extend(value.values())
        if not below:
            return False
        level = below
    return True
