"""Questions to the graph: names, neighbours, paths, impact, links, stats, export."""

import json
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

from agentic_os.aggregate.graph.intake.reader import read_graph
from agentic_os.errors import GraphError, UsageError
from agentic_os.tiers.graph.analytics import analytics
from agentic_os.tiers.graph.answers import NeighborsData, PathData
from agentic_os.tiers.graph.context import CodeGraph, GraphFolder
from agentic_os.tiers.graph.export import export, export_parts
from agentic_os.tiers.graph.links import links, stats
from agentic_os.tiers.graph.near import find, neighbors
from agentic_os.tiers.graph.paths import impact, path
from support.graph.builder import GraphFleet, graph_of
from support.graph.code import pyproject

LIB = {
    "pyproject.toml": pyproject("fancy"),
    "src/fancy/__init__.py": "def load(): ...\n\ndef load_all(): ...\n",
    "src/fancy/core.py": "class Loader:\n    def run(self): ...\n\n    def stop(self): ...\n",
}
APP = {
    "pyproject.toml": pyproject("app", "fancy"),
    "app.py": (
        "import fancy\nfrom fancy.core import Loader\n\n"
        "def main():\n    fancy.load()\n\nclass Mine(Loader):\n    def run(self): ...\n"
    ),
    "cli.py": "import app\n",
}
TOP = {"pyproject.toml": pyproject("top", "app"), "top.py": "x = 1\n\ndef start(): ...\n"}


def with_calls(document: dict[str, object], *calls: tuple[str, str, str]) -> dict[str, object]:
    rows = document["links"]
    assert isinstance(rows, list)
    rows.extend(
        {
            "source": source,
            "target": target,
            "relation": "calls",
            "confidence": confidence,
            "source_file": source.partition(":")[0],
            "source_location": "L2",
        }
        for source, target, confidence in calls
    )
    return document


@pytest.fixture
def graphs(tmp_path: Path) -> GraphFleet:
    fleet = GraphFleet.at(tmp_path / "fleet")
    fleet.write("lib", LIB)
    fleet.write("app", APP)
    fleet.write("top", TOP)
    fleet.graph(
        "app",
        with_calls(
            graph_of(APP, externals=("os", "fancy")),
            ("cli.py", "app.py:main", "EXTRACTED"),
            ("app.py:Mine.run", "cli.py", "AMBIGUOUS"),
        ),
    )
    fleet.graph("top", graph_of(TOP, externals=("os",)))
    fleet.refresh("lib", "app", "top")
    return fleet


@pytest.fixture
def graph(graphs: GraphFleet) -> Iterator[CodeGraph]:
    folders = {
        name: GraphFolder(folder=graphs.root / name, commit="c1") for name in ("lib", "app", "top")
    }
    yield CodeGraph(graphs.connection, folders)
    graphs.connection.close()


def only(*names: str) -> frozenset[str]:
    return frozenset(names)


# -- find ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "how", "ids"),
    [
        ("load", "exact", ["lib::src/fancy/__init__.py:load"]),
        ("load()", "exact", ["lib::src/fancy/__init__.py:load"]),
        ("LOAD", "exact", ["lib::src/fancy/__init__.py:load"]),
        ("Loader", "exact", ["lib::src/fancy/core.py:Loader"]),
        ("loader", "exact", ["lib::src/fancy/core.py:Loader"]),
        ("stop", "exact", ["lib::src/fancy/core.py:Loader.stop"]),
        ("lib::src/fancy/core.py", "id", ["lib::src/fancy/core.py"]),
        ("lib::load", "id", ["lib::src/fancy/__init__.py:load"]),
        ("src/fancy/core.py", "path", ["lib::src/fancy/core.py"]),
        ("fancy/core.py", "path", ["lib::src/fancy/core.py"]),
        ("core.py", "path", ["lib::src/fancy/core.py"]),
        ("fancy/core.py:run", "path", ["lib::src/fancy/core.py:Loader.run"]),
        (
            "loa",
            "prefix",
            [
                "lib::src/fancy/core.py:Loader",
                "lib::src/fancy/__init__.py:load",
                "lib::src/fancy/__init__.py:load_all",
            ],
        ),
        ("sto", "prefix", ["lib::src/fancy/core.py:Loader.stop"]),
        ("ad_al", "substring", ["lib::src/fancy/__init__.py:load_all"]),
        ("_a", "substring", ["lib::src/fancy/__init__.py:load_all"]),
        ("%", None, []),
        ("lo_d", None, []),
        ("nothing", None, []),
        ("gone::x", None, []),
    ],
)
def test_names_are_found_the_best_way_first(
    graph: CodeGraph, name: str, how: str | None, ids: list[str]
) -> None:
    data = find(graph, name).data
    assert (data.how, [node.id for node in data.nodes], data.total) == (how, ids, len(ids))


