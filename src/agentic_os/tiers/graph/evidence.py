"""The edges that one link of the picture stands for, with their evidence.

A link joins two marks: projects, communities, files or symbols. Its edges go from what the one
stands for to what the other does, either way.
"""

from dataclasses import dataclass
from typing import Final, Literal

from agentic_os.aggregate.graph.codes import GRAPH_CODES
from agentic_os.aggregate.graph.tables import PROJECT_SHIFT, node_range
from agentic_os.results import Answer
from agentic_os.text.fencing import one_line
from agentic_os.tiers.graph.answers import GraphEdgeView, GraphNodeView
from agentic_os.tiers.graph.context import CodeGraph

MarkKind = Literal["project", "community", "file", "symbol"]
MAX_EDGES: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceData:
    """Edges between two marks; ``total`` counts those that are not shown, too."""

    total: int
    nodes: tuple[GraphNodeView, ...]
    edges: tuple[GraphEdgeView, ...]


@dataclass(frozen=True, slots=True)
class _End:
    """What a mark stands for: a condition on a node, and the number it needs."""

    condition: str
    number: int
    rid: int


def evidence(
    graph: CodeGraph, one: tuple[MarkKind, str], other: tuple[MarkKind, str]
) -> Answer[EvidenceData]:
    """Return the edges between two marks of a view, each with where it is seen.

    Args:
        graph: the opened graph.
        one: kind and id of a mark, as the view has it.
        other: the mark at the link's other end.
    """
    ends = _end(graph, *one), _end(graph, *other)
    with graph.viewer() as viewer:
        if ends[0] is None or ends[1] is None:
            message = f"no mark is called {one_line((one if ends[0] is None else other)[1])}"
            gone = GRAPH_CODES.omission("GRAPH_NAME_UNKNOWN", "graph", message)
            return graph.answer(EvidenceData(total=0, nodes=(), edges=()), None, viewer, [gone])
        pairs = _pairs(graph, ends[0], ends[1]) + _pairs(graph, ends[1], ends[0])
        pairs = list(dict.fromkeys(pairs))
        shown = pairs[:MAX_EDGES]
        views = viewer.nodes(number for pair in shown for number in pair)
        data = EvidenceData(
            total=len(pairs),
            nodes=tuple(views[number] for number in sorted(views)),
            edges=tuple(viewer.edges_between(shown, views)),
        )
        return graph.answer(data, None, viewer)


def _end(graph: CodeGraph, kind: MarkKind, mark: str) -> _End | None:
    project, _, local = mark.partition("::")
    rid = next((number for number, known in graph.projects.items() if known == project), None)
    if rid is None:
        return None
    match kind:
        case "project":
            return _End("{0}.nid >> :shift = :{1}", rid, rid)
        case "community":
            number = rid << PROJECT_SHIFT | int(local) if local.isdecimal() else -1
            condition = "{0}.fid IN (SELECT fid FROM layout_file WHERE cid = :{1})"
            return _End(condition, number, rid)
        case "file":
            query = "SELECT fid FROM graph_file WHERE rid=? AND path=?"
            row = graph.connection.execute(query, (rid, local)).fetchone()
            return None if row is None else _End("{0}.fid = :{1}", row[0], rid)
        case "symbol":
            query = "SELECT nid FROM graph_node WHERE lid=? AND nid BETWEEN ? AND ?"
            row = graph.connection.execute(query, (local, *node_range(rid))).fetchone()
            return None if row is None else _End("{0}.nid = :{1}", row[0], rid)


def _pairs(graph: CodeGraph, source: _End, target: _End) -> list[tuple[int, int]]:
    """Return the nodes of each edge from what the one stands for to what the other does."""
    table = "graph_out" if source.rid == target.rid else "graph_cross"
    first, last = node_range(source.rid)
    query = (
        f"SELECT DISTINCT edge.src, edge.dst FROM {table} AS edge"  # noqa: S608 - constants
        " JOIN graph_node AS source ON source.nid = edge.src"
        " JOIN graph_node AS target ON target.nid = edge.dst"
        f" WHERE edge.src BETWEEN :first AND :last AND {source.condition.format('source', 'a')}"
        f" AND {target.condition.format('target', 'b')} ORDER BY edge.conf, edge.src, edge.dst"
    )
    bound = {
        "first": first,
        "last": last,
        "shift": PROJECT_SHIFT,
        "a": source.number,
        "b": target.number,
    }
    return [(src, dst) for src, dst in graph.connection.execute(query, bound)]
