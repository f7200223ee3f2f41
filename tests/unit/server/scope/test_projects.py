from pathlib import Path

import pytest
from msgspec import UNSET, UnsetType

from agentic_os.errors import UnknownProjectError, UsageError
from agentic_os.server.arguments import FleetOverview, Memory, SearchFleet
from agentic_os.server.scope.projects import effective_memory
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.fleet import fleet_overview, search_fleet
from support.aios.builder import AiosBuilder
from support.fleet.builder import FleetBuilder


@pytest.fixture
def folder(places: Path) -> AiosBuilder:
    (places / "aios").mkdir()
    built = AiosBuilder(places / "aios")
    built.project(
        "till",
        "# Till\n",
        id="p_till",
        name="Till",
        status="active",
        repo_url="git@github.com:Acme/Shop.git",
    )
    built.project("boat", "# Boat\n", id="p_boat", name="Boat", status="active")
    return built


@pytest.fixture
def joined(served: ServedPerson, fleet: FleetBuilder, folder: AiosBuilder) -> ServedPerson:
    git = fleet.root / "shop/.git"
    git.mkdir()
    git.joinpath("HEAD").write_text("ref: refs/heads/main\n")
    git.joinpath("config").write_text(
        '[remote "origin"]\n\turl = https://github.com/acme/shop\n', encoding="utf-8"
    )
    assert folder.root.is_dir()
    return served


@pytest.mark.parametrize("selector", ["till", "p_till"])
def test_an_aios_project_means_the_fleet_project_of_its_repository(
    joined: ServedPerson, selector: str
) -> None:
    asked = FleetOverview(projects=(selector,), memory="project")

    rows = fleet_overview(joined, asked)["data"]["rows"]
    hits = search_fleet(joined, SearchFleet(query="retry", projects=("till",), memory="project"))

    assert [row["name"] for row in rows] == ["shop"]
    assert {hit["project"].rpartition("-")[0] for hit in hits["data"]["hits"]} == {"shop"}


@pytest.mark.parametrize("selector", ["boat", "nobody", "a/b"])
def test_what_has_no_repository_in_the_fleet_is_unknown(
    joined: ServedPerson, selector: str
) -> None:
    with pytest.raises(UnknownProjectError):
        fleet_overview(joined, FleetOverview(projects=(selector,), memory="project"))


def test_with_shared_memory_only_the_fleet_is_asked(joined: ServedPerson) -> None:
    with pytest.raises(UnknownProjectError):
        fleet_overview(joined, FleetOverview(projects=("till",), memory="shared"))


def test_naming_an_aios_project_alone_chooses_project_memory(joined: ServedPerson) -> None:
    rows = fleet_overview(joined, FleetOverview(projects=("till",)))["data"]["rows"]

    assert [row["name"] for row in rows] == ["shop"]


def test_an_aios_folder_is_not_needed(served: ServedPerson) -> None:
    rows = fleet_overview(served, FleetOverview(projects=("shop",), memory="project"))["data"][
        "rows"
    ]

    assert [row["name"] for row in rows] == ["shop"]
    with pytest.raises(UnknownProjectError):
        fleet_overview(served, FleetOverview(projects=("till",), memory="project"))


@pytest.mark.parametrize(
    ("memory", "names", "effective"),
    [
        (UNSET, (), "shared"),
        (UNSET, ("shop",), "project"),
        ("shared", (), "shared"),
        ("shared", ("shop",), "shared"),
        ("project", ("shop",), "project"),
        ("off", (), "off"),
        ("off", ("shop",), "off"),
    ],
)
def test_the_memory_choice(
    memory: Memory | UnsetType, names: tuple[str, ...], effective: str
) -> None:
    assert effective_memory(memory, names) == effective


def test_project_memory_names_a_project() -> None:
    with pytest.raises(UsageError):
        effective_memory("project", ())
