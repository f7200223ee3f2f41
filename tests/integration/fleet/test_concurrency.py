"""Readers beside a writer, two writers at once, and a store that somebody else holds."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentic_os.aggregate.questions import memory
from agentic_os.aggregate.refresh import surfaces as refreshing
from agentic_os.aggregate.store.database import writing
from agentic_os.aggregate.store.space import LOCK_NAME, space_for
from agentic_os.aggregate.surfaces.sweep import Candidate, Note, Unread, sweep
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.errors import StoreError, StoreLockedError
from agentic_os.files.publishing import ExclusiveLock
from agentic_os.files.reading import Folder
from agentic_os.registry.project import Project
from agentic_os.tiers.interface import Query
from agentic_os.tiers.route import search
from support.fleet.builder import FleetBuilder
from support.fleet.store_dump import fresh, opened
from support.process.cli_process import MODULE, run

PROJECTS = 4
FACTS = 6
READS = 40

# Holds the writer lock and commits one state after the other; in each of them all files agree.
WRITER = """
import os, sys
from pathlib import Path
from agentic_os.aggregate.refresh.surfaces import refresh
from agentic_os.aggregate.store.space import space_for
from agentic_os.aggregate.store.database import writing
from agentic_os.aggregate.fleet import Person, find_fleet
from agentic_os.text.secrets.redaction import Redactor

root, stop = Path(sys.argv[1]), Path(sys.argv[2])
fleet = find_fleet(Person.here(), [str(root)]).fleet
facts = sorted(root.rglob("f*.md"))
number = 1
with writing(space_for(Path(os.environ["AGENTIC_OS_CACHE_DIR"]), [root])) as store:
    while not stop.exists():
        number += 1
        for fact in facts:
            fact.write_text(f"---\\nname: fact\\n---\\n\\nnumber {number}\\n")
        refresh(store, fleet, Redactor())
        if number == 2:
            print("writing", flush=True)
