"""``query_graph`` in pages, and what the memory choice closes in it."""

import json
from typing import Any

import msgspec
import pytest

from agentic_os.aggregate.workspace import Person
from agentic_os.errors import UsageError
from agentic_os.server.arguments import FleetOverview, QueryGraph, SearchFleet
from agentic_os.server.scope.hiding import HIDDEN_CODE, Hidden
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.calls import call as tool_call
from agentic_os.server.tools.fleet import fleet_overview, search_fleet
from agentic_os.server.tools.graph import query_graph
from support.fleet.builder import FleetBuilder
from support.graph.builder import graph_of
from support.graph.code import pyproject

CALLERS = 60
LIB = {
    "pyproject.toml": pyproject("fancy"),
    "src/fancy/__init__.py": "def load(): ...\n",
}
APP = {
    "pyproject.toml": pyproject("app", "fancy"),
    "app.py": "import fancy\n\n\ndef main():\n    fancy.load()\n",
}
PAGED = [
    QueryGraph(operation="find", name="caller"),
    QueryGraph(operation="neighbors", name="hub"),
    QueryGraph(operation="impact", name="hub"),
]


def node(key: str, path: str) -> dict[str, object]:
    return {"id": key, "label": f"{key}()", "file_type": "code", "source_file": path}


def call(source: str, target: str) -> dict[str, object]:
    kept = {"relation": "calls", "confidence": "EXTRACTED", "source_file": "app.py"}
    return {"source": source, "target": target, **kept}


@pytest.fixture
def busy(fleet: FleetBuilder, person: Person) -> ServedPerson:
    """A hub that sixty functions call, and that one fact and one note are said to use."""
    shop = fleet.project("shop", "obsidian-graphify")
    shop.fact("retry", "The memo() says that the hub retries.", title="Retry")
    shop.index("# Memory\n\n- [Gone](gone.md) — nowhere\n")
    shop.note("note.md", "# Hub\n\nLook at it.\n")
    shop.write("app.py", "hub = 1\n")
    names = [f"caller{number:02}" for number in range(CALLERS)]
    nodes = [node("hub", "app.py"), *(node(name, "app.py") for name in names)]
    # Line 7 is where the fact's text begins.
    nodes += [node("memo", ".agents/memory/retry.md") | {"source_location": "L7"}]
    nodes += [node("remark", ".agents/vault/note.md")]
    links = [call(name, "hub") for name in (*names, "memo", "remark")]
    links.append(call("remark", "caller00"))
    document = {"directed": False, "nodes": nodes, "links": links}
    shop.write("graphify-out/graph.json", json.dumps(document))
    return ServedPerson(person=person, roots=(str(fleet.root),))


@pytest.fixture
def linked(fleet: FleetBuilder, person: Person) -> ServedPerson:
    """A library, and an application that depends on it."""
    for name, files in (("lib", LIB), ("app", APP)):
        project = fleet.project(name, "obsidian-graphify")
        for path, text in files.items():
            project.write(path, text)
        externals = ("fancy",) if name == "app" else ()
        project.write("graphify-out/graph.json", json.dumps(graph_of(files, externals=externals)))
    return ServedPerson(person=person, roots=(str(fleet.root),))


def pages(served: ServedPerson, asked: QueryGraph, member: str) -> list[dict[str, Any]]:
    """All pages of an answer; it ends, and each page says whether it is the last."""
    found = [query_graph(served, asked)]
    while found[-1]["cursor"]:
        assert found[-1]["truncated"]
        assert found[-1]["data"][member]
        assert len(found) <= CALLERS
        found.append(
            query_graph(served, msgspec.structs.replace(asked, cursor=found[-1]["cursor"]))
        )
    assert not found[-1]["truncated"]
    return found


@pytest.mark.parametrize("asked", PAGED, ids=lambda asked: asked.operation)
@pytest.mark.parametrize(("limit", "budget"), [(50, 32_000), (7, 32_000), (50, 2_000)])
def test_the_pages_of_an_answer_are_the_answer(
    busy: ServedPerson, asked: QueryGraph, limit: int, budget: int
) -> None:
    bounded = msgspec.structs.replace(asked, limit=limit, budget=budget)

    answers = pages(busy, bounded, "nodes")

    shown = [one["id"] for answer in answers for one in answer["data"]["nodes"]]
    assert len(shown) == len(set(shown))
    assert {name.rpartition("::")[2] for name in shown} >= {
        f"caller{number:02}" for number in range(CALLERS)
    }
    for answer in answers:
        assert len(json.dumps(answer["data"])) <= 1.2 * budget
        assert len(answer["data"]["nodes"]) <= limit
    edges = [
        (edge["source"], edge["target"])
        for answer in answers
        for edge in answer["data"].get("edges", ())
    ]
    assert len(edges) == len(set(edges))
    if asked.operation != "find":
        # An edge between two neighbours belongs to the next hop.
        assert len(edges) == CALLERS + (2 if asked.operation == "neighbors" else 3)


def test_links_and_stats_come_in_pages(linked: ServedPerson) -> None:
    links = pages(linked, QueryGraph(operation="links", limit=1), "edges")
    stats = pages(linked, QueryGraph(operation="stats", limit=1), "projects")

    whole = query_graph(linked, QueryGraph(operation="links"))["data"]
    assert [edge for page in links for edge in page["data"]["edges"]] == whole["edges"]
    assert len(links) == whole["total"] > 1
    for page in links:
        ends = {page["data"]["edges"][0][end] for end in ("source", "target")}
        assert {one["id"] for one in page["data"]["nodes"]} == ends
    assert [page["data"]["projects"][0]["project"].rpartition("-")[0] for page in stats] == [
        "app",
        "lib",
    ]


