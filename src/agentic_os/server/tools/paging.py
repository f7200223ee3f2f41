"""Long answers in pages: a budget in characters, a cursor that goes on where the page ended."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from agentic_os.errors import AgenticOSError
from agentic_os.server.codes import ERRORS

T = TypeVar("T")
MAX_OFFSET = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """The items that fit; ``cursor`` is empty when they are all."""

    items: tuple[T, ...]
    cursor: str
    truncated: bool


def page(items: Sequence[T], *, budget: int, offset: int = 0, question: str = "") -> Page[T]:
    """Take the items from ``offset`` on whose JSON fits into ``budget`` characters.

    At least one item is taken, however long: otherwise a page could never end.
    """
    taken: list[T] = []
    used = 0
    for item in items[offset:]:
        size = len(msgspec.json.encode(item).decode("utf-8", "replace"))
        if taken and used + size > budget:
            break
        taken.append(item)
        used += size
    after = offset + len(taken)
    rest = after < len(items)
    return Page(
        items=tuple(taken), cursor=write_cursor(after, question) if rest else "", truncated=rest
    )


def write_cursor(offset: int, question: str) -> str:
    """Write a cursor for one question; it is refused for another."""
    text = json.dumps([offset, _mark(question)]).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def read_cursor(cursor: str, question: str) -> int:
    """Read the offset that a cursor means; 0 for none.

    Raises:
        UsageError: ``CURSOR_INVALID``.
    """
    if not cursor:
        return 0
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        offset, mark = msgspec.json.decode(text, type=tuple[int, int])
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise _invalid() from None
    if mark != _mark(question) or not 0 <= offset <= MAX_OFFSET:
        raise _invalid()
    return offset


def _mark(question: str) -> int:
    return binascii.crc32(question.encode("utf-8", "replace"))


def _invalid() -> AgenticOSError:
    return ERRORS.error("CURSOR_INVALID")
