"""Allowances: how much one request may read, and how scopes share it fairly.

Pure accounting; nothing here touches the disk. Rules (DotAIOS convention, search limits):

- An allowance has three dimensions: bytes, files, entries (folder entries and JSONL lines).
  What was charged is never released.
- In a phase with ``n`` scopes each scope has a protected share of
  ``floor(floor(remaining / 2) / n)`` per dimension and may use the shared pool, which is
  the rest. What a scope leaves of its share joins the pool for those after it, in
  declared order.
- An allocation reserves each scope's demand up to its protected share, admits scopes in
  order while the pool covers what goes beyond it, then offers what the refused scopes
  had reserved to each of them again, in order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agentic_os.aios.folder.faults import EVIDENCE_BYTES, EVIDENCE_ENTRIES, EVIDENCE_FILES, fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """An amount of reading work; no dimension is ever negative."""

    bytes: int = 0
    files: int = 0
    entries: int = 0

    def plus(self, other: "Amount") -> "Amount":
        """Add two amounts."""
        return Amount(
            bytes=self.bytes + other.bytes,
            files=self.files + other.files,
            entries=self.entries + other.entries,
        )

    def minus(self, other: "Amount") -> "Amount":
        """Subtract, stopping at zero in each dimension."""
        return Amount(
            bytes=max(0, self.bytes - other.bytes),
            files=max(0, self.files - other.files),
            entries=max(0, self.entries - other.entries),
        )

    def least(self, other: "Amount") -> "Amount":
        """Take the smaller of each dimension."""
        return Amount(
            bytes=min(self.bytes, other.bytes),
            files=min(self.files, other.files),
            entries=min(self.entries, other.entries),
        )

    def times(self, count: int) -> "Amount":
        """Multiply each dimension."""
        return Amount(
            bytes=self.bytes * count, files=self.files * count, entries=self.entries * count
        )

    def fits(self, room: "Amount") -> bool:
        """Whether every dimension fits into ``room``."""
        return (
            self.bytes <= room.bytes and self.files <= room.files and self.entries <= room.entries
        )


NOTHING: Final = Amount()


def exceeded(wanted: Amount, room: Amount, codes: Mapping[str, str]) -> str | None:
    """Return the code of the first dimension (files, bytes, entries) that does not fit."""
    if wanted.files > room.files:
        return codes["files"]
    if wanted.bytes > room.bytes:
        return codes["bytes"]
    if wanted.entries > room.entries:
        return codes["entries"]
    return None


EVIDENCE_CODES: Final[Mapping[str, str]] = {
    "files": EVIDENCE_FILES,
    "bytes": EVIDENCE_BYTES,
    "entries": EVIDENCE_ENTRIES,
}


SEARCH_LIMIT: Final = Amount(bytes=256 * 1024 * 1024, files=50_000, entries=500_000)
"""What one request may read: bytes, files, and folder entries plus JSONL lines."""


FILE_BYTES: Final = 4 * 1024 * 1024
"""A larger file leaves its whole scope of a search out."""
SESSION_INDEX_BYTES: Final = 8 * 1024 * 1024
"""Size of the session index; searches, projections and the store have one limit."""
FOLDER_ENTRIES: Final = 8192
"""A folder with more entries leaves its whole scope of a search out."""


class Allowance:
    """One limit and what was used of it.

    Args:
        limit: what may be charged altogether.
        codes: the fault code of each dimension, by name.
    """

    __slots__ = ("codes", "limit", "used")

    def __init__(self, limit: Amount, *, codes: Mapping[str, str] = EVIDENCE_CODES) -> None:
        """Start with nothing used."""
        self.limit = limit
        self.used = NOTHING
        self.codes = codes

    @property
    def remaining(self) -> Amount:
        """What may still be charged."""
        return self.limit.minus(self.used)

    def charge(self, amount: Amount) -> None:
        """Use ``amount``, or raise the fault of the first dimension that is exceeded."""
        code = exceeded(amount, self.remaining, self.codes)
        if code is not None:
            raise fault(code)
        self.used = self.used.plus(amount)


class Charges:
    """Several allowances that are charged together or not at all."""

    __slots__ = ("allowances",)

    def __init__(self, *allowances: Allowance) -> None:
        """Charge all of ``allowances`` from now on."""
        self.allowances = allowances

    def charge(self, amount: Amount) -> None:
        """Use ``amount`` of every allowance, or raise and use none of any."""
        for allowance in self.allowances:
            code = exceeded(amount, allowance.remaining, allowance.codes)
            if code is not None:
                raise fault(code)
        for allowance in self.allowances:
            allowance.used = allowance.used.plus(amount)

    def charge_entries(self, count: int) -> None:
        """Use ``count`` entries; when they do not fit, use what is left, then raise.

        Entries were looked at one by one before they could be counted, so they stay used.
        """
        left = min(allowance.remaining.entries for allowance in self.allowances)
        if count > left:
            self.charge(Amount(entries=left))
        self.charge(Amount(entries=count))


def protected_share(room: Amount, scopes: int) -> Amount:
    """Return the share of ``room`` that each of ``scopes`` scopes is certain to have."""
    return Amount(
        bytes=room.bytes // 2 // scopes,
        files=room.files // 2 // scopes,
        entries=room.entries // 2 // scopes,
    )


class FairPhase:
    """Hands out the phase allowances of scopes in declared order.

    Args:
        room: what all scopes together may use in this phase.
        scopes: how many scopes will come.
    """

    __slots__ = ("_pool", "_share")

    def __init__(self, room: Amount, scopes: int) -> None:
        """Set the protected shares aside; the rest is the pool."""
        self._share = protected_share(room, scopes) if scopes else NOTHING
        self._pool = room.minus(self._share.times(scopes))

    def open(self) -> Allowance:
        """Give the next scope its share and the pool."""
        return Allowance(self._share.plus(self._pool))

    def settle(self, allowance: Allowance) -> None:
        """Return what the scope left of its share, and of the pool, to the pool."""
        self._pool = self._pool.plus(self._share).minus(allowance.used)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """Which scopes may go on, and what was left when each of the others was refused."""

    admitted: frozenset[str]
    room: Amount


def allocate(demands: Sequence[tuple[str, Amount]], room: Amount, *, scopes: int) -> Allocation:
    """Admit scopes whose remaining demand fits (module docstring, third rule).

    Args:
        demands: the scopes that are still in question, in declared order.
        room: what remains for all of them.
        scopes: how many scopes share the room, those that failed already included.
    """
    if not demands:
        return Allocation(admitted=frozenset(), room=room)
    share = protected_share(room, scopes)
    reserved = {scope: demand.least(share) for scope, demand in demands}
    pool = room
    for amount in reserved.values():
        pool = pool.minus(amount)
    admitted: set[str] = set()
    for scope, demand in demands:
        beyond = demand.minus(reserved[scope])
        if beyond.fits(pool):
            pool = pool.minus(beyond)
            admitted.add(scope)
    for scope, _demand in demands:
        if scope not in admitted:
            pool = pool.plus(reserved[scope])
    for scope, demand in demands:
        if scope not in admitted and demand.fits(pool):
            pool = pool.minus(demand)
            admitted.add(scope)
    return Allocation(admitted=frozenset(admitted), room=pool)
