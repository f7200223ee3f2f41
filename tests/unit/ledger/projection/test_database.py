"""Databases: SQLite as it is set up, refusals without paths, URLs."""

from pathlib import Path

import pytest

from agentic_os.errors import LedgerError
from agentic_os.ledger.projection.database import SqliteDatabase
from agentic_os.ledger.projection.postgres import PostgresDatabase
from agentic_os.ledger.projection.url import open_database


def test_pragmas_are_set_on_every_connection(tmp_path: Path) -> None:
    for _ in range(2):
        db = SqliteDatabase(tmp_path / "p.db")
        assert db.execute("PRAGMA journal_mode") == [("wal",)]
        assert db.execute("PRAGMA busy_timeout") == [(5000,)]
        assert db.execute("PRAGMA foreign_keys") == [(1,)]
        db.close()
    assert (tmp_path / "p.db").stat().st_mode & 0o777 == 0o600


def test_transactions(tmp_path: Path) -> None:
    db = SqliteDatabase(tmp_path / "p.db")
    db.execute("CREATE TABLE t (a TEXT)")
    db.begin()
    db.execute_many("INSERT INTO t VALUES (?)", [("x",), ("y",)])
    db.rollback()
    db.rollback()
    assert db.execute("SELECT * FROM t") == []
    db.begin()
    db.execute("INSERT INTO t VALUES (?)", ("z",))
    db.commit()
    assert list(db.stream("SELECT a FROM t")) == [[("z",)]]
    assert db.tables() == {"t"}
    db.clear()
    assert db.tables() == frozenset()
    db.close()


def test_read_only_means_read_only(tmp_path: Path) -> None:
    SqliteDatabase(tmp_path / "p.db").close()
    db = SqliteDatabase(tmp_path / "p.db", read_only=True)
    with pytest.raises(LedgerError) as caught:
        db.execute("CREATE TABLE t (a TEXT)")
    assert caught.value.code == "PROJECTION_UNUSABLE"
    db.close()


def test_failures_are_one_error(tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_bytes(b"not a database" * 100)
    with pytest.raises(LedgerError):
        SqliteDatabase(tmp_path / "bad.db")
    with pytest.raises(LedgerError) as caught:
        SqliteDatabase(tmp_path / "none" / "p.db")
    assert caught.value.code == "PROJECTION_UNUSABLE"
    db = SqliteDatabase(None)
    for failing in (
        lambda: db.execute("SELEC"),
        lambda: db.execute_many("SELEC", [()]),
        lambda: list(db.stream("SELEC")),
    ):
        with pytest.raises(LedgerError):
            failing()
    db.close()


def test_urls(tmp_path: Path) -> None:
    open_database(f"sqlite:///{tmp_path}/é other.db", name="n").close()
    assert (tmp_path / "é other.db").exists()
    with pytest.raises(LedgerError) as caught:
        open_database("mysql://x", name="n")
    assert caught.value.code == "PROJECTION_URL"


def test_a_postgres_schema_has_a_plain_name() -> None:
    with pytest.raises(LedgerError, match="schema name"):
        PostgresDatabase("postgresql://x", schema='a"; DROP')
    with pytest.raises(LedgerError, match="schema name"):
        open_database("postgres://x", name="A")


def test_a_server_that_does_not_answer_is_one_error() -> None:
    pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")
    with pytest.raises(LedgerError) as caught:
        PostgresDatabase("postgresql://127.0.0.1:1/none?connect_timeout=2", schema="n")
    assert caught.value.code == "PROJECTION_UNUSABLE"


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerError) as caught:
        PostgresDatabase("postgresql://127.0.0.1:1/none", schema="n")
    assert caught.value.code == "POSTGRES_MISSING"
    assert "postgres" in caught.value.hint