def test_find_is_limited_and_scoped(graph: CodeGraph) -> None:
    assert find(graph, "run").data.total == 2
    (node,) = find(graph, "run", projects=only("app")).data.nodes
    assert (node.project, node.label) == ("app", ".run()")
    assert node.place is not None
    assert (node.place.path, node.place.line, node.place.holds) == ("app.py", 8, True)
    assert len(find(graph, "run", limit=1).data.nodes) == 1
    for bad in ("", "  "):
        with pytest.raises(UsageError):
            find(graph, bad)
    with pytest.raises(UsageError):
        find(graph, "x", limit=0)


def test_whether_a_line_still_holds_follows_the_file(graph: CodeGraph, graphs: GraphFleet) -> None:
    def held() -> bool | None:
        place = find(graph, "load").data.nodes[0].place
        assert place is not None
        return place.holds

    target = graphs.root / "lib/src/fancy/__init__.py"
    assert held() is True
    target.write_text("# moved\n" + target.read_text())
    assert held() is False
    target.unlink()
    assert held() is False
    unknown = CodeGraph(graphs.connection, {})
    assert find(unknown, "load").data.nodes[0].place is not None
    assert find(unknown, "load").data.nodes[0].place.holds is None  # type: ignore[union-attr]


def test_labels_of_a_project_cannot_reach_the_terminal(tmp_path: Path) -> None:
    fleet = GraphFleet.at(tmp_path)
    nodes = [
        {
            "id": "x\x1b[31m",
            "label": "evil\x1b]0;t\x07\u202e\nnext",
            "file_type": "code",
            "source_file": "a.py",
        }
    ]
    fleet.graph("sly", {"nodes": nodes, "links": []})
    fleet.refresh("sly")
    graph = CodeGraph(fleet.connection, {})
    (node,) = find(graph, "evil").data.nodes
    assert not set(node.label + node.id) & {"\x1b", "\x07", "\n", "\u202e"}
    fleet.close()


# -- neighbors -----------------------------------------------------------------------------------


def ends(data: NeighborsData | PathData) -> set[tuple[str, str, str]]:
    return {(edge.source, edge.relation, edge.target) for edge in data.edges}


def test_neighbors_cross_projects_in_both_directions(graph: CodeGraph) -> None:
    answer = neighbors(graph, "load")
    data = answer.data
    assert data.outcome == "found"
    assert ends(data) == {
        ("lib::src/fancy/__init__.py", "contains", "lib::src/fancy/__init__.py:load"),
        ("app::app.py:main", "calls", "lib::src/fancy/__init__.py:load"),
    }
    crossing = next(edge for edge in data.edges if edge.relation == "calls")
    assert (crossing.rule, crossing.confidence, crossing.score) == ("R3", "EXTRACTED", 1.0)
    assert [
        (place.project, place.path, place.line, place.holds) for place in crossing.evidence
    ] == [
        ("app", "app.py", 5, True),
        ("lib", "src/fancy/__init__.py", 1, True),
    ]
    assert neighbors(graph, "load", direction="out").data.edges == ()
    assert {node.distance for node in data.nodes} == {1}


def test_neighbors_follow_depth_relations_scope_and_limit(graph: CodeGraph) -> None:
    deep = neighbors(graph, "load", depth=2, direction="in").data
    assert ("cli.py" in {node.label for node in deep.nodes}) is True
    assert {node.distance for node in deep.nodes} == {1, 2}
    calls = neighbors(graph, "load", depth=2, direction="in", relations=["calls"]).data
    assert {edge.relation for edge in calls.edges} == {"calls"}
    assert [node.label for node in calls.nodes] == ["main()", "cli.py"]
    assert neighbors(graph, "load", relations=["no-such"]).data.nodes == ()
    inside = neighbors(graph, "load", projects=only("lib")).data
    assert {node.project for node in inside.nodes} == {"lib"}
    cut = neighbors(graph, "src/fancy/core.py", depth=3, limit=1).data
    assert (len(cut.nodes), cut.truncated) == (1, True)
    with pytest.raises(UsageError):
        neighbors(graph, "load", depth=0)


def test_ambiguous_edges_are_never_followed_but_counted(graph: CodeGraph) -> None:
    data = neighbors(graph, "app::app.py:Mine.run").data
    assert data.ambiguous_left_out == 1
    assert "cli.py" not in {node.label for node in data.nodes}


def test_externals_are_entered_only_when_asked(graph: CodeGraph) -> None:
    assert not any(node.external for node in neighbors(graph, "app.py", depth=3).data.nodes)
    data = neighbors(graph, "app.py", externals=True).data
    assert {node.id for node in data.nodes if node.external} == {"external::os", "external::fancy"}


