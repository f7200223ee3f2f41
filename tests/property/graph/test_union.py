"""The union does not depend on order; a path found is real; every variant is one graph."""

import json
import random
import sqlite3
import tempfile
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.aggregate.graph.intake.reader import read_graph
from agentic_os.aggregate.graph.store import store_graph
from agentic_os.aggregate.graph.tables import GRAPH_DDL
from agentic_os.errors import GraphError
from agentic_os.tiers.graph.walk import Scope, Walker
from support.graph.builder import GraphFleet
from support.graph.code import pyproject

FLEET = {
    "lib": {
        "pyproject.toml": pyproject("fancy"),
        "src/fancy/__init__.py": "from fancy.core import load\nfrom fancy.more import *\n",
        "src/fancy/core.py": "def load(): ...\n",
        "src/fancy/more.py": "class More:\n    def run(self): ...\n",
    },
    "twin": {
        "pyproject.toml": pyproject("fancy"),
        "fancy/__init__.py": "def load(): ...\n",
    },
    "app": {
        "pyproject.toml": pyproject("app", "fancy", "main"),
        "app.py": "import fancy, os\n\ndef run():\n    fancy.load()\n    fancy.More()\n",
    },
    "web": {
        "pyproject.toml": pyproject("main"),
        "srv.py": "import app\n\ndef load(b):\n    app.run()\n",
    },
}
EXTERNALS = {"app": ("os", "fancy"), "web": ("fastapi", "os"), "lib": (), "twin": ("os",)}


@pytest.fixture(scope="module")
def fleet_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("union")
    fleet = GraphFleet.at(root)
    for name, files in FLEET.items():
        fleet.write(name, files, externals=EXTERNALS[name])
    fleet.connection.close()
    return root


@settings(max_examples=25, deadline=None)
@given(
    steps=st.lists(st.sets(st.sampled_from(sorted(FLEET))), max_size=5),
    last=st.sets(st.sampled_from(sorted(FLEET))),
    seed=st.integers(0, 99),
)
def test_the_union_is_the_same_however_projects_came_and_went(
    fleet_root: Path, steps: list[set[str]], last: set[str], seed: int
) -> None:
    shuffled = random.Random(seed)
    wandering, fresh = GraphFleet.at(fleet_root), GraphFleet.at(fleet_root)
    try:
        for step in [*steps, last]:
            names = sorted(step)
            shuffled.shuffle(names)
            wandering.refresh(*names)
        fresh.refresh(*sorted(last))
        assert wandering.dump() == fresh.dump()
    finally:
        wandering.connection.close()
        fresh.connection.close()


def test_the_whole_fleet_has_edges_to_lose(fleet_root: Path) -> None:
    fleet = GraphFleet.at(fleet_root)
    fleet.refresh(*FLEET)
    rules = {row[3] for row in fleet.dump()["cross"]}
    assert rules == {"R1", "R2", "R3b", "R3d"}
    fleet.connection.close()


EDITED = {
    "base/pyproject.toml": (pyproject("base"), pyproject("base", "fancy")),
    "base/base/__init__.py": ("from base.deep import thing\n", "def thing(): ...\n", "other = 1\n"),
    "base/base/deep.py": ("def thing(): ...\n", "x = 1\n\ndef thing(): ...\n"),
    "lib/pyproject.toml": (pyproject("fancy", "base"), pyproject("fancy")),
    "lib/fancy/__init__.py": ("from base import *\n", "from base import thing\n", "load = 1\n"),
    "app/pyproject.toml": (pyproject("app", "fancy"),),
    "app/app.py": ("import fancy\nfancy.thing()\n", "from fancy import thing\nthing()\n", "x\n"),
    "twin/pyproject.toml": (pyproject("twin"), pyproject("fancy")),
}


