"""Centrality and communities of the union, by networkx.

Loaded only when asked for. The graph is the walked one: no external stubs, no AMBIGUOUS edges,
containment left out, since a folder tree says nothing about importance.
"""

from typing import TYPE_CHECKING

from agentic_os.aggregate.graph.codes import graph_error
from agentic_os.aggregate.graph.tables import AMBIGUOUS_CODE, PROJECT_SHIFT
from agentic_os.tiers.graph.answers import AnalyticsData, CentralNode, Community
from agentic_os.tiers.graph.context import CodeGraph
from agentic_os.tiers.graph.walk import CONTAINMENT, relation_numbers

if TYPE_CHECKING:
    import networkx as nx

MAX_ANALYSED_NODES = 200_000
"""Beyond this networkx needs more memory and time than an answer is worth."""
MAX_CENTRAL_ENTRIES = 20
MAX_COMMUNITIES_ENTRIES = 20
_LABELS_ENTRIES = 5
_SEED = 1


def analytics(graph: CodeGraph, *, projects: frozenset[str] | None = None) -> AnalyticsData:
    """Return the central nodes and the communities of the given projects.

    Centrality is networkx's in-degree centrality, ties by k-core; communities are Louvain's,
    with a fixed seed.

    Raises:
        GraphError: ``GRAPH_TOO_LARGE_TO_ANALYSE`` beyond ``MAX_ANALYSED_NODES`` nodes.
    """
    import networkx as nx

    directed = _loaded(graph, projects)
    if directed.number_of_nodes() == 0:
        return AnalyticsData(components=0, central=(), communities=())
    plain = nx.Graph(directed)
    plain.remove_edges_from(list(nx.selfloop_edges(plain)))
    centrality: dict[int, float] = nx.in_degree_centrality(directed)
    cores: dict[int, int] = nx.core_number(plain)
    first = sorted(centrality, key=lambda nid: (-centrality[nid], -cores[nid], nid))
    groups = sorted(
        nx.community.louvain_communities(plain, seed=_SEED),
        key=lambda group: (-len(group), min(group)),
    )[:MAX_COMMUNITIES_ENTRIES]
    named = [sorted(group, key=lambda nid: (-centrality[nid], nid)) for group in groups]
    shown = first[:MAX_CENTRAL_ENTRIES]
    with graph.viewer() as viewer:
        views = viewer.nodes([*shown, *(nid for group in named for nid in group[:_LABELS_ENTRIES])])
    return AnalyticsData(
        components=nx.number_connected_components(plain),
        central=tuple(
            CentralNode(
                node=views[nid],
                in_degree=int(directed.in_degree(nid)),
                centrality=round(centrality[nid], 6),
                core=cores[nid],
            )
            for nid in shown
        ),
        communities=tuple(
            Community(
                size=len(group),
                projects=_by_project(graph, group),
                labels=tuple(views[nid].label for nid in group[:_LABELS_ENTRIES]),
            )
            for group in named
        ),
    )


def _by_project(graph: CodeGraph, group: list[int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for nid in group:
        project = graph.projects.get(nid >> PROJECT_SHIFT, "")
        found[project] = found.get(project, 0) + 1
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _loaded(graph: CodeGraph, projects: frozenset[str] | None) -> "nx.DiGraph[int]":
    import networkx as nx

    inside = graph.numbers(projects)
    loaded: nx.DiGraph[int] = nx.DiGraph()
    refused = relation_numbers(graph.connection, CONTAINMENT)
    for (nid,) in graph.connection.execute("SELECT nid FROM graph_node ORDER BY nid"):
        if inside is None or nid >> PROJECT_SHIFT in inside:
            loaded.add_node(nid)
    if loaded.number_of_nodes() > MAX_ANALYSED_NODES:
        raise graph_error(
            "GRAPH_TOO_LARGE_TO_ANALYSE",
            f"the graph has more than {MAX_ANALYSED_NODES} nodes to analyse",
        )
    for table in ("graph_out", "graph_cross"):
        query = f"SELECT src, dst, rel FROM {table} WHERE conf < {AMBIGUOUS_CODE} AND dst > 0"  # noqa: S608 - two fixed names
        for source, target, relation in graph.connection.execute(query):
            if relation not in refused and source in loaded and target in loaded:
                loaded.add_edge(source, target)
    return loaded
