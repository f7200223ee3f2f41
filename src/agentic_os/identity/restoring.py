"""Restore and replay: the projection at the head of a ledger that was just verified.

::

    live       the tables as they lie, if the identity sealed exactly them at a verified line
    snapshot   the newest file whose seal and rows hold
    ledger     nothing to start from: empty tables
    then       every later line is applied, read again and linked to the verified head

All three end in equal tables; a test compares their digests. A candidate that does not hold
is no error and no shortcut: the next one is tried, the ledger last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from agentic_os.errors import AgenticOSError, LedgerError, VerificationError
from agentic_os.identity.answers import RestoredFrom
from agentic_os.identity.codes import ERRORS
from agentic_os.ledger.file.journal import Journal
from agentic_os.ledger.file.storage import LineReader
from agentic_os.ledger.line.entry import entry_hash
from agentic_os.ledger.line.frame import line_of, split_line
from agentic_os.ledger.line.vocabulary import entry_type
from agentic_os.ledger.projection.rows import Event
from agentic_os.ledger.projection.snapshot import (
    Seal,
    list_snapshots,
    peek_seal,
    read_seal,
    restore_snapshot,
)
from agentic_os.ledger.projection.tables import EMPTY_CURSOR, Cursor, Projection
from agentic_os.ledger.rule.chain import Chain

REPLAY_LINES: Final = 2_000

_ENTRY_START: Final = len(b'{"entry":')


@dataclass(slots=True)
class Milestones:
    """Hash and end offset of a few wanted lines, noted while a ledger is verified."""

    wanted: frozenset[int]
    passed: dict[int, tuple[str, int]] = field(default_factory=dict)
    _offset: int = 0

    def see(self, first: int, lines: Sequence[bytes], hashes: Sequence[bytes]) -> None:
        """Note a run of verified lines."""
        if first == 1:
            self._offset = 0
            self.passed.clear()
        for seq, (line, own) in enumerate(zip(lines, hashes, strict=True), first):
            self._offset += len(line) + 1
            if seq in self.wanted:
                self.passed[seq] = (own.decode(), self._offset)

    def hash_at(self, seq: int) -> str | None:
        """Return the hash of a wanted line, None if the ledger has no such line."""
        found = self.passed.get(seq)
        return None if found is None else found[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What the tables were taken from, and how many lines were applied after that."""

    source: RestoredFrom
    replayed: int


def candidate_lines(projection: Projection, folder: Path) -> frozenset[int]:
    """Return the lines to watch for while verifying: the first, the cursor's, every seal's."""
    seals = [live_seal(projection), *(peek_seal(path) for path in list_snapshots(folder))]
    sealed = {seal.cursor.seq for seal in seals if seal is not None}
    return frozenset({1, projection.cursor.seq, *sealed})


def restore(
    projection: Projection, folder: Path, journal: Journal, milestones: Milestones
) -> Restored:
    """Bring the projection to the journal's head.

    Raises:
        LedgerError: ``REPLAY_FAILED`` when a line cannot be applied; ``PROJECTION_UNUSABLE``.
        VerificationError: ``LEDGER_CHANGED`` when the file is no longer what was verified.
    """
    source = _start(projection, folder, journal.chain, milestones)
    cursor = projection.cursor
    offset = 0 if cursor == EMPTY_CURSOR else milestones.passed[cursor.seq][1]
    lines = journal.read_from(offset)
    replayed = 0
    batch: list[Event] = []
    for event in _events(lines, cursor, journal.chain):
        batch.append(event)
        if len(batch) == REPLAY_LINES:
            replayed += _apply(projection, batch)
    replayed += _apply(projection, batch)
    if projection.cursor != Cursor(journal.chain.size, journal.chain.head_hash):
        raise _changed()
    return Restored(source=source, replayed=replayed)


def _start(
    projection: Projection, folder: Path, chain: Chain, milestones: Milestones
) -> RestoredFrom:
    live = live_seal(projection)
    if live is not None and _holds(live, chain, milestones) and live.cursor == projection.cursor:
        digest, rows = projection.digest()
        if (digest, rows) == (live.digest, live.rows):
            return "live"
    for path in list_snapshots(folder):
        seal = peek_seal(path)
        if seal is not None and _holds(seal, chain, milestones):
            projection.reset()
            if restore_snapshot(projection, path, seal):
                return "snapshot"
    projection.reset()
    return "ledger"


def live_seal(projection: Projection) -> Seal | None:
    """Return the seal that the tables carry; nothing of it is verified yet."""
    kept = projection.seal
    return None if kept is None else read_seal(kept.encode())


def seal_is_ours(seal: Seal, chain: Chain) -> bool:
    """Whether this ledger's identity signed a seal, for this very origin."""
    keys = [one.key for one in chain.tenures if one.role == "identity"]
    return seal.origin == chain.origin and seal.is_by(*keys)


def _holds(seal: Seal, chain: Chain, milestones: Milestones) -> bool:
    return milestones.hash_at(seal.cursor.seq) == seal.cursor.hash and seal_is_ours(seal, chain)


def _events(lines: LineReader, cursor: Cursor, chain: Chain) -> Iterator[Event]:
    """Read lines again, linked one to the next and the last one to the verified head."""
    seq, previous = cursor
    for raw in lines:
        seq += 1
        frame = split_line(raw)
        line = line_of(frame, raw)
        own = entry_hash(frame.head[_ENTRY_START:], previous)
        if (line.seq, line.prev_hash, line.hash) != (seq, previous, own) or seq > chain.size:
            raise _changed()
        kind = entry_type(line.type)
        yield Event(
            seq=seq,
            hash=own,
            ts=line.ts,
            role=line.role,
            kind=kind,
            payload=kind.read(line.payload),
            payload_bytes=line.payload,
        )
        previous = own
    if previous != chain.head_hash:
        raise _changed()


def _apply(projection: Projection, batch: list[Event]) -> int:
    count = len(batch)
    try:
        projection.apply(batch)
    except LedgerError as error:
        if error.code == "PROJECTION_UNUSABLE" or isinstance(error, VerificationError):
            raise
        raise ERRORS.error(
            "REPLAY_FAILED", f"a signed entry cannot be applied: {error.message}"
        ) from None
    batch.clear()
    return count


def _changed() -> AgenticOSError:
    return ERRORS.error("LEDGER_CHANGED", "the ledger changed after it was verified")
