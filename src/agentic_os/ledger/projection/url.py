"""Which database a projection URL names: a replica of an identity's tables, for readers."""

from pathlib import Path

from agentic_os.errors import LedgerError
from agentic_os.ledger.projection.database import Database, SqliteDatabase


def open_database(url: str, *, name: str) -> Database:
    """Open what a projection URL names.

    Args:
        url: ``sqlite:///PATH``, or ``postgresql://…``.
        name: the schema's name in PostgreSQL, one for each identity.

    Raises:
        LedgerError: ``PROJECTION_URL`` for anything else; ``PROJECTION_UNUSABLE``.
    """
    if url.startswith("sqlite:///"):
        return SqliteDatabase(Path(url.removeprefix("sqlite:///")))
    if url.startswith(("postgresql://", "postgres://")):
        from agentic_os.ledger.projection.postgres import PostgresDatabase

        return PostgresDatabase(url, schema=name)
    raise LedgerError(
        "a projection URL begins with sqlite:/// or postgresql://", code="PROJECTION_URL"
    )