print(number)
"""


@pytest.fixture
def written(fleet: FleetBuilder) -> FleetBuilder:
    for at in range(PROJECTS):
        project = fleet.project(f"p{at}")
        for fact in range(FACTS):
            project.fact(f"f{fact}", "number 1", title="fact")
    return fleet


def held_lock(person: Person, root: Path) -> ExclusiveLock:
    space = space_for(Path(person.environ["AGENTIC_OS_CACHE_DIR"]), [root])
    lock = ExclusiveLock(space.folder / LOCK_NAME)
    assert lock.try_acquire()
    return lock


@contextmanager
def writer(root: Path, stop: Path) -> Iterator[None]:
    command = [sys.executable, "-c", WRITER, str(root), str(stop)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "writing\n"
            yield
        finally:
            stop.touch()
        assert process.wait(timeout=60) == 0
        assert int(process.stdout.read()) > 2


def test_a_reader_never_sees_half_a_state(
    written: FleetBuilder, person: Person, tmp_path: Path
) -> None:
    opened(person, written.root)
    seen = set()
    with writer(written.root, tmp_path / "stop"):
        for _ in range(READS):
            with open_workspace(person, [str(written.root)]) as workspace:
                facts = memory(workspace).data.facts
                texts = {fact.text for fact in facts}
                groups = {fact.group for fact in facts}
                found = search(workspace, Query(text="number", limit=100))
                again = {fact.text for fact in memory(workspace).data.facts}
            assert len(facts) == PROJECTS * FACTS
            assert len(texts) == len(groups) == 1
            assert again == texts
            assert found.data.total + sum(item.count for item in found.omissions) == len(facts)
            assert found.data.coverage.stale
            assert not found.incomplete
            seen |= texts

    assert len(seen) > 1, "the writer did not get on while the readers read"


def test_commands_beside_a_writer(written: FleetBuilder, person: Person, tmp_path: Path) -> None:
    opened(person, written.root)
    with writer(written.root, tmp_path / "stop"):
        for words in (["search", "number"], ["memory"], ["capabilities"], ["vault"], ["doctor"]):
            finished = run(*words, "--json", "--root", written.root)
            assert finished.code == (3 if words == ["doctor"] else 0), finished.words
            assert finished.document["error"] is None


def test_several_writers_at_once(written: FleetBuilder, person: Person, tmp_path: Path) -> None:
    command = [*MODULE, "aggregate", "--json", "--root", str(written.root)]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)
    ]
    ended = [(process.communicate(timeout=60), process.returncode) for process in processes]

    assert [code for _, code in ended] == [0] * 4, ended
    assert opened(person, written.root) == fresh(person, written.root, tmp_path / "other")


def test_a_held_store_answers_stale(written: FleetBuilder, person: Person) -> None:
    opened(person, written.root)
    written.project("p0").fact("new", "A newcomer", title="newcomer")
    lock = held_lock(person, written.root)

    old = run("search", "number", "--json", "--root", written.root)
    new = run("search", "newcomer", "--json", "--root", written.root)
    lock.release()
    then = run("search", "newcomer", "--json", "--root", written.root)

    assert (old.code, new.code, then.code) == (0, 0, 0)
    assert old.data["total"] == PROJECTS * FACTS
    assert all(hit["stale"] and hit["confirmed"] for hit in old.data["hits"])
    assert old.data["coverage"]["stale"]
    assert [item["code"] for item in old.document["warnings"]] == ["STORE_STALE"]
    assert new.data["total"] == 0
    assert then.data["total"] == 1
    assert not then.data["coverage"]["stale"]
    assert then.document["warnings"] == []


def test_a_held_store_says_so_in_text(written: FleetBuilder, person: Person) -> None:
    opened(person, written.root)
    lock = held_lock(person, written.root)

    finished = run("memory", "--root", written.root)

    lock.release()
    assert finished.code == 0
    assert "STORE_STALE" in finished.words
    assert finished.text.count("\n") == PROJECTS * FACTS


def test_the_first_questions_of_several_sessions_wait_for_the_store(
    written: FleetBuilder, person: Person
) -> None:
    space_for(Path(person.environ["AGENTIC_OS_CACHE_DIR"]), [written.root]).folder.mkdir(
        parents=True
    )
    lock = held_lock(person, written.root)
    command = [*MODULE, "search", "number", "--json", "--root", str(written.root)]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)
    ]
    with pytest.raises(subprocess.TimeoutExpired):
        processes[0].wait(timeout=3)  # nothing but waiting: there is nothing to answer from
    lock.release()

    ended = [(process.communicate(timeout=60)[0], process.returncode) for process in processes]

    assert [code for _, code in ended] == [0] * 3, ended
    assert all(json.loads(out)["data"]["total"] == PROJECTS * FACTS for out, _ in ended)
    assert b"STORE_AWAITED" in ended[0][0]


def test_a_store_that_is_being_made_is_awaited_only_so_long(
    written: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentic_os.aggregate.workspace.WRITER_WAIT_SECONDS", 0.05)
    space = space_for(Path(person.environ["AGENTIC_OS_CACHE_DIR"]), [written.root])
    with (
        writing(space),
        pytest.raises(StoreLockedError),
        open_workspace(person, [str(written.root)]),
    ):
        pass


def test_aggregate_waits_for_the_lock_only_so_long(
    written: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(person, written.root)
    monkeypatch.setattr("agentic_os.aggregate.workspace.WRITER_WAIT_SECONDS", 0.05)
    lock = held_lock(person, written.root)

    with (
        pytest.raises(StoreError) as raised,
        open_workspace(person, [str(written.root)], freshness="wait"),
    ):
        pass

    lock.release()
    assert raised.value.code == "STORE_LOCKED"


def test_purge_leaves_a_held_store_alone(written: FleetBuilder, person: Person) -> None:
    opened(person, written.root)
    lock = held_lock(person, written.root)

    held = run("purge", "--json", "--root", written.root)
    lock.release()
    free = run("purge", "--json", "--root", written.root)

    assert (held.code, held.document["error"]["code"]) == (1, "STORE_LOCKED")
    assert free.code == 0
    assert len(free.data["spaces"]) == 1
    assert free.data["bytes"] > 0


def test_a_file_that_changes_between_list_and_read(
    written: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that vanishes while it is taken in is gone, not an error."""
    gone = written.root / "p1/.agents/memory/f2.md"

    def racing(project: Project, folder: Folder, note: Note) -> Iterator[Candidate | Unread]:
        for found in sweep(project, folder, note):
            gone.unlink(missing_ok=True)
            yield found

    monkeypatch.setattr(refreshing, "sweep", racing)
    with open_workspace(person, [str(written.root)]) as workspace:
        answer = memory(workspace)

    assert len(answer.data.facts) == PROJECTS * FACTS - 1
    assert not answer.incomplete


def test_roots_added_at_once_are_all_kept(tmp_path: Path) -> None:
    folders = [tmp_path / f"root{number}" for number in range(6)]
    for folder in folders:
        folder.mkdir()
    processes = [
        subprocess.Popen(
            [*MODULE, "roots", "add", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for folder in folders
    ]
    ended = [(process.communicate(timeout=60), process.returncode) for process in processes]

    assert [code for _, code in ended] == [0] * 6, ended
    listed = run("roots", "list", "--json").data["roots"]
    assert sorted(listed) == sorted(map(str, folders))
