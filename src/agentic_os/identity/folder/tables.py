"""Where an identity's projection lies: its own tables, and a replica elsewhere for readers.

Only the tables in its own folder are ever read: they decide what is written.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final

from agentic_os.errors import LedgerError
from agentic_os.ledger.projection.database import (
    PROJECTION_NAME,
    Database,
    SqliteDatabase,
    unusable,
)
from agentic_os.ledger.projection.tables import Projection
from agentic_os.ledger.projection.url import open_database

ORIGIN_DIGITS: Final = 16


def open_tables(folder: Path) -> Projection:
    """Open the identity's own tables; unusable bytes are made anew.

    Raises:
        LedgerError: ``PROJECTION_UNUSABLE``.
    """
    path = folder / PROJECTION_NAME
    with suppress(LedgerError):
        return _projection(SqliteDatabase(path))
    for suffix in ("", "-wal", "-shm"):
        try:
            (folder / f"{PROJECTION_NAME}{suffix}").unlink(missing_ok=True)
        except OSError as error:
            raise unusable(error) from None
    return _projection(SqliteDatabase(path))


def open_replica(url: str, origin: str) -> Projection:
    """Open the replica that a URL names, in a schema of this identity alone.

    Raises:
        LedgerError: ``PROJECTION_UNUSABLE``, ``PROJECTION_URL``, ``POSTGRES_MISSING``.
    """
    return _projection(open_database(url, name=f"identity_{origin[-ORIGIN_DIGITS:]}"))


def read_tables(folder: Path) -> Projection:
    """Open the tables read-only as they are; empty ones in memory if there are none."""
    path = folder / PROJECTION_NAME
    if path.is_file():
        # Where it is unusable, or of another schema, which may not be dropped now: none.
        with suppress(LedgerError):
            return _projection(SqliteDatabase(path, read_only=True))
    return _projection(SqliteDatabase(None))


def _projection(database: Database) -> Projection:
    try:
        return Projection(database)
    except LedgerError:
        database.close()
        raise
