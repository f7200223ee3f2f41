"""The check of the semantic index."""

import sys
from pathlib import Path

import pytest

from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.doctor.fleet import examine
from agentic_os.results import Check
from agentic_os.tiers.index.build import build_index
from agentic_os.tiers.index.table import vectors_folder
from support.fleet.builder import FleetBuilder
from support.model.lent import lend_tiny


@pytest.fixture
def built(fleet: FleetBuilder, person: Person) -> FleetBuilder:
    lend_tiny(data_of(person))
    fleet.project("shop").fact("f", "alpha beta", title="F")
    build_index(person, [str(fleet.root)])
    return fleet


def data_of(person: Person) -> Path:
    return Path(person.environ["AGENTIC_OS_DATA_DIR"])


def check(person: Person, fleet: FleetBuilder) -> Check:
    with open_workspace(person, [str(fleet.root)]) as workspace:
        (found,) = (each for each in examine(workspace) if each.id == "index")
        return found


def test_no_index_is_fine(fleet: FleetBuilder, person: Person) -> None:
    fleet.project("shop").fact("f", "alpha")

    found = check(person, fleet)

    assert (found.status, found.message) == (
        "none",
        "nothing to check: there is no semantic index",
    )


def test_a_whole_index(built: FleetBuilder, person: Person) -> None:
    found = check(person, built)

    assert found.status == "ok"
    assert found.message == "the semantic index holds 1 chunks of 1 projects, by all-MiniLM-L6-v2"


def test_an_index_that_is_behind(built: FleetBuilder, person: Person) -> None:
    built.project("shop").fact("g", "gamma", title="G")

    found = check(person, built)

    assert found.status == "warn"
    assert found.message.startswith("1 files of 1 projects are not in the semantic index")
    assert "agentic-os index build" in found.hint


def test_an_index_of_another_model(built: FleetBuilder, person: Person) -> None:
    (data_of(person) / "models").rename(data_of(person) / "away")
    without = check(person, built)
    lend_tiny(data_of(person), seed=8)
    changed = check(person, built)

    assert (without.status, without.message.partition(":")[0]) == ("warn", "MODEL_MISSING")
    assert (changed.status, changed.message.partition(":")[0]) == ("warn", "EMBEDDER_CHANGED")
    assert without.hint
    assert changed.hint


def test_a_damaged_index(built: FleetBuilder, person: Person) -> None:
    with open_workspace(person, [str(built.root)]) as workspace:
        for path in vectors_folder(workspace.store.space).rglob("*.manifest"):
            path.write_bytes(b"x")

    found = check(person, built)

    assert (found.status, found.message.partition(":")[0]) == ("fail", "INDEX_DAMAGED")


def test_without_the_extra(
    built: FleetBuilder, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lance", None)

    found = check(person, built)

    assert (found.status, found.message.partition(":")[0]) == ("warn", "EXTRA_MISSING")
