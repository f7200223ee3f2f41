"""Following a source behind an excerpt: checked again, read whole, answered by pages.

Order (DotAIOS convention, follow): memory choice; reference; scope; budget; root
identity; ``aios.json``; the project's identity; the file's generation, compared before
its body is read; the read; digest, generation, root and project once more. Any doubt is
a refusal with a closed reason and no text. Whole compact JSON answers fit the budget.
"""

from dataclasses import dataclass
from typing import Final, Literal

from agentic_os.aios.access import AiosAccess
from agentic_os.aios.configuration import require_folder
from agentic_os.aios.faults import (
    CATALOG_INVALID,
    FOLDER_MISSING,
    INVALID_UTF8,
    SELECTOR_AMBIGUOUS,
    SELECTOR_INVALID,
    SELECTOR_UNKNOWN,
    SOURCE_CHANGED,
    SOURCE_TOO_LARGE,
)
from agentic_os.aios.identity import resolve_identity
from agentic_os.aios.json_text import JsonObject, compact
from agentic_os.aios.ledger import Charges, Ledger
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.reader import FolderReader
from agentic_os.aios.references import (
    Reference,
    byte_limit,
    decode,
    digest_of,
    encode,
    file_hash,
    root_hash,
)
from agentic_os.aios.search_context import SEARCH_LIMIT
from agentic_os.aios.withheld import SecretGuard
from agentic_os.errors import AiosError
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
MIN_BUDGET_CHARS: Final = 3530
MAX_BUDGET_CHARS: Final = 32_000
DEFAULT_BUDGET_CHARS: Final = 6000

_RECOVERY: Final = "Search again within the current memory scope and follow the new reference."
_UNIT_BYTES: Final = 3  # one UTF-16 unit never stands for more bytes of UTF-8
_REASONS: Final[dict[str, RefusalReason]] = {
    SOURCE_TOO_LARGE: "source_too_large",
    INVALID_UTF8: "unsupported_text",
    SOURCE_CHANGED: "source_changed",
    FOLDER_MISSING: "source_unavailable",
    SELECTOR_INVALID: "project_unavailable",
    SELECTOR_UNKNOWN: "project_unavailable",
    SELECTOR_AMBIGUOUS: "project_unavailable",
    CATALOG_INVALID: "project_unavailable",
}


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
            value["maximum"] = MAX_BUDGET_CHARS
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


class _RefusedError(Exception):
    """A refusal on its way out of the checks."""

    def __init__(self, reason: RefusalReason, minimum: int | None = None) -> None:
        super().__init__(reason)
        self.reason: RefusalReason = reason
        self.minimum = minimum


def follow_source(
    access: AiosAccess,
    policy: MemoryPolicy,
    *,
    reference: str,
    budget: int = DEFAULT_BUDGET_CHARS,
) -> SourceAnswer:
    """Read the page that ``reference`` points to; a refusal is an answer, not an error.

    Args:
        access: the folder and what is handed in with it.
        policy: the memory choice of this request.
        reference: a ``ds1.`` reference as it was offered.
        budget: UTF-16 units of the whole answer.
    """
    if policy.mode == "off":
        return SourceOff(receipt=policy.receipt, notice=policy.notice or "")
    try:
        wanted = _accepted(policy, reference, budget)
        data = _checked_read(access, policy, wanted)
        return _page(data, wanted, policy.receipt, budget, access.guard)
    except _RefusedError as refusal:
        return SourceRefusal(receipt=policy.receipt, reason=refusal.reason, minimum=refusal.minimum)
    except AiosError as error:
        reason = _REASONS.get(error.code, "unsafe_source")
        return SourceRefusal(receipt=policy.receipt, reason=reason)


def _accepted(policy: MemoryPolicy, reference: str, budget: int) -> Reference:
    try:
        wanted = decode(reference)
    except ValueError:
        raise _RefusedError("invalid_reference") from None
    if wanted.scope != policy.mode:
        raise _RefusedError("scope_mismatch")
    if not MIN_BUDGET_CHARS <= budget <= MAX_BUDGET_CHARS:
        raise _RefusedError("insufficient_budget", MIN_BUDGET_CHARS)
    return wanted


def _checked_read(access: AiosAccess, policy: MemoryPolicy, wanted: Reference) -> bytes:
    charges = Charges(Ledger(SEARCH_LIMIT))
    with FolderReader(access.root, files=access.files) as reader:
        if root_hash(reader.root_stamp) != wanted.root:
            raise _RefusedError("source_changed")
        require_folder(reader, hold=True)
        if policy.mode == "project":
            _admit_project(reader, charges, policy, wanted)
        found = reader.inspect(wanted.source, hold=True)
        if found is None:
            raise _RefusedError("source_unavailable")
        if not found.is_file:
            raise _RefusedError("unsafe_source")
        if file_hash(found) != wanted.file:
            raise _RefusedError("source_changed")
        read = reader.read(
            wanted.source, limit_bytes=byte_limit(wanted.source), charges=charges, expected=found
        )
        if read is None or digest_of(read.data) != wanted.digest:
            raise _RefusedError("source_changed")
        # The held observations are those of the project's identity, too.
        reader.recheck()
        return read.data


def _admit_project(
    reader: FolderReader, charges: Charges, policy: MemoryPolicy, wanted: Reference
) -> None:
    identity = resolve_identity(reader, charges, policy.selector)
    if identity.id != wanted.project or not wanted.source.startswith(identity.prefix):
        raise _RefusedError("scope_mismatch")


def _page(
    data: bytes, wanted: Reference, receipt: str, limit: int, guard: SecretGuard
) -> SourcePage:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise _RefusedError("unsupported_text") from None
    start, total = wanted.offset, len(data)
    if start > total or (start < total and _is_continuation(data[start])):
        raise _RefusedError("invalid_reference")
    page = _make(data, wanted, receipt, limit, total)
    if page is None:
        page = _largest(data, wanted, receipt, limit)
    secret = guard.secret_lines(text)
    if secret:
        first = data.count(b"\n", 0, page.start) + 1
        last = first + data.count(b"\n", page.start, page.end)
        if secret.intersection(range(first, last + 1)):
            raise _RefusedError("unsafe_source")
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
    raise _RefusedError("insufficient_budget", least.used)


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
