"""The audit store: what the ledger forbids, apart from it and with an end (design decision 11).

Transcripts, lifecycle, telemetry and queues are no identity truth. They lie in a database of
their own, bounded by age and by number, and nothing that boots or verifies ever reads them.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.values import JsonInput
from agentic_os.errors import IdentityError
from agentic_os.ledger.layout import AUDIT_NAME

AUDIT_DAYS: Final = 90
AUDIT_ENTRIES: Final = 100_000
"""Kept a category."""
BODY_BYTES: Final = 256 * 1024
LISTED_ENTRIES: Final = 1_000
SWEEP_EVERY_ENTRIES: Final = 1_000

_CATEGORY: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
_KIND: Final = re.compile(r"[a-z][a-z0-9_.]{0,63}")
_DDL: Final = """
CREATE TABLE IF NOT EXISTS records (
  id INTEGER PRIMARY KEY, at TEXT NOT NULL, category TEXT NOT NULL, kind TEXT NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS records_by_category ON records (category, id);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One record; ``body`` is canonical JSON, ``at`` RFC 3339 in UTC."""

    id: int
    at: str
    category: str
    kind: str
    body: str


class AuditStore:
    """Records by category. Close it, or use it with ``with``."""

    __slots__ = ("_connection", "_days", "_entries", "_since_sweep")

    def __init__(
        self, folder: Path, *, days: int = AUDIT_DAYS, entries: int = AUDIT_ENTRIES
    ) -> None:
        """Open the store of an identity's folder, mode 0600.

        Args:
            folder: the identity's.
            days: how long a record is kept.
            entries: how many are kept of a category.

        Raises:
            IdentityError: ``AUDIT_UNUSABLE``.
        """
        self._days = days
        self._entries = entries
        self._since_sweep = 0
        path = folder / AUDIT_NAME
        try:
            path.touch(mode=0o600)
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        except (sqlite3.Error, OSError) as error:
            raise _unusable(error) from None
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA busy_timeout = 5000")
            self._connection.executescript(_DDL)
        except sqlite3.Error as error:
            self._connection.close()
            raise _unusable(error) from None

    def record(self, category: str, kind: str, body: JsonInput) -> int:
        """Keep one record and return its id.

        Args:
            category: ``plugin``, ``provider``, ``transcript``, …: lowercase words.
            kind: what happened, lowercase words joined by dots.
            body: at most ``BODY_BYTES`` of canonical JSON.

        Raises:
            IdentityError: ``AUDIT_INVALID``, ``AUDIT_UNUSABLE``.
            CryptoError: ``CANONICAL_INVALID``.
        """
        text = encode(body)
        if not _CATEGORY.fullmatch(category) or not _KIND.fullmatch(kind):
            raise IdentityError("not the name of an audit record", code="AUDIT_INVALID")
        if len(text) > BODY_BYTES:
            raise IdentityError(
                f"an audit record holds at most {BODY_BYTES} bytes", code="AUDIT_INVALID"
            )
        with self._guard():
            cursor = self._connection.execute(
                "INSERT INTO records (at, category, kind, body) VALUES (?, ?, ?, ?)",
                (_stamp(datetime.now(UTC)), category, kind, text.decode()),
            )
        self._since_sweep += 1
        if self._since_sweep >= SWEEP_EVERY_ENTRIES:
            self.sweep()
        return int(cursor.lastrowid or 0)

    def recent(self, category: str, *, limit: int = 100) -> tuple[AuditRecord, ...]:
        """The newest records of a category, newest first, at most ``LISTED_ENTRIES``."""
        with self._guard():
            rows = self._connection.execute(
                "SELECT id, at, category, kind, body FROM records WHERE category = ? "
                "ORDER BY id DESC LIMIT ?",
                (category, max(0, min(limit, LISTED_ENTRIES))),
            ).fetchall()
        return tuple(
            AuditRecord(id=row[0], at=row[1], category=row[2], kind=row[3], body=row[4])
            for row in rows
        )

    def sweep(self, now: datetime | None = None) -> int:
        """Delete what is too old or too many; how many records went."""
        self._since_sweep = 0
        oldest = _stamp((now or datetime.now(UTC)) - timedelta(days=self._days))
        with self._guard():
            gone = self._connection.execute("DELETE FROM records WHERE at < ?", (oldest,)).rowcount
            categories = self._connection.execute(
                "SELECT category FROM records GROUP BY category HAVING COUNT(*) > ?",
                (self._entries,),
            ).fetchall()
            for (category,) in categories:
                gone += self._connection.execute(
                    "DELETE FROM records WHERE category = ? AND id NOT IN "
                    "(SELECT id FROM records WHERE category = ? ORDER BY id DESC LIMIT ?)",
                    (category, category, self._entries),
                ).rowcount
        return gone

    def close(self) -> None:
        """Close the store."""
        self._connection.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _unusable(error) from None


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _unusable(error: Exception) -> IdentityError:
    return IdentityError(
        f"the audit store cannot be used: {error}",
        code="AUDIT_UNUSABLE",
        hint="It holds no identity truth: move audit.db away, and a new one is made.",
    )