def test_a_cursor_belongs_to_its_question(busy: ServedPerson) -> None:
    asked = QueryGraph(operation="find", name="caller", limit=5)
    cursor = query_graph(busy, asked)["cursor"]

    with pytest.raises(UsageError, match="cursor"):
        query_graph(busy, msgspec.structs.replace(asked, name="hub", cursor=cursor))


@pytest.mark.parametrize("asked", PAGED[1:], ids=lambda asked: asked.operation)
def test_memory_off_closes_nodes_of_memory_and_vault(busy: ServedPerson, asked: QueryGraph) -> None:
    asked = msgspec.structs.replace(asked, limit=50, budget=32_000)
    closed = msgspec.structs.replace(asked, memory="off", projects=("shop",))

    shown = json.dumps(pages(busy, asked, "nodes"))
    hidden = pages(busy, closed, "nodes")

    assert "::memo" in shown
    assert "::remark" in shown
    assert "::memo" not in json.dumps(hidden)
    assert "::remark" not in json.dumps(hidden)
    assert ".agents/memory" not in json.dumps(hidden)
    assert hidden[0]["omissions"][-1]["code"] == HIDDEN_CODE
    assert hidden[0]["omissions"][-1]["count"] >= 2
    assert "caller00" in json.dumps(hidden)


def test_memory_off_closes_a_node_that_was_asked_for(busy: ServedPerson) -> None:
    for operation in ("find", "neighbors", "impact"):
        asked = QueryGraph(operation=operation, name="memo", memory="off")
        data = query_graph(busy, asked)["data"]
        assert data["nodes"] == []
        assert data.get("edges", []) == []
        assert data.get("start") is None


def test_memory_off_closes_a_path_that_leads_over_memory(busy: ServedPerson) -> None:
    asked = QueryGraph(operation="path", name="remark", to="hub", undirected=True)

    whole = query_graph(busy, asked)["data"]
    closed = query_graph(busy, msgspec.structs.replace(asked, memory="off"))

    assert len(whole["nodes"]) >= 2
    assert (closed["data"]["nodes"], closed["data"]["edges"]) == ([], [])
    assert closed["omissions"][-1]["code"] == HIDDEN_CODE


def test_memory_off_closes_hits_and_checks_about_memory(busy: ServedPerson) -> None:
    asked = SearchFleet(query="memo", kinds=("graph",))
    shown = search_fleet(busy, asked)
    closed = search_fleet(busy, msgspec.structs.replace(asked, memory="off"))
    sections = FleetOverview(sections=("projects", "health"), budget=32_000)
    checks = fleet_overview(busy, sections)
    allowed = fleet_overview(busy, msgspec.structs.replace(sections, memory="off"))

    assert [hit["path"] for hit in shown["data"]["hits"]] == [".agents/memory/retry.md"]
    assert closed["data"]["hits"] == []
    assert closed["data"]["total"] == 0
    assert closed["cursor"] is None
    assert ".agents/memory/MEMORY.md" in json.dumps(checks["data"])
    assert ".agents/memory/MEMORY.md" not in json.dumps(allowed["data"])


def test_project_memory_keeps_a_walk_within_the_project(linked: ServedPerson) -> None:
    asked = QueryGraph(operation="impact", name="src/fancy/__init__.py", budget=32_000, limit=50)
    within = msgspec.structs.replace(asked, projects=("lib",), memory="project")
    default = msgspec.structs.replace(asked, projects=("lib",))

    everywhere = query_graph(linked, asked)["data"]
    own = query_graph(linked, within)

    assert "app" in {one["project"].rpartition("-")[0] for one in everywhere["nodes"]}
    assert {one["project"].rpartition("-")[0] for one in own["data"]["nodes"]} <= {"lib"}
    assert "app-" not in json.dumps(own["data"])
    assert own["omissions"][-1]["code"] == HIDDEN_CODE
    assert query_graph(linked, default)["data"] == own["data"], "naming a project chooses it"
    shared = msgspec.structs.replace(default, memory="shared")
    assert query_graph(linked, shared)["data"] == everywhere, "shared memory does not narrow a walk"


def test_a_fleet_without_a_graph_is_told_what_to_do(fleet: FleetBuilder, person: Person) -> None:
    fleet.project("shop").fact("retry", "Four tries.")
    served = ServedPerson(person=person, roots=(str(fleet.root),))

    for operation in ("find", "neighbors", "impact", "links", "stats", "path"):
        asked = QueryGraph(operation=operation, name="x", to="y")
        answer = query_graph(served, asked)
        assert [one["code"] for one in answer["omissions"]] == ["GRAPH_NONE"], operation
        assert "search_fleet" in answer["hint"]
        assert answer["truncated"] is False


def test_a_graph_that_is_there_needs_no_hint(busy: ServedPerson) -> None:
    assert "hint" not in query_graph(busy, QueryGraph(operation="find", name="hub"))


def test_meaning_without_an_index_is_a_result_that_says_what_to_do(busy: ServedPerson) -> None:
    answer = tool_call(busy, "full", "search_fleet", {"query": "x", "mode": "semantic"})

    assert answer.failed
    assert answer.document["error"]["code"] == "SEMANTIC_UNAVAILABLE"
    assert ". Make one: agentic-os model prepare" in answer.text


def test_what_is_closed() -> None:
    closed = Hidden(files=frozenset({("a", "m.md")}), projects=frozenset({"a"}))

    assert closed.hides({"place": {"project": "a", "path": "m.md"}})
    assert closed.hides({"evidence": [{"project": "b", "path": "x.py"}]})
    assert not closed.hides({"project": "a", "path": "x.py"})
    assert not closed.hides({"project": None, "path": "m.md", "other": ["b"]})
    assert not Hidden().hides({"project": "b", "path": "m.md"})
