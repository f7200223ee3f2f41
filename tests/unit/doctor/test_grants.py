"""The check of the grants of engines."""

from pathlib import Path

import pytest

from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.doctor.fleet import examine
from agentic_os.files.places import places_from
from agentic_os.results import Check
from agentic_os.settings.editing import add_grant, add_root
from agentic_os.settings.values import Grant
from support.engine.builder import engine_project
from support.fleet.builder import FleetBuilder


@pytest.fixture
def granted(fleet: FleetBuilder, person: Person) -> FleetBuilder:
    """A project that names an engine, which is granted, below a root of projects.toml."""
    engine_project(fleet, "shop", "ccc mcp")
    with open_workspace(person, [str(fleet.root)]) as workspace:
        (project,) = workspace.fleet.projects
    places = places_from(person.environ)
    add_root(places, str(fleet.root), current=person.current, home=person.home)
    add_grant(places, Grant(project=project.id, endpoint="ccc mcp"), home=person.home)
    return fleet


def found(person: Person, *roots: str, scope: frozenset[str] | None = None) -> list[Check]:
    with open_workspace(person, roots) as workspace:
        return [each for each in examine(workspace, scope) if each.id == "engine.grants"]


@pytest.mark.usefixtures("granted")
def test_a_grant_that_holds_is_fine(person: Person) -> None:
    (check,) = found(person)

    assert (check.status, check.project) == ("ok", None)


def test_a_grant_of_what_is_no_longer_named(granted: FleetBuilder, person: Person) -> None:
    engine_project(granted, "shop", "other mcp")

    (check,) = found(person)

    assert check.status == "warn"
    assert check.message == "it names other mcp now, not what was granted"
    assert check.hint == f"Look at it, then: agentic-os roots grant {check.project}"


def test_a_grant_of_a_project_that_names_none(granted: FleetBuilder, person: Person) -> None:
    granted.project("shop", "obsidian-graphify")

    (check,) = found(person)

    assert check.message == "it names no engine now, not what was granted"


def test_a_grant_of_a_project_that_is_gone(
    granted: FleetBuilder, person: Person, tmp_path: Path
) -> None:
    (granted.root / "shop").rename(tmp_path / "gone")

    (check,) = found(person)

    assert (check.status, check.message) == ("warn", "no project has this id")
    assert check.hint.endswith(f"agentic-os roots grant {check.project} --revoke")


@pytest.mark.usefixtures("granted")
def test_other_roots_say_nothing_of_it(person: Person, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()

    (check,) = found(person, str(tmp_path / "elsewhere"))

    assert check.status == "ok"


def test_another_project_says_nothing_of_it(granted: FleetBuilder, person: Person) -> None:
    engine_project(granted, "shop", "other mcp")

    (check,) = found(person, scope=frozenset({"another"}))

    assert check.status == "ok"
