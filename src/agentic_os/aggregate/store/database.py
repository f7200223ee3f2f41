"""The derived store: the only SQLite of the fleet (design section 4).

Rules:

- everything in it is derived; it is rebuilt when its DDL, the release or the allow-list of
  secrets differs, or its bytes are unusable;
- one writer at a time, held by an advisory lock beside the database, never by SQLite's own;
- a writer makes all of its changes in one transaction: a reader sees the old state or the new
  one, and a killed or failed writer leaves the old one;
- a reader never writes, and takes no lock.
"""

import hashlib
import importlib.resources
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agentic_os import __version__
from agentic_os.aggregate.graph.layout.store import LAYOUT_DDL
from agentic_os.aggregate.graph.tables import GRAPH_DDL
from agentic_os.aggregate.store.space import Space, create_space
from agentic_os.errors import FilesError, StoreError, StoreLockedError, StoreTooOldError
from agentic_os.files.publishing import ExclusiveLock

SQLITE_MINIMUM = (3, 37, 0)
"""Trigram tokenizer (3.34) and STRICT-era FTS5 fixes; 3.40 is still common (design section 4)."""
WRITER_WAIT_SECONDS = 30.0
BUSY_MILLISECONDS = 2_000
CACHE_KIB = 65_536
PAGE_BYTES = 8_192
"""Twice the default: a first aggregate writes its log in half as many pieces."""
STORE_FULL = "STORE_FULL"
STORE_UNWRITABLE = "STORE_UNWRITABLE"


@lru_cache(maxsize=1)
def schema() -> str:
    """Return the whole DDL of the store."""
    folder = importlib.resources.files("agentic_os.aggregate.store")
    return folder.joinpath("schema.sql").read_text("utf-8") + GRAPH_DDL + LAYOUT_DDL


@lru_cache(maxsize=8)
def schema_hash(rules: str = "") -> str:
    """Hash of what a store was made by: a store with another one is not read, it is rebuilt.

    Args:
        rules: what the person's settings say about texts; the DDL and the release, whose
            parsers and detectors of secrets may be better ones, count anyway.
    """
    made_by = f"{schema()}\0{__version__}\0{rules}"
    return hashlib.sha256(made_by.encode("utf-8")).hexdigest()


