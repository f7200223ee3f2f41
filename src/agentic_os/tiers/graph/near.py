"""Finding nodes by name, and what is connected to one."""

from collections.abc import Sequence
from typing import Literal

from agentic_os.aggregate.graph.codes import GRAPH_CODES
from agentic_os.errors import UsageError
from agentic_os.results import Answer
from agentic_os.text.fencing import one_line
from agentic_os.tiers.graph.answers import Direction, FindData, NeighborsData
from agentic_os.tiers.graph.context import (
    DEFAULT_LIMIT_NODES,
    CodeGraph,
    Unsettled,
    check_depth,
    check_limit,
)
from agentic_os.tiers.graph.names import MAX_MATCHES_ENTRIES

DEFAULT_DEPTH_HOPS = 1


def find(
    graph: CodeGraph,
    name: str,
    *,
    projects: frozenset[str] | None = None,
    limit: int = DEFAULT_LIMIT_NODES,
) -> Answer[FindData]:
    """Find nodes by id, path, exact label, beginning, or any part of the label.

    Raises:
        UsageError: the name is empty or the limit out of bounds.
    """
    check_limit(limit)
    if not name.strip():
        raise UsageError("the name is empty", hint="Give a label, a path or a node's id.")
    finder = graph.finder(projects)
    found = finder.search(name)
    omissions = []
    if finder.cut:
        omissions.append(
            GRAPH_CODES.omission(
                "GRAPH_MATCHES_CUT",
                "graph",
                f"more than {MAX_MATCHES_ENTRIES} nodes have that name",
            )
        )
    near = () if found.rows else finder.near(name)
    with graph.viewer() as viewer:
        data = FindData(
            query=one_line(name),
            how=found.how,
            total=len(found.rows),
            nodes=tuple(viewer.node(row) for row in found.rows[:limit]),
            near=tuple(viewer.node(row) for row in near),
        )
        return graph.answer(data, projects, viewer, omissions)


def neighbors(
    graph: CodeGraph,
    name: str,
    *,
    projects: frozenset[str] | None = None,
    depth: int = DEFAULT_DEPTH_HOPS,
    direction: Direction = "both",
    relations: Sequence[str] = (),
    limit: int = DEFAULT_LIMIT_NODES,
    externals: bool = False,
) -> Answer[NeighborsData]:
    """Return what is connected to a node, up to ``depth`` hops away.

    Raises:
        UsageError: depth or limit out of bounds.
    """
    check_limit(limit)
    check_depth(depth)
    with graph.viewer() as viewer:
        start = graph.meant(viewer, name, projects)
        if isinstance(start, Unsettled):
            data = NeighborsData(
                outcome=start.outcome,
                start=None,
                candidates=start.candidates,
                nodes=(),
                edges=(),
                truncated=False,
                ambiguous_left_out=0,
            )
            return graph.answer(data, projects, viewer)
        walker = graph.walker(projects, relations=relations, externals=externals)
        distance, truncated = walker.around([start], direction, depth=depth, budget=limit)
        views = viewer.nodes(distance, distance)
        # Edges between nodes at the rim belong to the next hop.
        inner = sorted(nid for nid, hops in distance.items() if hops < depth)
        pairs = {
            pair if way == "out" else (pair[1], pair[0])
            for way in _ways(direction)
            for pair in walker.step(inner, way)
            if pair[1] in distance
        }
        edges = viewer.edges_between(sorted(pairs), views)
        wanted = set(relations)
        data = NeighborsData(
            outcome="found",
            start=views[start],
            candidates=(),
            nodes=tuple(
                views[nid]
                for nid in sorted(views, key=lambda nid: (distance[nid], nid))
                if nid != start
            ),
            edges=tuple(
                edge
                for edge in edges
                if edge.confidence != "AMBIGUOUS" and (not wanted or edge.relation in wanted)
            ),
            truncated=truncated,
            ambiguous_left_out=_ambiguous_at(graph, start),
        )
        return graph.answer(data, projects, viewer, graph.unknown(relations))


def _ambiguous_at(graph: CodeGraph, nid: int) -> int:
    row = graph.connection.execute(
        "SELECT (SELECT count(*) FROM graph_out WHERE src=? AND conf=2)"
        " + (SELECT count(*) FROM graph_in WHERE dst=? AND conf=2)"
        " + (SELECT count(*) FROM graph_cross WHERE src=? AND conf=2)"
        " + (SELECT count(*) FROM graph_cross WHERE dst=? AND conf=2)",
        (nid,) * 4,
    ).fetchone()
    return int(row[0])


def _ways(direction: Direction) -> tuple[Literal["out", "in"], ...]:
    match direction:
        case "out":
            return ("out",)
        case "in":
            return ("in",)
        case "both":
            return ("out", "in")
