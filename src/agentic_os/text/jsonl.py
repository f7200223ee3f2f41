"""JSON Lines read one bounded line at a time; a bad line is a value, not an error.

Parsing is strict: ``NaN`` and ``Infinity`` are not JSON, and hostile nesting is a fault,
never a crash.
"""

import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NoReturn

MAX_NESTING_LEVELS: Final = 200
"""Levels of arrays and objects that a document may nest; deeper ones are not JSON here."""


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
    return iterate_stream((data,), max_line_bytes=max_line_bytes)


def iterate_stream(chunks: Iterable[bytes], *, max_line_bytes: int) -> Iterator[tuple[int, object]]:
    """Do as ``iterate_jsonl`` over bytes that arrive in parts; no more than a line is held."""
    number, held, dropped = 0, b"", 0
    start = True
    for part in chunks:
        data = held + part if held else part
        at = len(BOM_UTF8) if start and data.startswith(BOM_UTF8) else 0
        start = start and not data
        while (end := data.find(b"\n", at)) >= 0:
            number += 1
            yield from _line(number, data[at:end], dropped, max_line_bytes)
            at, dropped = end + 1, 0
        held = data[at:]
        if len(held) > max_line_bytes:
            dropped, held = dropped + len(held), b""
    if held or dropped:
        yield from _line(number + 1, held, dropped, max_line_bytes)


def _line(
    number: int, line: bytes, dropped: int, max_line_bytes: int
) -> Iterator[tuple[int, object]]:
    size = dropped + len(line)
    if size > max_line_bytes:
        message = f"{size} bytes, more than {max_line_bytes}"
        yield number, JsonlFault(code="LINE_TOO_LONG", message=message)
    elif bare := line.strip(b" \t\r"):
        yield number, _parsed(bare)


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
