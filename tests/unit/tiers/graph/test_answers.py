"""Answers about the union as a whole: hyperedges in the export, near-misses in the statistics."""

import json
from pathlib import Path

from agentic_os.aggregate.graph.intake.reader import read_graph
from agentic_os.aggregate.graph.links.state import current
from agentic_os.tiers.graph.context import CodeGraph
from agentic_os.tiers.graph.export import export_account, export_parts
from agentic_os.tiers.graph.links import links, stats
from support.graph.builder import GraphFleet, graph_of
from support.graph.code import pyproject

LIB = {"pyproject.toml": pyproject("fancy"), "fancy/__init__.py": "def load(): ...\n"}
NEAR = {
    "pyproject.toml": pyproject("near", "fancy"),
    "near.py": "import fancy.gone\nfrom fancy import lost\n\nlost()\n",
}


def fleet_of(tmp_path: Path) -> tuple[GraphFleet, CodeGraph]:
    fleet = GraphFleet.at(tmp_path / "fleet")
    fleet.write("lib", LIB)
    fleet.write("near", NEAR)
    document = graph_of(LIB, externals=("os",))
    document["hyperedges"] = [
        {
            "id": "flow",
            "label": "a\x1b[31m flow",
            "relation": "part_of",
            "nodes": ["fancy/__init__.py", "fancy/__init__.py:load", "os", "gone"],
            "confidence": "INFERRED",
        }
    ]
    fleet.graph("lib", document)
    fleet.refresh("lib", "near")
    return fleet, CodeGraph(fleet.connection, {})


def test_hyperedges_are_exported_with_their_members_in_scope(tmp_path: Path) -> None:
    fleet, graph = fleet_of(tmp_path)

    whole = "".join(export_parts(graph, "node-link"))
    (exported,) = json.loads(whole)["hyperedges"]
    other = json.loads("".join(export_parts(graph, "node-link", projects=frozenset({"near"}))))

    assert exported["label"] == "a<U+001B>[31m flow"
    assert set(exported["nodes"]) == {
        "lib::fancy/__init__.py",
        "lib::fancy/__init__.py:load",
        "external::os",
    }
    again = read_graph(whole.encode())
    assert [len(item.members) for item in again.hyperedges] == [3]
    assert other["hyperedges"] == []
    assert export_account(graph).data is None
    fleet.connection.close()


def test_near_misses_are_counted_by_reason_for_either_side(tmp_path: Path) -> None:
    fleet, graph = fleet_of(tmp_path)

    everywhere = stats(graph).data.near_misses
    assert everywhere["MODULE_UNKNOWN"] >= 1
    assert everywhere["NAME_UNKNOWN"] >= 1
    for side in ("near", "lib"):
        assert stats(graph, projects=frozenset({side})).data.near_misses == everywhere
        assert links(graph, projects=frozenset({side})).data.near_total == sum(everywhere.values())
    assert stats(graph, projects=frozenset({"other"})).data.near_misses == {}
    fleet.connection.close()


def test_a_project_that_the_store_does_not_hold_is_no_part_of_its_state(tmp_path: Path) -> None:
    fleet, _ = fleet_of(tmp_path)
    known = [fleet.project("lib"), fleet.project("near")]

    assert current(fleet.connection, known) == current(
        fleet.connection, [fleet.project("unheard-of"), *reversed(known)]
    )
    assert current(fleet.connection, known) != current(fleet.connection, known[:1])
    fleet.connection.close()