def test_an_unclear_name_lists_its_candidates(graph: CodeGraph) -> None:
    several = neighbors(graph, "run").data
    assert (several.outcome, len(several.candidates), several.nodes) == ("ambiguous", 2, ())
    near = neighbors(graph, "loade").data
    assert (near.outcome, [node.label for node in near.candidates]) == ("unknown", ["Loader"])


# -- path ----------------------------------------------------------------------------------------


def test_a_path_crosses_projects_along_the_edges(graph: CodeGraph) -> None:
    data = path(graph, "cli.py", "load").data
    assert (data.outcome, data.hops) == ("found", 2)
    assert [node.id for node in data.nodes] == [
        "app::cli.py",
        "app::app.py:main",
        "lib::src/fancy/__init__.py:load",
    ]
    assert [edge.rule for edge in data.edges] == ["", "R3"]
    assert path(graph, "load", "cli.py").data.outcome == "no-path"
    back = path(graph, "load", "cli.py", directed=False).data
    assert (back.outcome, back.hops) == ("found", 2)
    same = path(graph, "load", "load").data
    assert (same.outcome, same.hops, len(same.nodes)) == ("found", 0, 1)


def test_a_path_avoids_what_its_own_evidence_refutes(graph: CodeGraph) -> None:
    folder = graph.folders["app"].folder
    kept = (folder / "app.py").read_text()
    (folder / "app.py").write_text("# moved\n" + kept)
    changed = path(graph, "cli.py", "load").data
    assert (changed.outcome, changed.hops, changed.refuted) == ("found", 2, 0)
    assert [edge.evidence[0].holds for edge in changed.edges] == [True, False]

    (folder / "app.py").write_text(kept.replace("fancy.load()", "pass"))
    refuted = path(graph, "cli.py", "load").data
    assert (refuted.outcome, refuted.edges, refuted.refuted) == ("no-path", (), 1)

    (folder / "app.py").unlink()
    gone = path(graph, "cli.py", "load").data
    assert (gone.outcome, gone.nodes) == ("no-path", ())
    assert gone.refuted >= 1


def test_no_path_is_told_apart_from_giving_up(graph: CodeGraph) -> None:
    nowhere = path(graph, "start", "load")
    assert (nowhere.data.outcome, nowhere.incomplete) == ("no-path", False)
    tired = path(graph, "cli.py", "load", budget=1)
    assert (tired.data.outcome, tired.incomplete) == ("budget-exhausted", True)
    with pytest.raises(UsageError):
        path(graph, "cli.py", "load", budget=0)


def test_a_path_through_an_external_is_found_only_when_asked(graph: CodeGraph) -> None:
    assert path(graph, "top.py", "app.py", directed=False).data.outcome == "no-path"
    data = path(graph, "top.py", "app.py", directed=False, externals=True).data
    assert [node.id for node in data.nodes] == ["top::top.py", "external::os", "app::app.py"]


def test_a_path_keeps_to_relations_and_projects(graph: CodeGraph) -> None:
    assert path(graph, "cli.py", "load", relations=["imports"]).data.outcome == "no-path"
    scoped = path(graph, "cli.py", "load", projects=only("app")).data
    assert (scoped.outcome, scoped.unsettled) == ("unknown", "target")
    unclear = path(graph, "run", "load").data
    assert (unclear.outcome, unclear.unsettled, len(unclear.candidates)) == (
        "ambiguous",
        "source",
        2,
    )


# -- impact --------------------------------------------------------------------------------------


def test_impact_counts_who_depends_over_all_projects_by_distance(graph: CodeGraph) -> None:
    data = impact(graph, "load").data
    assert [(node.label, node.distance) for node in data.nodes] == [("main()", 1), ("cli.py", 2)]
    assert [(item.project, item.nodes, item.nearest) for item in data.projects] == [("app", 2, 1)]
    assert impact(graph, "load", depth=1).data.total == 1
    assert impact(graph, "start").data.total == 0


def test_what_a_node_contains_counts_as_the_node(graph: CodeGraph) -> None:
    data = impact(graph, "src/fancy/core.py").data
    assert {node.label for node in data.nodes} == {"app.py", "Mine"}
    assert {edge.relation for edge in data.edges} == {"imports", "inherits"}
    assert data.total == 2
    assert len(impact(graph, "src/fancy/core.py", limit=1).data.nodes) == 1
    assert impact(graph, "run").data.outcome == "ambiguous"


# -- links and stats -----------------------------------------------------------------------------


