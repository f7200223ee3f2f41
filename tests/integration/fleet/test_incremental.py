"""However a fleet came to be as it is, the store says the same about it."""

import os
import random
import shutil
import time
from pathlib import Path

import pytest

from agentic_os.aggregate.refresh import freshness
from agentic_os.aggregate.refresh import surfaces as refreshing
from agentic_os.aggregate.refresh.surfaces import Refreshed
from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.files import fingerprints
from support.fleet.builder import FleetBuilder
from support.fleet.store_dump import fresh, opened


@pytest.mark.parametrize("quiet", [False, True])
def test_any_sequence_of_edits_ends_like_a_fresh_start(
    fleet: FleetBuilder,
    person: Person,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    quiet: bool,
) -> None:
    if quiet:  # as if two seconds had passed since every write: sweeps are compared as wholes
        monkeypatch.setattr(fingerprints, "SETTLE_NS", -(10**15))
    dice = random.Random(11)
    projects = [fleet.project(f"p{n}", "obsidian-only") for n in range(4)]
    for step in range(25):
        project = dice.choice(projects)
        name = f"fact-{dice.randrange(4)}"
        action = dice.randrange(7)
        if action == 0:
            (project.folder / f".agents/memory/{name}.md").unlink(missing_ok=True)
        elif action == 1:
            listed = "".join(f"- [F{n}](fact-{n}.md)\n" for n in range(dice.randrange(5)))
            project.index(listed or "Prose only.\n")
        elif action == 2:
            project.note(f"{name}.md", f"# Note {step}\n\n[[other]] text {step}\n")
        elif action == 3:
            project.capabilities(skills={f"skill{dice.randrange(3)}": "text"})
        elif action == 4:
            project.fact(name, "<!-- nothing yet -->")
        elif action == 5:
            project.write(f".agents/memory/{name}.md", "x" * 300_000)
        else:
            project.fact(name, f"Said in step {step}: getUserName{step}")
        opened(person, fleet.root)
    shutil.rmtree(projects[0].folder)

    assert opened(person, fleet.root) == fresh(person, fleet.root, tmp_path / "other-cache")


def test_only_the_changed_file_is_read(
    fleet: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        project = fleet.project(f"p{number}")
        for fact in range(5):
            project.fact(f"f{fact}", "text")
    changed = fleet.root / "p3/.agents/memory/f2.md"
    # As if two seconds had passed since every write: nothing is read again for its times alone.
    monkeypatch.setattr(fingerprints, "SETTLE_NS", -(10**15))
    with open_workspace(person, [str(fleet.root)]) as first:
        assert _refreshed(first) == Refreshed(files_read=25, files_removed=0, changed=True)
    with open_workspace(person, [str(fleet.root)]) as second:
        assert _refreshed(second) == Refreshed(files_read=0, files_removed=0, changed=False)
        generation = second.store.generation
    changed.write_text("another thing")

    with open_workspace(person, [str(fleet.root)]) as third:
        assert _refreshed(third) == Refreshed(files_read=1, files_removed=0, changed=True)
        assert third.store.generation == generation + 1


def test_a_project_that_looks_the_same_is_not_compared_file_by_file(
    fleet: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    known = refreshing.Run.known

    def noted(run: refreshing.Run, pk: int) -> dict[str, freshness.KnownFile]:
        asked.append(pk)
        return known(run, pk)

    monkeypatch.setattr(refreshing.Run, "known", noted)
    fleet.project("p").fact("f", "one")
    other = fleet.project("q", "obsidian-only")
    other.fact("g", "two")
    monkeypatch.setattr(fingerprints, "SETTLE_NS", -(10**15))

    def compared() -> int:
        asked.clear()
        with open_workspace(person, [str(fleet.root)]):
            return len(asked)

    assert [compared(), compared()] == [2, 0]
    other.note("n.md", "# A note\n\ntext\n")
    assert [compared(), compared()] == [1, 0]
    other.write(".agents/memory/g.md", "x" * 300_000)  # now too large to be read
    with open_workspace(person, [str(fleet.root)]) as workspace:
        assert [item.code for item in workspace.unread().omissions] == ["FILE_TOO_LARGE"]
    with open_workspace(person, [str(fleet.root)]) as workspace:
        assert [item.code for item in workspace.unread().omissions] == ["FILE_TOO_LARGE"]
    assert compared() == 0


def test_a_project_that_was_just_written_is_compared_again(
    fleet: FleetBuilder, person: Person
) -> None:
    path = fleet.project("p").fact("f", "one")
    for expected in (0, 1):
        with open_workspace(person, [str(fleet.root)]) as workspace:
            rows = workspace.store.connection.execute("SELECT count(*) FROM swept").fetchone()
            assert rows == (expected,)
        for name in (path, path.parent.parent / "config.yaml"):
            os.utime(name, (1_000_000_000, 1_000_000_000))
        while time.time_ns() - path.stat().st_ctime_ns <= fingerprints.SETTLE_NS:
            time.sleep(0.05)


def test_what_a_project_looked_like_goes_with_it(
    fleet: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprints, "SETTLE_NS", -(10**15))
    project = fleet.project("p")
    project.fact("f", "one")
    with open_workspace(person, [str(fleet.root)]):
        pass
    aside = project.folder.with_name("aside")
    aside.mkdir()
    shutil.move(project.folder, aside)
    with open_workspace(person, [str(fleet.root)], freshness="wait") as moved:
        assert len(moved.store.connection.execute("SELECT * FROM swept").fetchall()) == 1
    shutil.rmtree(aside)
    with open_workspace(person, [str(fleet.root)]) as gone:
        assert gone.store.connection.execute("SELECT * FROM swept").fetchall() == []


def test_a_write_within_the_clock_grain_is_seen(fleet: FleetBuilder, person: Person) -> None:
    project = fleet.project("p")
    path = project.fact("f", "one one")
    with open_workspace(person, [str(fleet.root)]):
        stat = path.stat()
    with path.open("r+b") as file:
        file.write(path.read_bytes().replace(b"one one", b"two two"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    with open_workspace(person, [str(fleet.root)]) as workspace:
        assert _refreshed(workspace).files_read == 1
        bodies = workspace.store.connection.execute("SELECT body FROM document").fetchall()

    assert "two two" in bodies[0][0]


def test_deleted_files_and_projects_disappear(fleet: FleetBuilder, person: Person) -> None:
    gone = fleet.project("gone")
    gone.fact("a", "text")
    kept = fleet.project("kept")
    kept.fact("a", "text")
    path = kept.fact("b", "text")
    opened(person, fleet.root)
    shutil.rmtree(gone.folder)
    path.unlink()

    after = opened(person, fleet.root)

    assert [row[2] for row in after["file"]] == [".agents/memory/a.md"]
    assert [row[1] for row in after["project"]] == ["kept"]


def _refreshed(workspace: Workspace) -> Refreshed:
    assert workspace.refreshed is not None
    return workspace.refreshed
