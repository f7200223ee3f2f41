"""Opening a working set: fresh where it can be, honest where it cannot."""

import os
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentic_os.aggregate import workspace as working
from agentic_os.aggregate.questions import memory
from agentic_os.aggregate.refresh import intake
from agentic_os.aggregate.refresh.surfaces import Refreshed, refresh
from agentic_os.aggregate.store.database import Store
from agentic_os.aggregate.store.space import space_for
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.errors import FilesError, StoreError, UnknownProjectError
from agentic_os.files.reading import FileRead, Fingerprint, Folder
from agentic_os.registry.fleet import Fleet, load_fleet
from support.fleet.builder import FleetBuilder
from support.fleet.store_dump import fresh, opened


@pytest.fixture
def small(fleet: FleetBuilder) -> FleetBuilder:
    project = fleet.project("p")
    project.fact("f", "lighthouse")
    project.index("- [F](f.md)\n")
    return fleet


def test_a_person_is_here() -> None:
    person = Person.here()

    assert person.current == Path.cwd()
    assert person.home == Path(os.environ["HOME"])


def test_a_folder_that_was_deleted_is_only_missed_where_it_is_needed(
    small: FleetBuilder, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    script = (
        "import os, sys; gone = sys.argv.pop(1); os.mkdir(gone); os.chdir(gone); os.rmdir(gone);"
        "from agentic_os.cli.entry import main; sys.exit(main())"
    )

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", script, str(gone), *words],
            capture_output=True,
            text=True,
            check=False,
        )

    asked, lost = (
        ran("search", "lighthouse", "--root", str(small.root)),
        ran("search", "lighthouse"),
    )

    assert (asked.returncode, "1 of 1 hits" in asked.stderr) == (0, True), asked.stderr
    assert (lost.returncode, "ROOT_MISSING" in lost.stderr) == (1, True), lost.stderr
    assert "Traceback" not in lost.stderr


def test_inside_a_project_that_project_is_asked(small: FleetBuilder, person: Person) -> None:
    inner = small.root / "p/src/deep"
    inner.mkdir(parents=True)
    small.project("other").fact("f", "beacon")

    with open_workspace(replace(person, current=inner), []) as workspace:
        assert [project.name for project in workspace.fleet.projects] == ["p"]
        assert [item.code for item in workspace.warnings] == ["PROJECT_AROUND"]
    with open_workspace(replace(person, current=small.root / "p"), []) as workspace:
        assert [item.code for item in workspace.warnings] == []
    with open_workspace(replace(person, current=inner), [str(small.root)]) as workspace:
        assert len(workspace.fleet.projects) == 2
    with open_workspace(replace(person, current=inner, home=small.root / "p"), []) as workspace:
        assert [item.code for item in workspace.warnings] == ["NO_PROJECTS"]


