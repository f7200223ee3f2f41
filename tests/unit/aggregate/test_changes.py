"""What changed last, by the files' own times."""

import os

import pytest

from agentic_os.aggregate.changes import recent_changes
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.errors import UnknownProjectError
from support.fleet.builder import FleetBuilder

YEAR_2020_NS = 1_577_836_800 * 1_000_000_000


def test_the_newest_files_come_first_and_each_project_has_its_time(
    fleet: FleetBuilder, person: Person
) -> None:
    for name in ("shop", "till"):
        fleet.project(name).fact("rate", "text")
    old = next((fleet.root / "till").rglob("rate.md"))
    for path in (fleet.root / "till").rglob("*.md"):
        os.utime(path, ns=(YEAR_2020_NS, YEAR_2020_NS))
    with open_workspace(person, [str(fleet.root)]) as workspace:
        data = recent_changes(workspace).data
        till = recent_changes(workspace, ["till"], limit=1).data
        with pytest.raises(UnknownProjectError):
            recent_changes(workspace, ["nothing"])
    times = [file.changed_at for file in data.files]
    assert times == sorted(times, reverse=True)
    assert {file.project.rpartition("-")[0] for file in data.files} == {"shop", "till"}
    assert list(till.newest.values()) == ["2020-01-01T00:00:00+00:00"]
    assert len(till.files) == 1
    assert data.files[-1].changed_at.startswith("2020")
    assert old.name == "rate.md"
