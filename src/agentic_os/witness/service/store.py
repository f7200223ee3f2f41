"""The witness's database: opened strictly, written by one thread in group commits.

- SQLite in WAL mode with synchronous=FULL, both read back at start: COMMIT returns after the
  log is on disk.
- A piece of work reads the state, decides and writes inside BEGIN IMMEDIATE, so that two
  threads, or two processes on one database, never decide on the same old state.
- While one commit waits for the disk, the work that arrives meanwhile forms the next batch:
  many answers share one sync. No future is resolved before the COMMIT that holds its write.
- A failed write freezes the store until restart: after a full disk or an I/O error nobody
  knows what is on disk, so nothing more is signed.
- A database is made once, with its keys; opening never makes one. One of an older version gets
  what that version lacked, in a transaction; nothing of it is changed.
"""

import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Generic, TypeVar

from agentic_os.errors import AgenticOSError
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.service.rows import StateRows

BATCH_ENTRIES: Final = 256
BUSY_MILLISECONDS: Final = 5000
SQLITE_NEEDED: Final = (3, 37, 0)
SYNCHRONOUS_FULL: Final = 2

_DDL: Final = Path(__file__).with_name("schema.sql")
_ADDED: Final = frozenset({"identity_of_key"})
"""What databases of the first version lack. Anything else that is missing was taken away."""
_BUSY_CODES: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})

ResultT = TypeVar("ResultT")


@dataclass(kw_only=True)
class CommitCounts:
    """What the writer did since start; seconds are of the commits alone."""

    batches: int = 0
    works: int = 0
    largest: int = 0
    seconds: float = 0.0


@dataclass(kw_only=True)
class _Job(Generic[ResultT]):
    work: Callable[[StateRows], ResultT]
    future: "Future[ResultT]" = field(default_factory=Future)
    result: ResultT | None = None
    error: Exception | None = None


class WitnessStore:
    """An open database. Close it; use it from any thread through ``submit``."""

    def __init__(self, path: Path, *, meta: dict[str, str]) -> None:
        """Open a database that ``create_database`` made for the same ``meta``.

        Raises:
            WitnessError: ``DATABASE_MISSING``, ``DATABASE_INVALID``, ``DATABASE_KEYS`` (it
                belongs to other keys), ``SQLITE_TOO_OLD``.
        """
        if not path.is_file() or path.is_symlink():
            raise ERRORS.error(
                "DATABASE_MISSING", f"there is no database {path.name} beside the keys"
            )
        self.counts = CommitCounts()
        self._frozen: str | None = None
        self._is_closed = False
        self._jobs: queue.SimpleQueue[_Job[object] | None] = queue.SimpleQueue()
        self._reader = _connect(path)
        self._writer = _connect(path)
        try:
            _complete(self._writer)
            _check(self._reader, meta)
        except BaseException:
            self._reader.close()
            self._writer.close()
            raise
        self.read = StateRows(self._reader)
        self._thread = threading.Thread(target=self._run, name="witness-writer", daemon=True)
        self._thread.start()

    @property
    def frozen(self) -> str | None:
        """Why nothing more is written, or None."""
        return self._frozen

    def submit(self, work: Callable[[StateRows], ResultT]) -> "Future[ResultT]":
        """Run ``work`` in a transaction; the future resolves after its commit.

        The future fails with what ``work`` raised (its writes are undone), or with
        WitnessError ``STORAGE_FAILED`` (frozen) or ``STORE_BUSY`` (another process holds the
        database; nothing was written).
        """
        if self._is_closed:
            raise ERRORS.error("STORE_CLOSED", "the witness is shutting down")
        job = _Job(work=work)
        self._jobs.put(job)  # type: ignore[arg-type]  # the queue carries jobs of every result type
        return job.future

    def close(self) -> None:
        """Finish the work that was handed in, then close; safe to call twice."""
        if not self._is_closed:
            self._is_closed = True
            self._jobs.put(None)
            self._thread.join()
            self._reader.close()

    def _run(self) -> None:
        is_open = True
        while is_open:
            batch: list[_Job[object]] = []
            job = self._jobs.get()
            while job is not None:
                if job.future.set_running_or_notify_cancel():  # nobody waits for a cancelled one
                    batch.append(job)
                if len(batch) == BATCH_ENTRIES:
                    break
                try:
                    job = self._jobs.get_nowait()
                except queue.Empty:
                    break
            is_open = job is not None
            if batch:
                self._commit(batch)
        self._writer.close()

    def _commit(self, batch: list[_Job[object]]) -> None:
        if self._frozen:
            _resolve_all(batch, _storage_failed())
            return
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            rows = StateRows(self._writer)
            for job in batch:
                self._work(job, rows)
            started = time.perf_counter()
            self._writer.execute("COMMIT")
            self._count(len(batch), time.perf_counter() - started)
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing may be acknowledged
            self._fail(batch, error)
            return
        for job in batch:
            if job.error:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.result)

    def _work(self, job: _Job[object], rows: StateRows) -> None:
        self._writer.execute("SAVEPOINT work")
        try:
            job.result = job.work(rows)
        except sqlite3.IntegrityError as error:
            job.error = error  # a trigger: the write would have gone back
        except sqlite3.Error:
            raise
        except Exception as error:  # noqa: BLE001 - handed to whoever waits for it
            job.error = error
        if job.error:
            self._writer.execute("ROLLBACK TO work")
        self._writer.execute("RELEASE work")

    def _fail(self, batch: list[_Job[object]], error: Exception) -> None:
        if self._writer.in_transaction:
            try:
                self._writer.execute("ROLLBACK")
            except sqlite3.Error as second:
                error = second
        answer = _storage_failed()
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY_CODES:
            answer = ERRORS.error("STORE_BUSY", "another process is writing")
        elif not self._frozen:
            self._frozen = getattr(error, "sqlite_errorname", type(error).__name__)
        _resolve_all(batch, answer)

    def _count(self, works: int, seconds: float) -> None:
        self.counts.batches += 1
        self.counts.works += works
        self.counts.largest = max(self.counts.largest, works)
        self.counts.seconds += seconds


