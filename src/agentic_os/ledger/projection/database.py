"""What a projection needs of a database, and SQLite as one.

PostgreSQL is the other (``database_postgres.py``). The interface is narrow: statements use ``?``
for values, a transaction is explicit, and every failure is a ``LedgerError`` of code
``PROJECTION_UNUSABLE``. SQLite runs in WAL mode with foreign keys and a busy time-out set on every
connection.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from agentic_os.errors import LedgerError

Value: TypeAlias = str | int | float | None
Row: TypeAlias = tuple[Any, ...]

PROJECTION_NAME: Final = "projection.db"
WAIT_MILLISECONDS: Final = 5_000
STREAM_ROWS: Final = 2_000


class Database(Protocol):
    """What a projection needs of a database. ``byte_order`` makes a text column sort by bytes."""

    byte_order: str

    def execute(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """Run one statement and return its rows."""
        ...

    def execute_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """Run one statement for many rows."""
        ...

    def stream(self, sql: str) -> Iterator[list[Row]]:
        """Yield the rows of one statement, ``STREAM_ROWS`` at a time; inside a transaction."""
        ...

    def begin(self) -> None:
        """Start a transaction."""
        ...

    def commit(self) -> None:
        """Make it last."""
        ...

    def rollback(self) -> None:
        """Undo it."""
        ...

    def tables(self) -> frozenset[str]:
        """Names of the tables that exist."""
        ...

    def clear(self) -> None:
        """Drop every table; inside a transaction."""
        ...

    def is_untouched(self) -> bool:
        """Whether nobody but this connection has changed the database since it was opened."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


class SqliteDatabase:
    """A projection in one SQLite file, or in memory."""

    byte_order = ""

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        """Open (and make, mode 0600) the file; ``None`` is a database in memory.

        Raises:
            LedgerError: ``PROJECTION_UNUSABLE``.
        """
        try:
            self._connection = _connect_sqlite(path, read_only=read_only)
            self._version = self._data_version()
        except (sqlite3.Error, OSError) as error:
            raise unusable(error) from None

    def execute(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """Run one statement and return its rows."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise unusable(error) from None

    def execute_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """Run one statement for many rows."""
        try:
            self._connection.executemany(sql, rows)
        except sqlite3.Error as error:
            raise unusable(error) from None

    def stream(self, sql: str) -> Iterator[list[Row]]:
        """Yield the rows of one statement, a few at a time."""
        try:
            found = self._connection.execute(sql)
            while batch := found.fetchmany(STREAM_ROWS):
                yield batch
        except sqlite3.Error as error:
            raise unusable(error) from None

    def begin(self) -> None:
        """Start a transaction that writes."""
        self.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Make it last."""
        self.execute("COMMIT")

    def rollback(self) -> None:
        """Undo it; without a transaction nothing happens."""
        if self._connection.in_transaction:
            self.execute("ROLLBACK")

    def tables(self) -> frozenset[str]:
        """Names of the tables that exist."""
        rows = self.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        return frozenset(row[0] for row in rows)

    def clear(self) -> None:
        """Drop every table."""
        for name in sorted(self.tables()):
            self.execute(f'DROP TABLE "{name}"')

    def is_untouched(self) -> bool:
        """Whether nobody but this connection has changed the file since it was opened."""
        try:
            return self._data_version() == self._version
        except sqlite3.Error as error:
            raise unusable(error) from None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _data_version(self) -> int:
        # SQLite counts commits of other connections here, and none of this one's.
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])


def _connect_sqlite(path: Path | None, *, read_only: bool) -> sqlite3.Connection:
    if path is None:
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    else:
        if not read_only:
            path.touch(mode=0o600)
        mode = "ro" if read_only else "rw"
        connection = sqlite3.connect(
            f"file:{_quoted(path)}?mode={mode}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
    try:
        connection.execute(f"PRAGMA busy_timeout = {WAIT_MILLISECONDS}")
        connection.execute("PRAGMA foreign_keys = ON")
        if read_only:
            connection.execute("PRAGMA query_only = ON")
        else:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")  # a cache: the ledger is the truth
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(str(path))


def unusable(error: Exception) -> LedgerError:
    """Make the one error of every database; what the system says of a file names its place."""
    why = error.strerror if isinstance(error, OSError) else error
    return LedgerError(
        f"the projection cannot be used: {why}",
        code="PROJECTION_UNUSABLE",
        hint="It is a cache: boot rebuilds it from the ledger.",
    )
