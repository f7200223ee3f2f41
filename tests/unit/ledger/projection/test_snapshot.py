"""Seals and snapshots: equal to a replay, or not used at all."""

import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agentic_os.errors import LedgerError
from agentic_os.ledger.projection.database import SqliteDatabase
from agentic_os.ledger.projection.schema import TABLES
from agentic_os.ledger.projection.snapshot import (
    Seal,
    list_snapshots,
    make_seal,
    peek_seal,
    read_seal,
    restore_snapshot,
    write_snapshot,
)
from agentic_os.ledger.projection.tables import Projection
from support.ledger.builder import KEYS, Builder
from support.ledger.stories import events_of, story

IDENTITY = KEYS["identity"]


Replay = Callable[[Builder], Projection]


@pytest.fixture
def replay() -> Iterator[Replay]:
    """Make projections of ledgers; their databases are closed at the end."""
    with ExitStack() as stack:

        def make(builder: Builder) -> Projection:
            database = SqliteDatabase(None)
            stack.callback(database.close)
            made = Projection(database)
            made.apply(events_of(builder))
            return made

        yield make


def _seal(projection: Projection) -> Seal:
    return make_seal(projection, origin="example.org/ledger/x", key=IDENTITY)


@pytest.fixture
def full(replay: Replay) -> Projection:
    return replay(story())


def test_every_table_of_the_story_has_rows(full: Projection) -> None:
    touched = {table.name for table, _ in full.rows()}
    assert touched == {table.name for table in TABLES} - {"receipts", "postures"}


def test_a_restored_projection_equals_a_replayed_one(
    tmp_path: Path, full: Projection, replay: Replay
) -> None:
    seal = _seal(full)
    path = write_snapshot(full, tmp_path, seal)
    assert path.stat().st_mode & 0o777 == 0o600
    other = replay(Builder().genesis())
    assert restore_snapshot(other, path, seal)
    assert other.digest() == full.digest() == (seal.digest, seal.rows)
    assert other.cursor == full.cursor
    assert list(other.rows()) == list(full.rows())


def test_a_seal_is_by_its_key_and_about_its_words(full: Projection) -> None:
    seal = _seal(full)
    assert read_seal(seal.document) == seal
    assert seal.is_by(KEYS["operator"].public, IDENTITY.public)
    assert not seal.is_by(KEYS["operator"].public)
    assert not seal.is_by()
    for changed in (
        seal.document.replace(b'"rows":', b'"rows":1'),
        seal.document.replace(seal.digest.encode(), b"sha256:" + b"0" * 64),
        seal.document.replace(seal.schema.encode(), b"sha256:" + b"0" * 64),
        seal.document.replace(b'"sig_b64":"', b'"sig_b64":"?'),
    ):
        read = read_seal(changed)
        assert read is not None
        assert not read.is_by(IDENTITY.public)


@pytest.mark.parametrize("document", [b"", b"{}", b"[]", b'{"seq": 1}'])
def test_what_is_no_seal_is_nothing(document: bytes) -> None:
    assert read_seal(document) is None


def _rewrite(path: Path, old: bytes, new: bytes) -> None:
    data = gzip.decompress(path.read_bytes())
    assert old in data
    path.write_bytes(gzip.compress(data.replace(old, new, 1)))


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: _rewrite(path, b"event 1", b"event 9"),
        lambda path: _rewrite(path, b'["entities"', b'["unknown"'),
        lambda path: _rewrite(path, b'["mirror",[1,', b'["mirror",[1,2,'),
        lambda path: _rewrite(path, b'["mirror",[1,', b'["mirror",["1",'),
        lambda path: _rewrite(path, b'"rows":', b'"rows":1'),
        lambda path: path.write_bytes(path.read_bytes()[:-20]),
        lambda path: path.write_bytes(b"no gzip"),
        lambda path: path.unlink(),
    ],
)
def test_a_damaged_snapshot_leaves_everything_as_it_was(
    tmp_path: Path, full: Projection, replay: Replay, damage: object
) -> None:
    assert callable(damage)
    seal = _seal(full)
    path = write_snapshot(full, tmp_path, seal)
    damage(path)
    other = replay(Builder().genesis())
    before = (other.digest(), other.cursor)
    assert not restore_snapshot(other, path, seal)
    assert (other.digest(), other.cursor) == before


def test_two_snapshots_are_kept(tmp_path: Path, replay: Replay) -> None:
    for length in (10, 20, 30):
        projection = replay(story(length))
        write_snapshot(projection, tmp_path, _seal(projection))
    (tmp_path / "snapshot-x.jsonl.gz").write_bytes(b"")
    kept = list_snapshots(tmp_path)
    assert len(kept) == 2
    seals = [peek_seal(path) for path in kept]
    assert [seal.cursor.seq > 15 for seal in seals if seal is not None] == [True, True]
    assert seals[0] is not None
    assert seals[1] is not None
    assert seals[0].cursor.seq > seals[1].cursor.seq
    assert peek_seal(tmp_path / "snapshot-x.jsonl.gz") is None
    assert list_snapshots(tmp_path / "none") == []


def test_a_full_disk_leaves_no_half_snapshot(
    tmp_path: Path, full: Projection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(LedgerError) as caught:
        write_snapshot(full, tmp_path, _seal(full))
    assert caught.value.code == "SNAPSHOT_FAILED"
    assert list(tmp_path.glob("*snapshot*")) == []


def test_applying_a_line_breaks_the_seal() -> None:
    builder = story(12)
    events = events_of(builder)
    projection = Projection(SqliteDatabase(None))
    projection.apply(events[:-1])
    seal = _seal(projection).document.decode()
    projection.put_seal(seal)
    seals = [projection.seal]
    projection.apply(events[-1:])
    seals.append(projection.seal)
    projection.apply([])
    assert seals == [seal, None]
    assert projection.cursor.seq == len(builder.lines)
    projection.close()


def test_tables_of_another_schema_are_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "projection.db"
    first = Projection(SqliteDatabase(path))
    first.apply(events_of(Builder().genesis()))
    first.db.execute("UPDATE meta SET value = 'old' WHERE name = 'schema'")
    first.close()
    second = Projection(SqliteDatabase(path))
    assert second.cursor.seq == 0
    assert second.digest()[1] == 0
    second.close()