def _resolve_all(batch: list[_Job[object]], error: AgenticOSError) -> None:
    for job in batch:
        job.future.set_exception(error)


def create_database(path: Path, *, meta: dict[str, str]) -> None:
    """Make the empty database of a new witness; ``meta`` says whose it is.

    Raises:
        WitnessError: ``DATABASE_EXISTS``, ``SQLITE_TOO_OLD``.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        raise ERRORS.error("DATABASE_EXISTS", f"there is a database {path.name} already") from None
    connection = _connect(path)
    try:
        connection.executescript("BEGIN;" + _DDL.read_text(encoding="utf-8"))
        connection.executemany("INSERT INTO meta VALUES (?, ?)", sorted(meta.items()))
        connection.execute("COMMIT")
    finally:
        connection.close()


def _connect(path: Path) -> sqlite3.Connection:
    if sqlite3.sqlite_version_info < SQLITE_NEEDED:
        raise ERRORS.error("SQLITE_TOO_OLD", "SQLite 3.37 or newer is needed")
    # One connection is used by one thread at a time; threads only hand them over at start.
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # macOS: fsync alone leaves the drive's cache
        connection.execute("PRAGMA checkpoint_fullfsync = ON")
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        level = connection.execute("PRAGMA synchronous").fetchone()[0]
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _invalid(str(error)) from None
    if mode != "wal" or level != SYNCHRONOUS_FULL:
        connection.close()
        raise _invalid("it cannot be written durably")
    return connection


def _complete(connection: sqlite3.Connection) -> None:
    """Add what this version's schema has and an older one's had not."""
    expected = _expected_objects()
    try:
        lacking = expected - _objects(connection)
        if lacking and {name for name, _ in lacking} <= _ADDED:
            connection.execute("BEGIN IMMEDIATE")
            for _, statement in sorted(lacking):
                connection.execute(statement)
            connection.execute("COMMIT")
    except sqlite3.DatabaseError as error:
        raise _invalid(str(error)) from None


def _check(connection: sqlite3.Connection, meta: dict[str, str]) -> None:
    try:
        state = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        found = dict(connection.execute("SELECT name, value FROM meta").fetchall())
        stored = _objects(connection)
    except sqlite3.DatabaseError as error:
        raise _invalid(str(error)) from None
    if state != "ok":
        raise _invalid("its pages are damaged")
    if stored != _expected_objects():
        raise _invalid("its tables or triggers are not those of this version")
    if found != meta:
        raise ERRORS.error("DATABASE_KEYS", "the database belongs to other keys")


def _expected_objects() -> set[tuple[str, str]]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(_DDL.read_text(encoding="utf-8"))
        return _objects(connection)
    finally:
        connection.close()


def _objects(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    return {(name, sql) for name, sql in rows}


def _storage_failed() -> AgenticOSError:
    return ERRORS.error(
        "STORAGE_FAILED",
        "the storage of the witness failed; it signs nothing until it is restarted",
    )


def _invalid(why: str) -> AgenticOSError:
    return ERRORS.error("DATABASE_INVALID", f"the database of the witness cannot be used: {why}")
