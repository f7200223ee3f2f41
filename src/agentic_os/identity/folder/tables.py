"""Where an identity's projection lies: for writing at boot, for reading in safe mode."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from agentic_os.errors import LedgerError
from agentic_os.ledger.projection.database import PROJECTION_NAME, Database, SqliteDatabase
from agentic_os.ledger.projection.tables import Projection
from agentic_os.ledger.projection.url import open_database

SCHEMA_NAME_CHARS: Final = 63  # PostgreSQL cuts longer names


def open_tables(folder: Path, url: str) -> Projection:
    """Open the projection that a URL names; unusable bytes of our own file are made anew.

    Raises:
        LedgerError: ``PROJECTION_UNUSABLE``, ``PROJECTION_URL``, ``POSTGRES_MISSING``.
    """
    name = schema_name(folder)
    try:
        return _projection(open_database(url, folder=folder, name=name))
    except LedgerError as error:
        if url or error.code != "PROJECTION_UNUSABLE":
            raise
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            (folder / f"{PROJECTION_NAME}{suffix}").unlink()
    return _projection(open_database(url, folder=folder, name=name))


def read_tables(folder: Path, url: str) -> Projection:
    """Open the tables read-only as they are; empty ones in memory if there are none."""
    path = folder / PROJECTION_NAME
    if not url and path.is_file():
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


def schema_name(folder: Path) -> str:
    """Return the PostgreSQL schema of an identity, made of its folder's name."""
    name = "".join(char if char.isascii() and char.isalnum() else "_" for char in folder.name)
    return f"identity_{name.lower()}"[:SCHEMA_NAME_CHARS]
