"""Opening, rebuilding and refusing the store."""

import sqlite3
from pathlib import Path

import pytest

from agentic_os.aggregate.store import database as storing
from agentic_os.aggregate.store.database import (
    SQLITE_MINIMUM,
    STORE_FULL,
    STORE_UNWRITABLE,
    check_sqlite,
    open_store,
    schema_hash,
    store_error,
    transaction,
    writing,
)
from agentic_os.aggregate.store.space import Space, space_for
from agentic_os.errors import StoreError, StoreLockedError, StoreTooOldError


@pytest.fixture
def space(tmp_path: Path) -> Space:
    return space_for(tmp_path / "cache", [tmp_path])


def test_a_new_store_is_empty_and_current(space: Space) -> None:
    assert open_store(space) is None
    with writing(space) as store:
        assert store.generation == 0
    reader = open_store(space)
    assert reader is not None
    assert reader.connection.execute("SELECT count(*) FROM project").fetchone() == (0,)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.connection.execute("DELETE FROM meta")
    reader.close()


def test_a_store_without_a_generation_counts_none(space: Space) -> None:
    with writing(space) as store:
        store.connection.execute("DELETE FROM meta WHERE key='generation'")
        assert store.generation == 0


def test_what_a_store_is_made_by() -> None:
    assert schema_hash() == schema_hash("")
    assert schema_hash("a") != schema_hash("b")


@pytest.mark.parametrize("damage", [b"", b"garbage" * 500, b"SQLite format 3\0" + b"\0" * 500])
def test_unusable_bytes_are_not_read_but_replaced(space: Space, damage: bytes) -> None:
    with writing(space):
        pass
    space.database.write_bytes(damage)

    assert open_store(space) is None
    with writing(space) as store:
        assert store.generation == 0
    opened = open_store(space)
    assert opened is not None
    opened.close()


def test_a_store_of_other_rules_is_replaced(space: Space) -> None:
    with writing(space) as store, transaction(store.connection):
        store.connection.execute("UPDATE meta SET value='7' WHERE key='generation'")
    other = Space(folder=space.folder, roots=space.roots, rules="other")

    assert open_store(other) is None
    with writing(other) as store:
        assert store.generation == 0
    assert open_store(space) is None


def test_one_writer_at_a_time(space: Space) -> None:
    with writing(space), pytest.raises(StoreLockedError) as raised, writing(space, wait_seconds=0):
        pass

    assert raised.value.hint


def test_a_change_is_whole_or_not_there(space: Space) -> None:
    with writing(space) as store:
        with pytest.raises(sqlite3.IntegrityError), transaction(store.connection):
            store.connection.executemany("INSERT INTO listed VALUES(?)", [(1,), (1,)])
        with transaction(store.connection):
            store.connection.execute("INSERT INTO listed VALUES(2)")
        assert store.connection.execute("SELECT file FROM listed").fetchall() == [(2,)]


def test_a_writer_that_is_left_in_the_middle_changes_nothing(space: Space) -> None:
    with writing(space) as store:
        store.connection.execute("BEGIN IMMEDIATE")
        store.connection.execute("INSERT INTO listed VALUES(1)")

    reader = open_store(space)
    assert reader is not None
    assert reader.connection.execute("SELECT count(*) FROM listed").fetchone() == (0,)
    reader.close()


def test_faults_of_sqlite_become_errors_of_ours(space: Space) -> None:
    with pytest.raises(StoreError) as raised, writing(space) as store:
        store.connection.execute("SELECT * FROM nothing")

    assert raised.value.code == "STORE_UNUSABLE"
    assert "nothing" not in raised.value.message


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (sqlite3.OperationalError("database is locked"), "STORE_LOCKED"),
        (sqlite3.OperationalError("database or disk is full"), STORE_FULL),
        (sqlite3.OperationalError("disk I/O error"), STORE_FULL),
        (sqlite3.OperationalError("attempt to write a readonly database"), STORE_FULL),
        (sqlite3.OperationalError("unable to open database file"), STORE_FULL),
        (sqlite3.OperationalError("no such table: x"), "STORE_UNUSABLE"),
        (sqlite3.DatabaseError("database disk image is malformed"), "STORE_UNUSABLE"),
    ],
)
def test_the_code_of_a_fault(fault: sqlite3.Error, code: str) -> None:
    error = store_error(fault)

    assert error.code == code
    assert error.hint
    assert str(fault) not in error.message


def test_a_machine_with_an_old_sqlite(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    check_sqlite(SQLITE_MINIMUM)
    with pytest.raises(StoreTooOldError, match=r"3\.36\.9 is too old: 3\.37\.0"):
        check_sqlite((3, 36, 9))

    monkeypatch.setattr(check_sqlite, "__defaults__", ((3, 8, 0),))
    with pytest.raises(StoreTooOldError):
        open_store(space)
    with pytest.raises(StoreTooOldError), writing(space):
        pass


def test_a_busy_database_is_no_damage(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever keeps the bytes from being read says nothing about them: they stay."""
    with writing(space):
        pass
    before = space.database.read_bytes()

    def busy(*_: object) -> bool:
        raise sqlite3.OperationalError("database is locked")

    monkeypatch.setattr(storing, "_current", busy)
    with pytest.raises(StoreLockedError), writing(space):
        pass
    assert open_store(space) is None
    assert space.database.read_bytes() == before


def test_a_rebuild_that_fails_says_why(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: str) -> list[str]:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(storing, "_statements", full)
    with pytest.raises(StoreError) as raised, writing(space):
        pass
    assert raised.value.code == STORE_FULL
    monkeypatch.undo()
    space.database.unlink()
    space.database.mkdir()
    with pytest.raises(StoreError) as raised, writing(space):
        pass
    assert raised.value.code == STORE_FULL


def test_a_rebuild_that_cannot_discard(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: Space) -> None:
        raise PermissionError

    monkeypatch.setattr(storing, "discard", refused)
    with pytest.raises(StoreError) as raised, writing(space):
        pass

    assert raised.value.code == STORE_FULL


def test_a_database_of_another_tool_is_replaced(space: Space) -> None:
    space.folder.mkdir(parents=True)
    for ddl in ("CREATE TABLE meta(other)", "CREATE TABLE other(meta)"):
        space.database.unlink(missing_ok=True)
        with sqlite3.connect(space.database) as connection:
            connection.execute(ddl)
        connection.close()

        assert open_store(space) is None
        with writing(space) as store:
            assert store.generation == 0


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")

    with (
        pytest.raises(StoreError) as raised,
        writing(space_for(tmp_path / "cache", [tmp_path])),
    ):
        pass

    assert raised.value.code == STORE_UNWRITABLE
