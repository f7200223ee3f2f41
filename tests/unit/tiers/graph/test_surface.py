"""The code graph beside full text: which names answer a query, and within which bounds."""

import itertools
import json
from collections.abc import Iterator

import pytest

from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.tiers.graph import surface as graph_hits
from agentic_os.tiers.graph.surface import GraphSurface
from agentic_os.tiers.interface import Query
from agentic_os.tiers.route import search
from support.fleet.builder import FleetBuilder
from support.graph.builder import GRAPH


def graph(*labels: str) -> str:
    nodes = [
        {
            "id": f"n{number}",
            "label": label,
            "file_type": "code",
            "source_file": "a.py",
            "source_location": f"L{number + 1}",
        }
        for number, label in enumerate(labels)
    ]
    return json.dumps({"nodes": nodes, "links": []})


@pytest.fixture
def workspace(fleet: FleetBuilder, person: Person) -> Iterator[Workspace]:
    for name, labels in {
        "one": ("load_all()", "loadAll2()", "the load of it", "unrelated()"),
        "two": ("load()", ".load()", "reload"),
    }.items():
        built = fleet.project(name, "obsidian-graphify")
        built.write(GRAPH, graph(*labels))
        built.write("a.py", "".join(f"{label}\n" for label in labels))
    with open_workspace(person, [str(fleet.root)]) as opened:
        yield opened


def names(workspace: Workspace, text: str, projects: frozenset[str] | None = None) -> list[str]:
    found = GraphSurface(workspace.store).find(Query(text=text, projects=projects)).found
    return [candidate.name for candidate in found.candidates]


def id_of(workspace: Workspace, name: str) -> str:
    return next(project.id for project in workspace.fleet.projects if project.name == name)


def test_the_name_itself_comes_first_then_the_shortest(workspace: Workspace) -> None:
    assert names(workspace, "load") == [
        "load()",
        ".load()",
        "load_all()",
        "loadAll2()",
        "the load of it",
    ]
    assert names(workspace, "load all") == ["load_all()", "loadAll2()"]
    assert names(workspace, "loadAll2") == ["loadAll2()"]
    assert names(workspace, "LOAD") == names(workspace, "load")
    assert names(workspace, "!!") == []


def test_a_scope_counts_nothing_of_other_projects(workspace: Workspace) -> None:
    scope = frozenset({id_of(workspace, "two")})
    assert names(workspace, "load", projects=scope) == ["load()", ".load()"]
    assert names(workspace, "load", projects=frozenset()) == []


def test_a_bound_never_loses_the_name_itself(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_hits, "MAX_MATCHES_ENTRIES", 2)

    found = GraphSurface(workspace.store).find(Query(text="load"))

    assert [candidate.name for candidate in found.found.candidates] == ["load()", ".load()"]
    assert [item.code for item in found.omissions] == ["GRAPH_MATCHES_CUT"]


def test_a_graph_that_takes_too_long_is_left_out_and_the_answer_incomplete(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_hits, "_STEPS", 1)
    monkeypatch.setattr(graph_hits, "TIME_LIMIT_SECONDS", -1.0)
    clock = itertools.count()
    monkeypatch.setattr("agentic_os.tiers.graph.surface.time.perf_counter", lambda: next(clock))

    found = GraphSurface(workspace.store, seconds=0.5).find(Query(text="load"))
    answer = search(workspace, Query(text="load"))

    assert [item.code for item in found.omissions] == ["GRAPH_TIME_OUT"]
    assert "GRAPH_TIME_OUT" in [item.code for item in answer.omissions]
    assert answer.incomplete


def test_another_fault_of_the_store_is_not_taken_for_lateness(workspace: Workspace) -> None:
    surface = GraphSurface(workspace.store)
    workspace.store.connection.execute("ROLLBACK")
    workspace.store.connection.execute("PRAGMA query_only=0")
    workspace.store.connection.execute("DROP TABLE graph_words")

    with pytest.raises(Exception, match="no such table"):
        surface.find(Query(text="load"))