def test_links_list_edges_and_near_misses(graph: CodeGraph, graphs: GraphFleet) -> None:
    (graphs.root / "top/top.py").write_text("import fancy\nfancy.gone()\n")
    (graphs.root / "top/pyproject.toml").write_text(pyproject("top", "fancy"))
    graphs.refresh("lib", "app", "top")
    data = links(graph).data
    assert data.total == len(data.edges) == sum(item.count for item in data.counts)
    assert {item.rule for item in data.counts} == {"R1", "R2", "R3"}
    (miss,) = data.near
    assert (miss.code, miss.subject, miss.candidates) == ("NAME_UNKNOWN", "fancy.gone", ("lib",))
    assert (miss.place.project, miss.place.path, miss.place.line) == ("top", "top.py", 2)
    assert {edge.rule for edge in links(graph, rules=["R1"]).data.edges} == {"R1"}
    assert links(graph, projects=only("app")).data.near_total == 0
    assert links(graph, projects=only("lib")).data.near_total == 1
    assert links(graph, near=False).data.near == ()
    assert len(links(graph, limit=1).data.edges) == 1


def test_stats_say_what_is_held_and_what_is_missing(graph: CodeGraph, graphs: GraphFleet) -> None:
    (graphs.root / "bare").mkdir()
    graphs.graph("bad", b"{")
    document = graph_of(LIB)
    document["built_at_commit"] = "c0"
    document["hyperedges"] = [{"id": "h", "label": "h", "nodes": ["src/fancy/core.py"]}]
    graphs.graph("lib", document)
    graphs.refresh("lib", "app", "top", "bare", "bad")
    asked = CodeGraph(graphs.connection, graph.folders)
    answer = stats(asked)
    rows = {item.project: item for item in answer.data.projects}
    assert {name: item.status for name, item in rows.items()} == {
        "app": "current",
        "bad": "refused",
        "bare": "missing",
        "lib": "current",
        "top": "current",
    }
    assert (rows["lib"].behind, rows["app"].behind) == (True, None)
    assert (rows["lib"].hyperedges, rows["lib"].synthetic, rows["app"].external) == (1, 1, 2)
    assert rows["bad"].diagnostic is not None
    assert rows["bad"].diagnostic.code == "GRAPH_TRUNCATED"
    assert answer.incomplete
    assert {(item.code, item.scope) for item in answer.omissions} == {
        ("GRAPH_MISSING", "bare"),
        ("GRAPH_TRUNCATED", "bad"),
    }
    assert answer.data.nodes == sum(item.nodes for item in rows.values())
    assert answer.data.relations["contains"] > 0
    assert stats(asked, projects=only("lib", "gone")).omissions[0].code == "GRAPH_NONE"
    graphs.graph("lib", b"[]")
    graphs.refresh("lib", "app", "top", "bare", "bad")
    kept = stats(asked, projects=only("lib"))
    assert (kept.incomplete, kept.omissions[0].code) == (True, "GRAPH_NOT_OBJECT")
    assert "last good graph" in kept.omissions[0].reason


def test_analytics_names_central_nodes_and_communities(graph: CodeGraph) -> None:
    data = stats(graph, analytics=True).data.analytics
    assert data is not None
    assert data.central[0].in_degree >= data.central[-1].in_degree
    assert data.central[0].node.label in {
        "load()",
        "Loader",
        "core.py",
        "__init__.py",
        "main()",
        "fancy",
    }
    assert sum(group.size for group in data.communities) > 0
    assert any(len(group.projects) == 2 for group in data.communities)
    empty = analytics(graph, projects=only("nobody"))
    assert (empty.components, empty.central) == (0, ())


def test_analytics_refuses_what_is_too_large(
    graph: CodeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentic_os.tiers.graph.analytics.MAX_ANALYSED_NODES", 3)
    with pytest.raises(GraphError) as caught:
        analytics(graph)
    assert caught.value.code == "GRAPH_TOO_LARGE_TO_ANALYSE"


# -- export --------------------------------------------------------------------------------------


def test_a_node_link_export_is_read_back_as_the_same_graph(graph: CodeGraph) -> None:
    answer = export(graph, "node-link")
    again = read_graph(answer.data.document.encode())
    assert again.counts == {}
    assert (len(again.nodes), len(again.edges)) == (answer.data.nodes, answer.data.edges)
    ids = {node.key for node in again.nodes}
    assert "app::app.py:main" in ids
    assert "external::os" in ids
    crossing = [edge for edge in again.edges if edge.context == "cross_repo"]
    assert len(crossing) == len(links(graph).data.edges)
    some = json.loads("".join(export_parts(graph, "node-link", projects=only("lib"))))
    assert {node["repo"] for node in some["nodes"]} == {"lib"}


def test_graphml_is_xml_with_every_node_and_edge(graph: CodeGraph) -> None:
    answer = export(graph, "graphml")
    tree = nx.parse_graphml(answer.data.document, force_multigraph=True)
    assert tree.number_of_nodes() == answer.data.nodes
    assert tree.number_of_edges() == answer.data.edges
    assert "app::app.py:main" in tree
