"""What a witness remembers, for its operator to look at; the service may be running."""

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agentic_os.witness.codes import ERRORS
from agentic_os.witness.service.keyring import DATABASE_FILE

SHOWN_ENTRIES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedIdentity:
    """The newest bookmark of one identity."""

    identity_id: str
    ordinal: int
    ledger_hash: str
    witnessed_at: str
    proved: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedOrigin:
    """The newest head of one log; a closed one is never cosigned again."""

    origin: str
    size: int
    root: str
    cosigned_at: str
    closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedConflict:
    """Evidence of a claim that contradicts what was witnessed before."""

    subject: str
    code: str
    digest: str
    seen_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessJournal:
    """Answer of ``witness log``; the newest of each kind, bounded."""

    identities: tuple[RememberedIdentity, ...]
    origins: tuple[RememberedOrigin, ...]
    evidence: tuple[RememberedConflict, ...]


def read_journal(folder: Path) -> WitnessJournal:
    """Read the memory of the witness in ``folder``; nothing is changed.

    Raises:
        WitnessError: ``WITNESS_MISSING``, ``DATABASE_INVALID``.
    """
    path = folder / DATABASE_FILE
    if not path.is_file():
        raise ERRORS.error("WITNESS_MISSING", "no witness in that folder")
    try:
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("PRAGMA query_only=1")
            connection.execute("BEGIN")
            return _read(connection)
        finally:
            connection.close()
    except sqlite3.Error:
        raise ERRORS.error("DATABASE_INVALID", "the memory of the witness cannot be read") from None


def _read(connection: sqlite3.Connection) -> WitnessJournal:
    return WitnessJournal(
        identities=tuple(
            RememberedIdentity(
                identity_id=row[0],
                ordinal=row[1],
                ledger_hash=row[2],
                witnessed_at=_time(row[3]),
                proved=bool(row[4]),
            )
            for row in connection.execute(
                "SELECT identity_id, ordinal, ledger_hash, witnessed_at, proved FROM identity"
                " ORDER BY witnessed_at DESC, identity_id LIMIT ?",
                (SHOWN_ENTRIES,),
            )
        ),
        origins=tuple(
            RememberedOrigin(
                origin=row[0],
                size=row[1],
                root=row[2].hex(),
                cosigned_at=_time(row[3]),
                closed=row[4] is not None,
            )
            for row in connection.execute(
                "SELECT origin, size, root, cosigned_at, closed_at FROM origin"
                " WHERE size IS NOT NULL"
                " ORDER BY cosigned_at DESC, origin LIMIT ?",
                (SHOWN_ENTRIES,),
            )
        ),
        evidence=tuple(
            RememberedConflict(subject=row[0], code=row[1], digest=row[2], seen_at=_time(row[3]))
            for row in connection.execute(
                "SELECT subject, code, digest, seen_at FROM evidence"
                " ORDER BY seen_at DESC, digest LIMIT ?",
                (SHOWN_ENTRIES,),
            )
        ),
    )


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
