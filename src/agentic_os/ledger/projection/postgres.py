"""A projection in PostgreSQL, in a schema of its own, so that identities can share a database.

It is a replica for readers: written after the identity's own tables, and never read to decide or to
sign anything, since whoever owns the server can change what it answers.

The driver is an extra (``agentic-os[postgres]``) and is imported only here, when a URL asks for
it. Statements come with ``?`` for values, as SQLite's.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from agentic_os.errors import LedgerError
from agentic_os.ledger.projection.database import STREAM_ROWS, Row, Value, unusable

_SCHEMA_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")
_IDLE: Final = 0  # psycopg's TransactionStatus.IDLE


class PostgresDatabase:
    """A projection in one schema of a PostgreSQL database."""

    byte_order = ' COLLATE "C"'

    def __init__(self, url: str, *, schema: str) -> None:
        """Connect; the schema is made where it is missing.

        Args:
            url: ``postgresql://…``.
            schema: lowercase name of the schema, one an identity.

        Raises:
            LedgerError: ``PROJECTION_UNUSABLE``; ``POSTGRES_MISSING`` without the package.
        """
        if not _SCHEMA_NAME.fullmatch(schema):
            raise LedgerError("not a schema name", code="PROJECTION_UNUSABLE")
        try:
            import psycopg
        except ImportError:
            raise LedgerError(
                "the PostgreSQL driver is not installed",
                code="POSTGRES_MISSING",
                hint="Install the extra `postgres`: `agentic-os extras` says how.",
            ) from None
        self._error: type[Exception] = psycopg.Error
        self._schema = schema
        try:
            self._connection = psycopg.connect(url, autocommit=True)
        except psycopg.Error as error:
            raise unusable(error) from None
        self.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
        self.execute(f'SET search_path TO "{schema}"')

    def execute(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """Run one statement and return its rows."""
        try:
            cursor = self._connection.execute(_marks(sql), values)
            return cursor.fetchall() if cursor.description is not None else []
        except self._error as error:
            raise unusable(error) from None

    def execute_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """Run one statement for many rows."""
        try:
            with self._connection.cursor() as cursor:
                cursor.executemany(_marks(sql), rows)
        except self._error as error:
            raise unusable(error) from None

    def stream(self, sql: str) -> Iterator[list[Row]]:
        """Yield the rows of one statement through a cursor of the server's."""
        try:
            with self._connection.cursor(name="rows") as cursor:
                cursor.execute(sql)
                while batch := cursor.fetchmany(STREAM_ROWS):
                    yield batch
        except self._error as error:
            raise unusable(error) from None

    def begin(self) -> None:
        """Start a transaction."""
        self.execute("BEGIN")

    def commit(self) -> None:
        """Make it last."""
        self.execute("COMMIT")

    def rollback(self) -> None:
        """Undo it; without a transaction nothing happens."""
        if self._connection.info.transaction_status != _IDLE:
            self.execute("ROLLBACK")

    def tables(self) -> frozenset[str]:
        """Names of the tables that exist in the schema."""
        rows = self.execute(
            "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = ?", (self._schema,)
        )
        return frozenset(row[0] for row in rows)

    def clear(self) -> None:
        """Drop every table of the schema."""
        for name in sorted(self.tables()):
            self.execute(f'DROP TABLE "{name}"')

    def is_untouched(self) -> bool:
        """Whether nobody else has changed the database: a server cannot promise that."""
        return False

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _marks(sql: str) -> str:
    return sql.replace("?", "%s")