def check_sqlite(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> None:
    """Refuse to start on an SQLite that lacks what the store needs.

    Raises:
        StoreTooOldError: with the version found and the one needed.
    """
    if version < SQLITE_MINIMUM:
        found, needed = (".".join(map(str, item)) for item in (version, SQLITE_MINIMUM))
        raise StoreTooOldError(
            f"SQLite {found} is too old: {needed} or newer is needed",
            hint="Use a Python that is built with a newer SQLite.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """An open store: a connection and the space it belongs to."""

    connection: sqlite3.Connection
    space: Space

    @property
    def generation(self) -> int:
        """Counts the changes of content since the store was built."""
        row = self.connection.execute("SELECT value FROM meta WHERE key='generation'").fetchone()
        return int(row[0]) if row else 0

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def open_store(space: Space) -> Store | None:
    """Open a store for reading; ``None`` when there is none that can be used.

    Raises:
        StoreTooOldError: this machine's SQLite is too old.
    """
    check_sqlite()
    if not space.database.is_file():
        return None
    try:
        connection = _connect(space.database)
    except sqlite3.DatabaseError:
        return None
    try:
        connection.execute("PRAGMA query_only=1")
        if _current(connection, space):
            return Store(connection=connection, space=space)
    except sqlite3.DatabaseError:
        pass
    connection.close()
    return None


@contextmanager
def writing(space: Space, *, wait_seconds: float = WRITER_WAIT_SECONDS) -> Iterator[Store]:
    """Hold the writer lock and a store that can be written, rebuilt first if it must be.

    Raises:
        StoreLockedError: another process held the lock for ``wait_seconds``.
        StoreError: the store cannot be opened (``STORE_UNUSABLE``), has no room
            (``STORE_FULL``), or its folder cannot be written (``STORE_UNWRITABLE``).
    """
    check_sqlite()
    with _held(space, space.lock, wait_seconds, "another process is writing the store"):
        store = _writable(space)
        try:
            yield store
        except sqlite3.Error as fault:
            raise store_error(fault) from fault
        finally:
            with suppress(sqlite3.Error):
                store.connection.rollback()
            store.close()


@contextmanager
def building(space: Space, *, wait_seconds: float = WRITER_WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock of who builds the semantic index; the store can be written meanwhile.

    Raises:
        StoreLockedError: another process held the lock for ``wait_seconds``.
        StoreError: the folder of the space cannot be written (``STORE_UNWRITABLE``).
    """
    with _held(space, space.index_lock, wait_seconds, "another process builds the index"):
        yield


@contextmanager
def _held(space: Space, path: Path, wait_seconds: float, busy: str) -> Iterator[None]:
    lock = ExclusiveLock(path)
    try:
        create_space(space)
        lock.acquire(wait_seconds)
    except FilesError as fault:
        if fault.code == "LOCK_BUSY":
            raise StoreLockedError(busy, hint="Wait for it to end, or try again.") from fault
        raise StoreError(
            f"the cache folder cannot be written: {fault.message}",
            code=STORE_UNWRITABLE,
            hint=fault.hint or "`agentic-os paths` shows it; AGENTIC_OS_CACHE_DIR moves it.",
        ) from fault
    try:
        yield
    finally:
        lock.release()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One all-or-nothing change."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def store_error(fault: sqlite3.Error) -> StoreError:
    """Return the error for a fault of SQLite, without its words: they carry paths."""
    if isinstance(fault, sqlite3.OperationalError) and "locked" in str(fault):
        return StoreLockedError("the store is busy", hint="Try again in a moment.")
    if isinstance(fault, sqlite3.OperationalError) and any(
        word in str(fault) for word in ("full", "disk I/O", "readonly", "unable to open")
    ):
        return StoreError(
            "there is no room for the store, or its folder cannot be written",
            code=STORE_FULL,
            hint="Free some space in the cache folder; what was stored before is still there.",
        )
    return StoreError(
        "the store cannot be used",
        hint="Run `agentic-os purge`, then `agentic-os aggregate`: it is made anew.",
    )


def discard(space: Space) -> None:
    """Delete the database of a space; the caller holds the writer lock."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        space.database.with_name(space.database.name + suffix).unlink(missing_ok=True)


def _writable(space: Space) -> Store:
    connection: sqlite3.Connection | None = None
    try:
        connection = _connect(space.database)
        if _current(connection, space):
            return Store(connection=connection, space=space)
    except sqlite3.OperationalError as fault:
        # A full disk or a held lock says nothing about the bytes: the old store stays.
        _close(connection)
        raise store_error(fault) from fault
    except sqlite3.DatabaseError:
        pass
    _close(connection)
    return Store(connection=_rebuilt(space), space=space)


def _rebuilt(space: Space) -> sqlite3.Connection:
    connection: sqlite3.Connection | None = None
    try:
        discard(space)
        connection = _connect(space.database)
        space.database.chmod(0o600)
        connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
        connection.execute("PRAGMA journal_mode=WAL")
        with transaction(connection):
            for statement in _statements(schema()):
                connection.execute(statement)
            connection.executemany(
                "INSERT INTO meta VALUES(?, ?)",
                [("schema", schema_hash(space.rules)), ("generation", "0")],
            )
    except sqlite3.Error as fault:
        _close(connection)
        raise store_error(fault) from fault
    except OSError:
        _close(connection)
        raise store_error(sqlite3.OperationalError("unable to open")) from None
    return connection


def _close(connection: sqlite3.Connection | None) -> None:
    if connection is not None:
        connection.close()


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
        connection.execute("PRAGMA temp_store=MEMORY")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _current(connection: sqlite3.Connection, space: Space) -> bool:
    try:
        row = connection.execute("SELECT value FROM meta WHERE key='schema'").fetchone()
    except sqlite3.OperationalError as fault:
        if "no such" in str(fault):  # a table or a column
            return False
        raise
    return bool(row) and row[0] == schema_hash(space.rules)