@settings(max_examples=25, deadline=None)
@given(edits=st.lists(st.sampled_from(sorted(EDITED)), min_size=1, max_size=6), data=st.data())
def test_edges_derived_after_edits_are_those_of_a_new_store(
    edits: list[str], data: st.DataObject
) -> None:
    """Only what an edit can show in is derived anew; nothing may be missed by that."""
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, dict[str, str]] = {}
        for path, texts in EDITED.items():
            name, _, inner = path.partition("/")
            files.setdefault(name, {})[inner] = texts[0]
        living = GraphFleet.at(Path(folder))
        for name, each in files.items():
            living.write(name, each)
        living.refresh(*files)
        for path in edits:
            (Path(folder) / path).write_text(data.draw(st.sampled_from(EDITED[path])))
            living.refresh(*files)
        fresh = GraphFleet.at(Path(folder))
        fresh.refresh(*files)
        now, anew = living.dump(), fresh.dump()
        living.close()
        fresh.close()
    assert now["cross"] == anew["cross"]
    assert now["near"] == anew["near"]


# -- paths -----------------------------------------------------------------------------------------

RELATIONS = ("calls", "contains", "uses")
CONFIDENCES = ("EXTRACTED", "INFERRED", "AMBIGUOUS")
edge_lists = st.lists(
    st.tuples(
        st.integers(0, 11),
        st.integers(0, 11),
        st.sampled_from(RELATIONS),
        st.sampled_from(CONFIDENCES),
    ),
    max_size=40,
)


def stored(edges: list[tuple[int, int, str, str]]) -> tuple[sqlite3.Connection, "nx.DiGraph[int]"]:
    """Return a store with twelve nodes, and what networkx makes of the walked edges."""
    nodes = [
        {"id": f"n{i}", "label": f"n{i}", "source_file": "a.py", "file_type": "code"}
        for i in range(12)
    ]
    links = [
        {"source": f"n{a}", "target": f"n{b}", "relation": relation, "confidence": confidence}
        for a, b, relation, confidence in edges
    ]
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(GRAPH_DDL)
    graph = read_graph(json.dumps({"nodes": nodes, "links": links}).encode())
    store_graph(connection, 1, graph, {})
    oracle: nx.DiGraph[int] = nx.DiGraph()
    oracle.add_nodes_from(range(12))
    oracle.add_edges_from((a, b) for a, b, _, confidence in edges if confidence != "AMBIGUOUS")
    return connection, oracle


BASE = 1 << 24


@settings(max_examples=150, deadline=None)
@given(
    edges=edge_lists, ends=st.tuples(st.integers(0, 11), st.integers(0, 11)), directed=st.booleans()
)
def test_a_path_found_is_real_and_as_short_as_networkx_finds(
    edges: list[tuple[int, int, str, str]], ends: tuple[int, int], directed: bool
) -> None:
    connection, oracle = stored(edges)
    view: Any = oracle if directed else oracle.to_undirected()
    walked = Walker(connection, Scope()).path(BASE + ends[0], BASE + ends[1], directed=directed)
    connection.close()
    found = [nid - BASE for nid in walked.nodes]
    if not found:
        assert not walked.exhausted
        assert not nx.has_path(view, *ends)
        return
    assert (found[0], found[-1]) == ends
    assert all(view.has_edge(a, b) for a, b in pairwise(found))
    assert len(found) - 1 == nx.shortest_path_length(view, *ends)


@settings(max_examples=100, deadline=None)
@given(edges=edge_lists, start=st.integers(0, 11), depth=st.integers(1, 4))
def test_distances_are_those_of_networkx(
    edges: list[tuple[int, int, str, str]], start: int, depth: int
) -> None:
    connection, oracle = stored(edges)
    distance, cut = Walker(connection, Scope()).around(
        [BASE + start], "out", depth=depth, budget=100
    )
    connection.close()
    assert not cut
    expected = nx.single_source_shortest_path_length(oracle, start, cutoff=depth)
    assert {nid - BASE: hops for nid, hops in distance.items()} == dict(expected)


# -- variants --------------------------------------------------------------------------------------

