"""A store that cannot be used is made anew, or the person is told what to do."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from agentic_os.aggregate.store.space import DATABASE_NAME, LOCK_NAME, ROOTS_NAME, Space, space_for
from agentic_os.aggregate.workspace import Person
from support.fleet.builder import FleetBuilder
from support.fleet.store_dump import fresh, opened
from support.process.cli_call import call
from support.process.cli_process import Finished

NOBODY = 65_534


@pytest.fixture
def stored(fleet: FleetBuilder, person: Person) -> Space:
    """A space with a store of a small fleet."""
    for at in range(3):
        project = fleet.project(f"p{at}")
        for fact in range(20):
            project.fact(f"f{fact}", f"lighthouse number {fact} " + "padding words " * 40)
    opened(person, fleet.root)
    return space_for(Path(person.environ["AGENTIC_OS_CACHE_DIR"]), [fleet.root])


def searched(fleet: FleetBuilder) -> Finished:
    return call("search", "lighthouse", "--json", "--root", fleet.root)


def rebuilt(finished: Finished, fleet: FleetBuilder, person: Person, other: Path) -> None:
    assert finished.code == 0, finished.words
    assert finished.data["total"] == 60
    assert not finished.data["coverage"]["stale"]
    assert opened(person, fleet.root) == fresh(person, fleet.root, other)


@pytest.mark.parametrize(
    "damage",
    [b"garbage", b"", b"garbage " * 10_000, b"SQLite format 3\0" + b"\xff" * 9_000],
    ids=["garbage", "empty", "much-garbage", "header-only"],
)
def test_other_bytes_are_replaced(
    fleet: FleetBuilder, person: Person, stored: Space, tmp_path: Path, damage: bytes
) -> None:
    stored.database.write_bytes(damage)

    rebuilt(searched(fleet), fleet, person, tmp_path / "other")


@pytest.mark.parametrize("part", [0.02, 0.3, 0.9])
def test_a_truncated_store_is_replaced_or_named(
    fleet: FleetBuilder, person: Person, stored: Space, tmp_path: Path, part: float
) -> None:
    size = stored.database.stat().st_size
    os.truncate(stored.database, int(size * part) // 4096 * 4096)

    finished = searched(fleet)

    if finished.code == 0:
        rebuilt(finished, fleet, person, tmp_path / "other")
        return
    assert finished.code == 1
    assert finished.document["error"]["code"] == "STORE_UNUSABLE"
    assert "agentic-os purge" in finished.document["error"]["hint"]
    assert "Traceback" not in finished.words
    assert call("doctor", "--root", fleet.root).code == 3
    assert call("purge", "--root", fleet.root).code == 0
    rebuilt(searched(fleet), fleet, person, tmp_path / "other")


@pytest.mark.parametrize("part", [0.2, 0.5, 0.8])
def test_damage_in_the_middle_is_mended_or_named(
    fleet: FleetBuilder, person: Person, stored: Space, tmp_path: Path, part: float
) -> None:
    size = stored.database.stat().st_size
    with stored.database.open("r+b") as file:
        file.seek(int(size * part) // 4096 * 4096)
        file.write(b"\xa5" * 4096 * 4)

    finished = call("doctor", "--jsonl", "--root", fleet.root)

    made = [item["data"] for item in finished.documents if item["data"]]
    checks = {check.get("id"): check for check in made}
    if finished.code == 1:
        assert "STORE_UNUSABLE" in finished.words
    elif checks["store.health"]["status"] == "fail":
        assert finished.code == 3
        assert "purge" in checks["store.health"]["hint"]
    else:
        rebuilt(searched(fleet), fleet, person, tmp_path / "other")
    assert call("purge", "--root", fleet.root).code == 0
    rebuilt(searched(fleet), fleet, person, tmp_path / "another")


def test_another_layout_is_replaced(
    fleet: FleetBuilder, person: Person, stored: Space, tmp_path: Path
) -> None:
    with sqlite3.connect(stored.database) as connection:
        connection.execute("UPDATE meta SET value='another' WHERE key='schema'")
        connection.execute("DROP TABLE capability")
    connection.close()

    rebuilt(searched(fleet), fleet, person, tmp_path / "other")


def test_another_database_is_replaced(
    fleet: FleetBuilder, person: Person, stored: Space, tmp_path: Path
) -> None:
    stored.database.unlink()
    with sqlite3.connect(stored.database) as connection:
        connection.execute("CREATE TABLE something(else_)")
    connection.close()

    rebuilt(searched(fleet), fleet, person, tmp_path / "other")


def test_a_vanished_log_is_no_damage(
    fleet: FleetBuilder, person: Person, stored: Space, tmp_path: Path
) -> None:
    for name in (f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm", LOCK_NAME, ROOTS_NAME):
        (stored.folder / name).unlink(missing_ok=True)

    rebuilt(searched(fleet), fleet, person, tmp_path / "other")
    assert (stored.folder / ROOTS_NAME).exists()


def test_folders_where_files_belong(fleet: FleetBuilder, stored: Space) -> None:
    stored.database.unlink()
    stored.database.mkdir()

    finished = searched(fleet)

    assert finished.code == 1
    assert finished.document["error"]["code"] in {"STORE_FULL", "STORE_UNUSABLE"}
    assert "Traceback" not in finished.words


def test_the_lock_is_a_folder(fleet: FleetBuilder, stored: Space) -> None:
    stored.lock.unlink()
    stored.lock.mkdir()

    finished = call("aggregate", "--json", "--root", fleet.root)
    beside = searched(fleet)

    assert finished.code == 1
    assert finished.document["error"]["code"] == "STORE_UNWRITABLE"
    assert beside.code == 0
    assert beside.data["coverage"]["stale"]


@pytest.mark.parametrize("below", ["", "below/it"])
def test_the_cache_folder_is_a_file(fleet: FleetBuilder, tmp_path: Path, below: str) -> None:
    fleet.project("p")
    (tmp_path / "file").write_text("text")
    cache = {"AGENTIC_OS_CACHE_DIR": str(tmp_path / "file" / below)}

    for words in (["aggregate"], ["search", "x"], ["memory"], ["doctor"]):
        finished = call(*words, "--json", "--root", fleet.root, environ=cache)
        assert finished.code == 1
        assert finished.document["error"]["code"] == "STORE_UNWRITABLE"
        assert finished.document["error"]["hint"]
        assert str(tmp_path) not in finished.words
    assert call("scan", "--root", fleet.root, environ=cache).code == 0
    purged = call("purge", "--all", "--json", environ=cache)
    assert (purged.code, purged.data["spaces"]) == (0, [])


def test_the_cache_folder_is_relative(fleet: FleetBuilder) -> None:
    finished = call(
        "search", "x", "--json", "--root", fleet.root, environ={"AGENTIC_OS_CACHE_DIR": "cache"}
    )

    assert finished.code == 1
    assert finished.document["error"]["code"] == "PLACE_INVALID"
    assert "AGENTIC_OS_CACHE_DIR" in finished.document["error"]["message"]


def test_the_cache_folder_belongs_to_another(fleet: FleetBuilder, tmp_path: Path) -> None:
    fleet.project("p")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    if os.geteuid() == 0:
        os.chown(foreign, NOBODY, NOBODY)
        expected = "belongs to another user"
    else:
        foreign.chmod(0o500)
        expected = "could not be made"

    finished = call(
        "search",
        "x",
        "--json",
        "--root",
        fleet.root,
        environ={"AGENTIC_OS_CACHE_DIR": str(foreign / ("" if os.geteuid() == 0 else "below"))},
    )

    assert finished.code == 1
    assert finished.document["error"]["code"] == "STORE_UNWRITABLE"
    assert expected in finished.document["error"]["message"]


def test_the_store_is_private(person: Person, stored: Space) -> None:
    cache = Path(person.environ["AGENTIC_OS_CACHE_DIR"])
    for folder in (cache, stored.folder.parent, stored.folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in stored.folder.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name


def test_spaces_of_vanished_roots_are_collected(
    fleet: FleetBuilder, person: Person, stored: Space, tmp_path: Path
) -> None:
    other = FleetBuilder(root=tmp_path / "vanishing")
    other.project("p").fact("f", "text")
    opened(person, other.root)
    spaces = stored.folder.parent
    assert len(list(spaces.iterdir())) == 2
    (spaces / "not-a-space").mkdir()
    other.root.rename(tmp_path / "gone")

    assert call("aggregate", "--root", fleet.root).code == 0

    assert sorted(path.name for path in spaces.iterdir()) == sorted(
        [stored.folder.name, "not-a-space"]
    )


def test_purge_deletes_one_space_or_all(
    fleet: FleetBuilder, person: Person, stored: Space, tmp_path: Path
) -> None:
    other = FleetBuilder(root=tmp_path / "other")
    other.project("p").fact("f", "text")
    opened(person, other.root)

    own = call("purge", "--json", "--root", fleet.root)
    again = call("purge", "--json", "--root", fleet.root)
    everything = call("purge", "--all")

    assert own.data["spaces"] == [stored.folder.name]
    assert again.data == {"spaces": [], "bytes": 0, "folders": []}
    assert everything.code == 0
    assert len(everything.text.splitlines()) == 1
    assert "Deleted: 1 store;" in everything.words
    assert not stored.folder.parent.exists()
    assert searched(fleet).data["total"] == 60
