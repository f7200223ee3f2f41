"""Which projects a text names."""

from pathlib import Path

import pytest

from agentic_os.aggregate.cross_links import (
    MAX_LINKS_ENTRIES,
    MIN_FREE_CHARS,
    Names,
    cross_links,
    names_of,
)
from agentic_os.aggregate.fleet import Person, find_fleet
from agentic_os.registry.fleet import Fleet
from agentic_os.registry.project import Project
from support.fleet.builder import FleetBuilder


@pytest.fixture
def found(fleet: FleetBuilder, person: Person) -> Fleet:
    """Projects of telling names, everyday names and short ones."""
    for name, path in (
        ("billing", "billing"),
        ("billing api", "services/billing-api"),
        ("web", "web"),
        ("qx", "short"),
        ("own", "own"),
    ):
        fleet.project(name, path=path)
    return find_fleet(person, [str(fleet.root)]).fleet


@pytest.fixture
def own(found: Fleet) -> Project:
    return next(project for project in found.projects if project.name == "own")


@pytest.fixture
def names(found: Fleet) -> Names:
    return names_of(found.projects)


def linked(text: str, own: Project, names: Names) -> list[tuple[str, str, int]]:
    return [
        (link.target.rpartition("-")[0], link.text, link.line)
        for link in cross_links(text, own=own, names=names)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ask billing first", [("billing", "billing", 1)]),
        ("one\nthe BILLING team", [("billing", "BILLING", 2)]),
        ("the billing api is slow", [("billing-api", "billing api", 1)]),
        ("the services/billing-api folder", [("billing-api", "billing-api", 1)]),
        ("rebillings are not billing-ish", []),
        ("own billing, own billing", [("billing", "billing", 1)]),
        ("use the web for it", []),
        ("the `web` front", [("web", "web", 1)]),
        ("see [[web|that]]", [("web", "web", 1)]),
        ("the project web has it", [("web", "web", 1)]),
        ("in the web repository", [("web", "web", 1)]),
        ("a qx is a unit", []),
        ("in project qx", [("short", "qx", 1)]),
        ("nothing of it / or of this", []),
    ],
)
def test_names_in_a_text(
    text: str, expected: list[tuple[str, str, int]], own: Project, names: Names
) -> None:
    assert linked(text, own, names) == expected


@pytest.mark.parametrize(
    "path", ["../web", "x/../web", "{root}/web", "~/fleet/web/", "../own/../web", "./../web."]
)
def test_paths_in_a_text(
    path: str, own: Project, names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(own.root.parent))

    found = linked(f"look into {path.format(root=own.root)} now", own, names)

    assert [target for target, _, _ in found] == ["web"]


def test_a_path_above_everything_is_no_project(own: Project, names: Names) -> None:
    assert linked("../" * 60 + "etc", own, names) == []
    assert linked("see /etc/passwd and a/b/c", own, names) == []


def test_aliases_and_checkouts_count(fleet: FleetBuilder, person: Person) -> None:
    project = fleet.project("warehouse")
    fleet.project("own")
    settings = person.home / "config"
    settings.mkdir()
    (settings / "projects.toml").write_text(
        f'roots = ["{fleet.root}"]\n'
        f'[[project]]\npath = "{project.folder}"\naliases = ["the depot"]\n'
    )
    found = find_fleet(person, []).fleet
    own = next(project for project in found.projects if project.name == "own")

    links = linked("bring it to the depot", own, names_of(found.projects))

    assert links == [("warehouse", "the depot", 1)]


def test_links_are_bounded(fleet: FleetBuilder, person: Person) -> None:
    for number in range(MAX_LINKS_ENTRIES + 5):
        fleet.project(f"name{number:03}")
    found = find_fleet(person, [str(fleet.root)]).fleet
    text = "\n".join(project.name for project in found.projects)

    links = cross_links(text, own=found.projects[0], names=names_of(found.projects))

    assert len(links) == MAX_LINKS_ENTRIES


def test_a_name_without_a_word_is_never_met(fleet: FleetBuilder, person: Person) -> None:
    fleet.project("...", path="dots")
    fleet.project("own")
    found = find_fleet(person, [str(fleet.root)]).fleet
    own = next(project for project in found.projects if project.name == "own")

    assert linked("so ... it is", own, names_of(found.projects)) == []
    assert [target for target, _, _ in linked("ask dots", own, names_of(found.projects))] == [
        "dots"
    ]
    assert isinstance(own.folder, Path)


def test_the_shortest_name_that_needs_no_mark(fleet: FleetBuilder, person: Person) -> None:
    for length in (MIN_FREE_CHARS - 1, MIN_FREE_CHARS):
        fleet.project("q" * length)
    fleet.project("own")
    found = find_fleet(person, [str(fleet.root)]).fleet
    own = next(project for project in found.projects if project.name == "own")

    assert linked("q" * (MIN_FREE_CHARS - 1), own, names_of(found.projects)) == []
    assert len(linked("q" * MIN_FREE_CHARS, own, names_of(found.projects))) == 1
