"""The values of canonical JSON, its bounds, and the refusal that every part of it raises."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agentic_os.errors import CryptoError

NESTING_LEVELS = 64
INTEGER_DIGITS_CHARS = 4_000  # Python itself refuses to convert more than 4,300 digits


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?")


def is_number(text: str) -> bool:
    """Whether ``text`` is a number in its only canonical spelling."""
    return _NUMBER.fullmatch(text) is not None and text != "-0"


def invalid(rule: str, position: int | None = None) -> CryptoError:
    """Make the refusal ``CANONICAL_INVALID``; ``position`` counts characters from 0."""
    where = "" if position is None else f" at position {position}"
    return CryptoError(f"not canonical JSON: {rule}{where}", code="CANONICAL_INVALID")


@dataclass(frozen=True, slots=True)
class Number:
    """A number as its canonical decimal text: a fraction, or an integer of any length."""

    text: str

    def __post_init__(self) -> None:
        """Refuse a text outside the number grammar."""
        if not is_number(self.text):
            raise invalid("a number outside the grammar")


JsonValue: TypeAlias = bool | int | Number | str | list["JsonValue"] | dict[str, "JsonValue"] | None
JsonInput: TypeAlias = (
    bool | int | float | Number | str | Sequence["JsonInput"] | Mapping[str, "JsonInput"] | None
)


def is_nested_too_deep(data: bytes, value: object) -> bool:
    """Whether ``value``, read from ``data``, is nested deeper than ``NESTING_LEVELS``.

    A text with few opening brackets cannot be, which spares nearly every text the walk.
    """
    if data.count(b"{") + data.count(b"[") <= NESTING_LEVELS:
        return False
    level: list[object] = [value]
    for _ in range(NESTING_LEVELS):
        inner: list[object] = []
        for node in level:
            if isinstance(node, dict):
                inner.extend(node.values())
            elif isinstance(node, list):
                inner.extend(node)
        level = inner
    return any(isinstance(node, dict | list) for node in level)
