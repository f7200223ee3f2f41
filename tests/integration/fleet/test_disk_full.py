"""No room left: the old store stays and answers, and the person is told."""

import shutil
import sys
from pathlib import Path

import pytest

from agentic_os.aggregate.workspace import Person
from support.fleet.builder import FleetBuilder
from support.fleet.store_dump import fresh, opened
from support.process.cli_process import Finished, run

# A file that may not grow is what a full disk looks like to SQLite. The limit ends with the
# command, so that whatever measures this process can still write down what it saw.
LIMITED = """
import resource, sys
from agentic_os.cli.entry import main
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), hard))
code = main(sys.argv[2:])
sys.stdout.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
sys.exit(code)
"""


def limited(size: int, *arguments: str | Path) -> Finished:
    return run(*arguments, command=(sys.executable, "-c", LIMITED, str(size)))


def write(fleet: FleetBuilder, projects: int, word: str) -> None:
    for at in range(projects):
        project = fleet.project(f"p{at}")
        for fact in range(10):
            project.fact(f"f{fact}", f"{word} number {fact} " + "padding words here " * 60)


@pytest.mark.parametrize("kib", [0, 1, 16, 64, 200])
def test_the_first_aggregate_has_no_room(fleet: FleetBuilder, kib: int) -> None:
    write(fleet, 12, "lighthouse")

    finished = limited(kib * 1024, "aggregate", "--json", "--root", fleet.root)

    assert finished.code == 1
    assert finished.document["data"] is None
    assert finished.document["error"]["code"] in {"STORE_FULL", "STORE_UNWRITABLE"}
    assert finished.document["error"]["hint"]
    assert "Traceback" not in finished.words
    assert str(fleet.root.parent) not in finished.words
    assert run("search", "lighthouse", "--root", fleet.root).code == 0


@pytest.mark.parametrize("kib", [64, 400])
def test_a_later_aggregate_has_no_room(
    fleet: FleetBuilder, person: Person, tmp_path: Path, kib: int
) -> None:
    write(fleet, 3, "lighthouse")
    before = opened(person, fleet.root)
    write(fleet, 16, "windmill")

    finished = limited(kib * 1024, "aggregate", "--root", fleet.root)
    searched = limited(kib * 1024, "search", "number", "--json", "--root", fleet.root)

    assert finished.code == 1
    assert "[STORE_FULL]" in finished.words
    # The old store answers, says that it is old, and shows only what the files hold now.
    assert searched.code == 0, searched.words
    assert searched.data["total"] > 0
    assert searched.data["coverage"]["stale"]
    assert [item["code"] for item in searched.document["warnings"]] == ["STORE_STALE"]
    assert all("windmill" in hit["snippet"] for hit in searched.data["hits"])
    # Nothing was lost, and with room everything is taken in.
    write_back(fleet)
    assert opened(person, fleet.root) == before
    write(fleet, 16, "windmill")
    assert opened(person, fleet.root) == fresh(person, fleet.root, tmp_path / "other")


def write_back(fleet: FleetBuilder) -> None:
    """Put the fleet back to what it was before the disk was full."""
    shutil.rmtree(fleet.root)
    fleet.root.mkdir()
    write(fleet, 3, "lighthouse")


def test_no_room_for_the_global_view(fleet: FleetBuilder, person: Person, tmp_path: Path) -> None:
    write(fleet, 20, "lighthouse")
    opened(person, fleet.root)
    target = tmp_path / "global.md"
    target.write_text("old\n")

    finished = limited(100_000, "aggregate", "--markdown", target, "--root", fleet.root)

    assert finished.code == 1
    assert "[PUBLISH_FAILED]" in finished.words
    assert target.read_text() == "old\n"
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".partial")] == []
