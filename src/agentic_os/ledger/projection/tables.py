"""The projection: a database that says what the ledger says, and knows up to which line.

Invariants:

- The cursor (seq, hash) names the last line whose effect is in the tables; effect, mirror row
  and cursor move in one transaction.
- The tables are those of ``schema.py`` or they are dropped and made anew: there are
  no migrations of a cache.
- ``digest`` is a hash over every row in key order; two projections of the same lines have the
  same digest, whichever database holds them and whether they were replayed or restored.
- Nothing is trusted because it lies here: boot accepts a projection only under a seal of the
  identity (``snapshot.py``) for a line that it has verified.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

import msgspec

from agentic_os.errors import LedgerError
from agentic_os.ledger.line.entry import GENESIS_PREV_HASH
from agentic_os.ledger.projection.database import Database, Row
from agentic_os.ledger.projection.effects import apply_event
from agentic_os.ledger.projection.rows import Event
from agentic_os.ledger.projection.schema import META_TABLE, SCHEMA_SHA256, STATEMENTS, TABLES, Table

LOAD_ROWS: Final = 2_000
_ENCODER: Final = msgspec.json.Encoder()

_SEQ: Final = re.compile(r"[1-9][0-9]{0,17}")


class Cursor(NamedTuple):
    """The last line in the tables: ``(0, zeros)`` before the first."""

    seq: int
    hash: str


EMPTY_CURSOR: Final = Cursor(0, GENESIS_PREV_HASH)


class Projection:
    """The tables in one database. Not for two threads at once."""

    __slots__ = ("_db",)

    def __init__(self, db: Database) -> None:
        """Take the database; tables of another schema are dropped and made anew."""
        self._db = db
        if self._meta("schema") != SCHEMA_SHA256:
            self.reset()

    @property
    def db(self) -> Database:
        """The database, for readers."""
        return self._db

    @property
    def cursor(self) -> Cursor:
        """Up to which line the tables speak; the empty one where they name no line."""
        seq, name = self._meta("seq"), self._meta("hash")
        if seq is None or name is None or not _SEQ.fullmatch(seq):
            return EMPTY_CURSOR
        return Cursor(int(seq), name)

    @property
    def first_hash(self) -> str | None:
        """The hash of line 1 as the tables know it: whose ledger they speak of."""
        if "mirror" not in self._db.tables():
            return None
        rows = self._db.execute("SELECT hash FROM mirror WHERE seq = 1")
        return str(rows[0][0]) if rows else None

    @property
    def seal(self) -> str | None:
        """The identity's statement about these tables, if one was left."""
        return self._meta("seal")

    def reset(self) -> None:
        """Drop everything and start empty."""
        with self.transaction():
            self._db.clear()
            for statement in STATEMENTS:
                self._db.execute(statement)
            self._put_meta("schema", SCHEMA_SHA256)

    def apply(self, events: Iterable[Event]) -> None:
        """Apply durable entries in order and move the cursor, all or nothing.

        Raises:
            LedgerError: ``PROJECTION_BEHIND`` when an event does not follow the cursor;
                what ``apply_event`` raises.
        """
        with self.transaction():
            last = start = self.cursor.seq
            name = ""
            for event in events:
                if event.seq != last + 1:
                    raise LedgerError(
                        f"line {event.seq} does not follow line {last}", code="PROJECTION_BEHIND"
                    )
                apply_event(self._db, event)
                last, name = event.seq, event.hash
            if last != start:
                self._put_meta("seq", str(last))
                self._put_meta("hash", name)
                self._db.execute("DELETE FROM meta WHERE name = 'seal'")

    def put_seal(self, seal: str) -> None:
        """Leave the identity's statement about the tables as they are."""
        with self.transaction():
            self._put_meta("seal", seal)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Open a transaction that is always rolled back."""
        self._db.begin()
        try:
            yield
        finally:
            self._db.rollback()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Open a transaction that is committed unless something was raised."""
        self._db.begin()
        try:
            yield
        except BaseException:
            self._db.rollback()
            raise
        self._db.commit()

    def rows(self) -> Iterator[tuple[Table, Row]]:
        """Every row of every table in key order; inside a transaction."""
        for table, batch in self._batches():
            for row in batch:
                yield table, row

    def _batches(self) -> Iterator[tuple[Table, list[Row]]]:
        for table in TABLES:
            order = ", ".join(
                name + (self._db.byte_order if kind.startswith("TEXT") else "")
                for name, kind in table.columns[: table.key]
            )
            statement = f"SELECT {', '.join(table.names)} FROM {table.name} ORDER BY {order}"  # noqa: S608 - names of our own schema
            for batch in self._db.stream(statement):
                yield table, batch

    def digest(self) -> tuple[str, int]:
        """Hash over every row in key order, and the number of rows."""
        running, count = hashlib.sha256(), 0
        with self.transaction():
            for table, batch in self._batches():
                running.update(_ENCODER.encode_lines([(table.name, row) for row in batch]))
                count += len(batch)
        return f"sha256:{running.hexdigest()}", count

    def follow(self, other: "Projection") -> None:
        """Make these tables equal to those of another projection, where they are not."""
        if self.cursor == other.cursor and self.digest() == other.digest():
            return
        with other.transaction(), self.transaction():
            self.load(other.rows(), other.cursor)

    def load(self, rows: Iterable[tuple[Table, Row]], cursor: Cursor) -> None:
        """Replace everything by rows that were dumped; inside the caller's transaction."""
        for table in TABLES:
            self._db.execute(f"DELETE FROM {table.name}")  # noqa: S608 - names of our own schema
        waiting: dict[str, list[Row]] = {table.name: [] for table in TABLES}
        for table, row in rows:
            batch = waiting[table.name]
            batch.append(row)
            if len(batch) >= LOAD_ROWS:
                self._db.execute_many(table.insert, batch)
                batch.clear()
        for table in TABLES:
            if waiting[table.name]:
                self._db.execute_many(table.insert, waiting[table.name])
        self._put_meta("seq", str(cursor.seq))
        self._put_meta("hash", cursor.hash)
        self._db.execute("DELETE FROM meta WHERE name = 'seal'")

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def _meta(self, name: str) -> str | None:
        if META_TABLE.name not in self._db.tables():
            return None
        rows = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else None

    def _put_meta(self, name: str, value: str) -> None:
        self._db.execute(
            "INSERT INTO meta (name, value) VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, value),
        )


def row_line(table: Table, row: Row) -> bytes:
    """One row as the line that digests and snapshots hold."""
    return _ENCODER.encode_lines([(table.name, row)])
