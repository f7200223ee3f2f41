"""The answers of a follow, and the largest page of a source that fits a budget.

Pure over bytes already read. The whole compact JSON answer fits the budget; a page ends
on a UTF-8 boundary and always advances.
"""

from dataclasses import dataclass
from typing import Final, Literal

from agentic_os.aios.folder.json_text import JsonObject, compact
from agentic_os.aios.folder.withheld import SecretGuard
from agentic_os.aios.follow.references import Reference, encode
from agentic_os.text.budget import utf16_length

RefusalReason = Literal[
    "invalid_reference",
    "scope_mismatch",
    "source_changed",
    "source_unavailable",
    "project_unavailable",
    "source_too_large",
    "unsupported_text",
    "unsafe_source",
    "insufficient_budget",
]

KIND: Final = "dotaios.source-evidence/v1"
MIN_PAGE_CHARS: Final = 3530
MAX_PAGE_CHARS: Final = 32_000
DEFAULT_PAGE_CHARS: Final = 6000

_RECOVERY: Final = "Search again within the current memory scope and follow the new reference."
_UNIT_BYTES: Final = 3  # one UTF-16 unit never stands for more bytes of UTF-8


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOff:
    """Memory is off: nothing was touched."""

    receipt: str
    notice: str

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        return {
            "kind": KIND,
            "status": "off",
            "receipt": self.receipt,
            "notice": self.notice,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRefusal:
    """A refusal: its closed reason; for a budget, the one that would do and the largest."""

    receipt: str
    reason: RefusalReason
    minimum: int | None = None

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        value: JsonObject = {
            "kind": KIND,
            "receipt": self.receipt,
            "status": "refused",
            "reason": self.reason,
            "recovery": _RECOVERY,
        }
        if self.minimum is not None:
            value["minimum"] = self.minimum
            value["maximum"] = MAX_PAGE_CHARS
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePage:
    """One page of a source: literal text of a half-open byte range, and the next page.

    ``used`` is the length of the compact JSON answer in UTF-16 units.
    """

    receipt: str
    source: str
    version: str
    start: int
    end: int
    total: int
    text: str
    following: str | None
    limit: int
    used: int

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        return {
            "kind": KIND,
            "status": "read",
            "receipt": self.receipt,
            "source": self.source,
            "version": self.version,
            "coverage": {
                "kind": "range",
                "from": self.start,
                "to": self.end,
                "total": self.total,
                "unit": "utf8-byte",
            },
            "text": self.text,
            "next": self.following,
            "budget": {"limit": self.limit, "used": self.used},
        }


SourceAnswer = SourceOff | SourceRefusal | SourcePage


class FollowRefusedError(Exception):
    """A refusal on its way out of the checks; never leaves this room."""

    def __init__(self, reason: RefusalReason, minimum: int | None = None) -> None:
        """Keep the closed reason."""
        super().__init__(reason)
        self.reason: RefusalReason = reason
        self.minimum = minimum


def make_page(
    data: bytes, wanted: Reference, receipt: str, limit: int, guard: SecretGuard
) -> SourcePage:
    """Make the page of ``data`` that starts at the reference's offset.

    Raises:
        FollowRefusedError: unsupported_text, invalid_reference, insufficient_budget, or
            unsafe_source for a page that holds a secret.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise FollowRefusedError("unsupported_text") from None
    start, total = wanted.offset, len(data)
    if start > total or (start < total and _is_continuation(data[start])):
        raise FollowRefusedError("invalid_reference")
    page = _make(data, wanted, receipt, limit, total)
    if page is None:
        page = _largest(data, wanted, receipt, limit)
    secret = guard.secret_lines(text)
    if secret:
        first = data.count(b"\n", 0, page.start) + 1
        last = first + data.count(b"\n", page.start, page.end)
        if secret.intersection(range(first, last + 1)):
            raise FollowRefusedError("unsafe_source")
    return page


def _largest(data: bytes, wanted: Reference, receipt: str, limit: int) -> SourcePage:
    """Find the largest page within the limit by halving the range of its end."""
    start = wanted.offset
    low, high = start + 1, min(len(data) - 1, start + limit * _UNIT_BYTES)
    accepted: SourcePage | None = None
    while low <= high:
        middle = (low + high) // 2
        end = _aligned(data, middle, start)
        page = _make(data, wanted, receipt, limit, end) if end > start else None
        if page is not None or end == start:
            accepted = page or accepted
            low = middle + 1
        else:
            high = middle - 1
    if accepted is not None:
        return accepted
    first = start + 1
    while first < len(data) and _is_continuation(data[first]):
        first += 1
    least = _measured(data, wanted, receipt, limit, first)
    raise FollowRefusedError("insufficient_budget", least.used)


def _make(data: bytes, wanted: Reference, receipt: str, limit: int, end: int) -> SourcePage | None:
    """Make the page up to ``end`` if it fits."""
    if end - wanted.offset > limit * _UNIT_BYTES:
        return None
    page = _measured(data, wanted, receipt, limit, end)
    return page if page.used <= limit else None


def _measured(data: bytes, wanted: Reference, receipt: str, limit: int, end: int) -> SourcePage:
    """Make a page whose ``used`` is its own length."""
    used = 0
    while True:
        page = SourcePage(
            receipt=receipt,
            source=wanted.source,
            version=wanted.digest,
            start=wanted.offset,
            end=end,
            total=len(data),
            text=data[wanted.offset : end].decode("utf-8"),
            following=encode(wanted.at(end)) if end < len(data) else None,
            limit=limit,
            used=used,
        )
        length = utf16_length(compact(page.as_json()))
        if length == used:
            return page
        used = length


def _aligned(data: bytes, end: int, start: int) -> int:
    while end > start and end < len(data) and _is_continuation(data[end]):
        end -= 1
    return end


def _is_continuation(byte: int) -> bool:
    return byte & 0xC0 == 0x80  # noqa: PLR2004 - the mark of a UTF-8 continuation byte