def test_a_store_that_breaks_while_it_is_written_is_made_anew(
    small: FleetBuilder, person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(person, small.root)
    calls = []

    def breaking(store: Store, *arguments: object, **named: object) -> Refreshed:
        calls.append(store.generation)
        if len(calls) == 1:
            raise sqlite3.DatabaseError("database disk image is malformed")
        return refresh(store, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(working, "refresh", breaking)

    assert opened(person, small.root) == fresh(person, small.root, tmp_path / "other")
    assert calls[:2] == [1, 0]


def test_a_busy_store_is_not_thrown_away(
    small: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(person, small.root)

    def busy(*_: object, **__: object) -> Refreshed:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(working, "refresh", busy)
    with open_workspace(person, [str(small.root)]) as workspace:
        assert workspace.stale
        assert [item.code for item in workspace.warnings] == ["STORE_STALE"]
        assert len(memory(workspace).data.facts) == 2
    with (
        pytest.raises(StoreError) as raised,
        open_workspace(person, [str(small.root)], freshness="wait"),
    ):
        pass
    assert raised.value.code == "STORE_FULL"


def test_a_store_that_vanishes_under_the_reader(
    small: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanishing(*arguments: object, **named: object) -> Refreshed:
        done = refresh(*arguments, **named)  # type: ignore[arg-type]
        shutil.rmtree(Path(person.environ["AGENTIC_OS_CACHE_DIR"]) / "spaces")
        return done

    monkeypatch.setattr(working, "refresh", vanishing)

    with (
        pytest.raises(StoreError, match="vanished"),
        open_workspace(person, [str(small.root)]),
    ):
        pass


def test_damage_that_a_reader_meets_is_an_error_with_a_way_out(
    small: FleetBuilder, person: Person
) -> None:
    with pytest.raises(StoreError) as raised, open_workspace(person, [str(small.root)]) as opened_:
        opened_.store.connection.execute("SELECT * FROM nothing")

    assert raised.value.code == "STORE_UNUSABLE"
    assert "agentic-os purge" in raised.value.hint


def test_descriptors_that_cannot_be_taken_from_the_store(
    small: FleetBuilder, person: Person
) -> None:
    opened(person, small.root)
    space = space_for(Path(person.environ["AGENTIC_OS_CACHE_DIR"]), [small.root])
    with sqlite3.connect(space.database) as connection:
        connection.execute("UPDATE descriptor SET value = x'7b'")
    connection.close()
    with open_workspace(person, [str(small.root)]) as workspace:
        assert [project.name for project in workspace.fleet.projects] == ["p"]
    with sqlite3.connect(space.database) as connection:
        connection.execute("DROP TABLE descriptor")
    connection.close()

    with (
        pytest.raises(StoreError) as raised,
        open_workspace(person, [str(small.root)], freshness="wait"),
    ):
        pass
    assert raised.value.code == "STORE_UNUSABLE"


def test_a_project_that_moves_is_read_anew(
    small: FleetBuilder, person: Person, tmp_path: Path
) -> None:
    """One id, another folder: nothing of the old place stays."""
    git = small.root / "p/.git"
    (git / "refs").mkdir(parents=True)
    (git / "objects").mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\n\turl = https://example.org/me/p.git\n')
    before = opened(person, small.root)
    (small.root / "p").rename(small.root / "moved")
    (small.root / "moved/.agents/memory/f.md").write_text("windmill")

    after = opened(person, small.root)

    assert after == fresh(person, small.root, tmp_path / "other")
    assert [row[0] for row in before["project"]] == [row[0] for row in after["project"]]


def test_a_project_whose_folder_vanishes_while_it_is_read(
    small: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = small.project("other")
    other.fact("g", "windmill")

    def vanishing(*arguments: object, **named: object) -> Fleet:
        found = load_fleet(*arguments, **named)  # type: ignore[arg-type]
        shutil.rmtree(small.root / "p")
        return found

    monkeypatch.setattr(working, "load_fleet", vanishing)
    with open_workspace(person, [str(small.root)]) as workspace:
        answer = memory(workspace)

    assert [fact.title for fact in answer.data.facts] == ["g"]
    assert answer.incomplete
    assert [item.code for item in answer.omissions] == ["FILE_MISSING"]


def test_many_files_go_in_batches(
    small: FleetBuilder, person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(10):
        small.project("p").fact(f"f{number}", f"fact {number}")
    whole = fresh(person, small.root, tmp_path / "whole")
    monkeypatch.setattr(intake, "_BATCH_ROWS", 3)

    assert fresh(person, small.root, tmp_path / "batches") == whole


def test_a_file_that_keeps_changing_is_said(
    small: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Folder.read

    def restless(
        folder: Folder, name: str, *, limit_bytes: int, seen: Fingerprint | None = None
    ) -> FileRead:
        if name == "f.md":
            raise FilesError("f.md changed while it was read", code="FILE_CHANGED")
        return real(folder, name, limit_bytes=limit_bytes, seen=seen)

    monkeypatch.setattr(Folder, "read", restless)
    with open_workspace(person, [str(small.root)]) as workspace:
        answer = memory(workspace)

    assert [item.code for item in answer.omissions] == ["FILE_CHANGED"]
    assert answer.incomplete


def test_a_walk_that_stopped_early_leaves_the_fleet_incomplete(
    small: FleetBuilder, person: Person
) -> None:
    for name in ("q", "r"):
        small.project(name)
    config = Path(person.environ["AGENTIC_OS_CONFIG_DIR"])
    config.mkdir(parents=True, exist_ok=True)
    (config / "projects.toml").write_text("[limits]\nfolders = 2\n")

    with open_workspace(person, [str(small.root)], freshness="wait") as workspace:
        whole = workspace.unanswerable(None)
        one = workspace.unanswerable(workspace.project_ids(["p"]))
        warned = [item.code for item in workspace.warnings]

    assert [item.code for item in whole] == ["FOLDER_LIMIT"]
    assert one == ()
    assert "FOLDER_LIMIT" in warned


def test_a_name_from_a_model_is_no_path(small: FleetBuilder, person: Person) -> None:
    with open_workspace(person, [str(small.root)], freshness="wait") as workspace:
        inside = str(small.root / "p")
        assert workspace.project_ids([inside]) == workspace.project_ids(["p"])
        with pytest.raises(UnknownProjectError):
            workspace.project_ids([inside], paths=False)