labels = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@settings(max_examples=150, deadline=None)
@given(
    names=st.lists(labels, min_size=1, max_size=6, unique=True),
    pairs=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8),
    data=st.data(),
)
def test_every_variant_of_the_file_is_the_same_graph(
    names: list[str], pairs: list[tuple[int, int]], data: st.DataObject
) -> None:
    nodes: list[dict[str, Any]] = [
        {
            "id": name,
            "label": name,
            "file_type": "code",
            "source_file": "a/b.py",
            "source_location": "L2",
        }
        for name in names
    ]
    links: list[dict[str, Any]] = [
        {
            "source": names[a % len(names)],
            "target": names[b % len(names)],
            "relation": "calls",
            "confidence": "EXTRACTED",
            "source_file": "a/b.py",
            "source_location": "L3",
        }
        for a, b in pairs
    ]
    hyper = [
        {"id": "h", "label": "h", "relation": "r", "nodes": names[:2], "confidence": "INFERRED"}
    ]
    plain = read_graph(json.dumps({"nodes": nodes, "links": links, "hyperedges": hyper}).encode())
    for node in nodes:
        node.update(
            data.draw(
                st.sampled_from(
                    ({}, {"_origin": "ast"}, {"metadata": {"x": [1]}}, {"norm_label": "z"})
                )
            )
        )
        if data.draw(st.booleans()):
            node["source_file"] = data.draw(st.sampled_from(("./a/b.py", "a\\b.py", "a//b.py")))
        if data.draw(st.booleans()):
            node["source_location"] = data.draw(st.sampled_from(("2", 2, "L2-L9")))
    for link in links:
        if data.draw(st.booleans()):
            link["_src"], link["_tgt"] = link["source"], link["target"]
        if data.draw(st.booleans()):
            link["_src"], link["_tgt"] = link["source"], link["target"]
            link["source"], link["target"] = link["target"], link["source"]
        if data.draw(st.booleans()):
            link["confidence_score"] = 1.0
    if data.draw(st.booleans()):
        hyper[0]["members"] = hyper[0].pop("nodes")
    document: dict[str, Any] = {"nodes": nodes}
    document[data.draw(st.sampled_from(("links", "edges")))] = links
    if data.draw(st.booleans()):
        document["graph"] = {"hyperedges": hyper}
    else:
        document["hyperedges"] = hyper
    document["directed"] = data.draw(st.booleans())
    document["multigraph"] = data.draw(st.booleans())
    keys = list(document)
    random.Random(data.draw(st.integers(0, 9))).shuffle(keys)
    written = json.dumps(
        {key: document[key] for key in keys}, indent=data.draw(st.sampled_from((None, 2)))
    )
    assert read_graph(written.encode()) == plain


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
node_keys = st.sampled_from(
    (
        "id",
        "label",
        "source_file",
        "source_location",
        "external",
        "type",
        "repo",
        "local_id",
        "community",
    )
)
edge_keys = st.sampled_from(
    (
        "source",
        "target",
        "_src",
        "_tgt",
        "relation",
        "confidence",
        "confidence_score",
        "members",
        "nodes",
    )
)


@settings(max_examples=120, deadline=None)
@given(
    nodes=st.lists(json_values | st.dictionaries(node_keys, json_values, max_size=6), max_size=5)
    | json_values,
    links=st.lists(json_values | st.dictionaries(edge_keys, json_values, max_size=6), max_size=5)
    | json_values,
    hyper=st.lists(st.dictionaries(edge_keys, json_values, max_size=5), max_size=3) | json_values,
)
def test_reading_hostile_values_gives_a_graph_or_a_code(nodes: Any, links: Any, hyper: Any) -> None:
    data = json.dumps(
        {"nodes": nodes, "links": links, "hyperedges": hyper, "graph": {"hyperedges": hyper}}
    )
    try:
        graph = read_graph(data.encode("utf-8", "surrogatepass"))
    except GraphError:
        return
    count = len(graph.nodes)
    assert all(0 <= edge.source < count and 0 <= edge.target < count for edge in graph.edges)
    assert all(
        not path.startswith("/") and ".." not in path.split("/")
        for path in (n.path for n in graph.nodes)
    )


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_reading_bytes_gives_a_graph_or_a_code(data: bytes) -> None:
    with suppress(GraphError):
        assert read_graph(data).nodes is not None
