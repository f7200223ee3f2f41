"""Which database a projection URL names."""

from pathlib import Path

from agentic_os.errors import LedgerError
from agentic_os.ledger.projection.database import PROJECTION_NAME, Database, SqliteDatabase


def open_database(url: str, *, folder: Path, name: str) -> Database:
    """Open what a projection URL names.

    Args:
        url: empty for ``projection.db`` in ``folder``, ``sqlite:///PATH``, or ``postgresql://…``.
        folder: the identity's.
        name: the schema's name in PostgreSQL.

    Raises:
        LedgerError: ``PROJECTION_URL`` for anything else; ``PROJECTION_UNUSABLE``.
    """
    if not url:
        return SqliteDatabase(folder / PROJECTION_NAME)
    if url.startswith("sqlite:///"):
        return SqliteDatabase(Path(url.removeprefix("sqlite:///")))
    if url.startswith(("postgresql://", "postgres://")):
        from agentic_os.ledger.projection.postgres import PostgresDatabase

        return PostgresDatabase(url, schema=name)
    raise LedgerError(
        "a projection URL begins with sqlite:/// or postgresql://", code="PROJECTION_URL"
    )
