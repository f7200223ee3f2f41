import json
import os
from pathlib import Path

import msgspec
import pytest

from agentic_os.errors import UnknownProjectError, UsageError
from agentic_os.server.arguments import FleetOverview, QueryGraph, SearchFleet
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.envelope import within
from agentic_os.server.tools.fleet import fleet_overview, search_fleet
from agentic_os.server.tools.graph import query_graph
from support.fleet.builder import FleetBuilder, ProjectBuilder


def test_search_quotes_with_project_path_and_lines(served: ServedPerson, root: Path) -> None:
    found = search_fleet(served, SearchFleet(query="dunning"))

    (hit,) = found["data"]["hits"]
    assert (hit["path"], hit["lines"]) == (".agents/memory/retry.md", [7, 7])
    assert set(hit) <= {"project", "name", "kind", "path", "lines", "snippet", "relevance"}
    assert str(root.parent) not in json.dumps(found)
    assert found["cursor"] is None


def test_details_come_on_request(served: ServedPerson) -> None:
    short = search_fleet(served, SearchFleet(query="dunning"))
    whole = search_fleet(served, SearchFleet(query="dunning", details=True))

    (hit,) = whole["data"]["hits"]
    assert hit["confirmed"]
    assert len(hit["sha256"]) == 64
    assert short["data"]["coverage"] == {"projects_searched": 2}
    assert set(whole["data"]["coverage"]) > {"projects_searched", "surfaces"}


def test_only_what_changed_since(served: ServedPerson, fleet: FleetBuilder) -> None:
    shop = ProjectBuilder(folder=fleet.root / "shop")
    old = shop.folder / ".agents/memory/retry.md"
    os.utime(old, (1_000_000_000, 1_000_000_000))
    shop.fact("new", "dunning starts anew", title="New")

    def paths(since: str) -> set[str]:
        asked = SearchFleet(query="dunning", changed_since=since)
        found = search_fleet(served, asked)["data"]
        return {hit["path"] for hit in found["hits"]}

    assert paths("7d") == paths("12h") == {".agents/memory/new.md"}
    assert paths("2001-09-10") == {".agents/memory/new.md"}
    assert paths("2001-09-08") == {".agents/memory/new.md", ".agents/memory/retry.md"}
    assert paths("2999-01-01T00:00:00Z") == set()
    with pytest.raises(UsageError, match="changed_since"):
        paths("yesterday")


def test_search_goes_on_with_a_cursor(served: ServedPerson) -> None:
    first = search_fleet(served, SearchFleet(query="retry", limit=1))
    second = search_fleet(served, SearchFleet(query="retry", limit=1, cursor=first["cursor"]))

    assert first["truncated"]
    assert first["data"]["hits"] != second["data"]["hits"]


def test_memory_off_closes_memory_and_vault(served: ServedPerson) -> None:
    closed = search_fleet(served, SearchFleet(query="dunning", memory="off"))
    only = search_fleet(served, SearchFleet(query="dunning", memory="off", kinds=("memory",)))
    graph = search_fleet(served, SearchFleet(query="load", memory="off"))

    assert closed["data"]["hits"] == only["data"]["hits"] == []
    assert [hit["kind"] for hit in graph["data"]["hits"]] == ["graph"]


def test_memory_project_needs_a_project(served: ServedPerson) -> None:
    with pytest.raises(UsageError):
        search_fleet(served, SearchFleet(query="x", memory="project"))
    with pytest.raises(UsageError):
        fleet_overview(served, FleetOverview(memory="project"))


def test_an_unknown_project_is_an_error(served: ServedPerson) -> None:
    with pytest.raises(UnknownProjectError):
        search_fleet(served, SearchFleet(query="x", projects=("nobody",)))


def test_the_overview_lists_every_section(served: ServedPerson) -> None:
    found = fleet_overview(
        served,
        FleetOverview(sections=("projects", "memory", "capabilities", "health"), budget=32_000),
    )

    rows = found["data"]["rows"]
    assert {row["section"] for row in rows} == {"projects", "memory", "capabilities", "health"}
    assert {row["name"] for row in rows if row["section"] == "projects"} == {"shop", "other"}
    assert {row["name"] for row in rows if row["section"] == "capabilities"} == {"plan", "ctx"}
    titles = {row["title"] for row in rows if row["section"] == "memory"}
    assert "Retry" in titles
    assert "empty" not in titles


def test_the_overview_comes_in_pages(served: ServedPerson) -> None:
    asked = FleetOverview(sections=("projects", "memory", "capabilities"), budget=1_000)
    first = fleet_overview(served, asked)
    rest = fleet_overview(served, msgspec.structs.replace(asked, cursor=first["cursor"]))

    assert first["truncated"]
    assert first["data"]["rows"][0] not in rest["data"]["rows"]


def test_the_overview_without_memory(served: ServedPerson) -> None:
    found = fleet_overview(served, FleetOverview(sections=("memory",), memory="off"))

    assert found["data"] == {"total": 0, "rows": []}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (QueryGraph(operation="find", name="load"), "load()"),
        (QueryGraph(operation="neighbors", name="load"), "main()"),
        (QueryGraph(operation="path", name="main", to="load"), "calls"),
        (QueryGraph(operation="impact", name="load"), "main()"),
        (QueryGraph(operation="links"), "near_total"),
        (QueryGraph(operation="stats"), "nodes"),
    ],
)
def test_the_graph_answers(served: ServedPerson, asked: QueryGraph, expected: str) -> None:
    assert expected in json.dumps(query_graph(served, asked)["data"])


def test_the_graph_needs_its_names(served: ServedPerson) -> None:
    for asked in (
        QueryGraph(operation="find"),
        QueryGraph(operation="path", name="main"),
    ):
        with pytest.raises(UsageError):
            query_graph(served, asked)


def test_a_long_graph_answer_is_cut_from_the_end_and_says_so() -> None:
    nodes = [{"id": f"node-{number}", "label": "x" * 80} for number in range(50)]

    data, cut = within({"outcome": "found", "nodes": list(nodes), "edges": []}, 1_000)
    same, uncut = within({"outcome": "found", "nodes": nodes[:2]}, 1_000)

    assert cut
    assert data["nodes"] == nodes[: len(data["nodes"])]
    assert len(json.dumps(data)) <= 1_100
    assert not uncut
    assert same["nodes"] == nodes[:2]


def test_what_has_no_list_is_left_as_it_is() -> None:
    assert within({"text": "x" * 2_000}, 1_000) == ({"text": "x" * 2_000}, False)
