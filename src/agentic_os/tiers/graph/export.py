"""The union as a file: node-link JSON that Graphify reads back, or GraphML.

Node-link follows Graphify 0.9.96's merged files: ids ``project::local``, ``repo`` and
``local_id`` beside them, ``links`` with ``_src`` and ``_tgt``. Edges between projects carry
``context`` ``cross_repo``, their rule and their evidence. AMBIGUOUS edges are exported and say
so. GraphML is written by networkx.
"""

import io
from collections.abc import Iterator

import msgspec

from agentic_os.aggregate.graph.tables import CONFIDENCE_WORDS, PROJECT_SHIFT
from agentic_os.results import Answer
from agentic_os.text.fencing import one_line
from agentic_os.tiers.graph.answers import ExportData, ExportFormat
from agentic_os.tiers.graph.context import CodeGraph
from agentic_os.tiers.graph.views import CROSS_QUERY, EXTERNAL_PREFIX, NODE_QUERY

_Value = str | int | float | bool | None
_Record = dict[str, _Value]

_EDGES = """
SELECT edge.src, edge.dst, term.text, context.text, edge.conf, edge.score,
    coalesce(file.path, ''), edge.line
FROM graph_out AS edge JOIN graph_term AS term ON term.tid = edge.rel
JOIN graph_term AS context ON context.tid = edge.ctx
LEFT JOIN graph_file AS file ON file.fid = edge.fid
ORDER BY edge.src, edge.dst, edge.rel, edge.line, edge.ctx
"""


def export(
    graph: CodeGraph, format_: ExportFormat, *, projects: frozenset[str] | None = None
) -> Answer[ExportData]:
    """Export the given projects and the edges between them as one document."""
    nodes = sum(1 for _ in _nodes(graph, projects))
    edges = sum(1 for _ in _links(graph, projects))
    document = "".join(export_parts(graph, format_, projects=projects))
    data = ExportData(format=format_, nodes=nodes, edges=edges, document=document)
    with graph.viewer() as viewer:
        return graph.answer(data, projects, viewer)


def export_account(graph: CodeGraph, *, projects: frozenset[str] | None = None) -> Answer[None]:
    """Say what an export of the given projects leaves out, without making it."""
    with graph.viewer() as viewer:
        return graph.answer(None, projects, viewer)


def export_parts(
    graph: CodeGraph, format_: ExportFormat, *, projects: frozenset[str] | None = None
) -> Iterator[str]:
    """Yield the document piece by piece, so that a large union is never held whole."""
    if format_ == "graphml":
        yield _graphml(graph, projects)
        return
    encode = msgspec.json.Encoder(order="sorted").encode
    yield '{"directed":true,"multigraph":true,"graph":{"schema_version":1},"nodes":[\n'
    yield from _joined(encode(record) for record in _nodes(graph, projects))
    yield '\n],"links":[\n'
    yield from _joined(encode(record) for record in _links(graph, projects))
    yield '\n],"hyperedges":[\n'
    yield from _joined(encode(record) for record in _hyperedges(graph, projects))
    yield "\n]}\n"


def _joined(records: Iterator[bytes]) -> Iterator[str]:
    first = True
    for record in records:
        yield ("" if first else ",\n") + record.decode("utf-8")
        first = False


class _Ids:
    """Ids by number, within the exported projects."""

    def __init__(self, graph: CodeGraph, projects: frozenset[str] | None) -> None:
        self._graph = graph
        self._inside = graph.numbers(projects)
        self._known: dict[int, str] = {}

    def of(self, number: int) -> str | None:
        """Return the id of a node or stub; ``None`` outside the exported projects."""
        if number not in self._known:
            if number < 0:
                query, key = "SELECT name FROM graph_ext WHERE xid=?", -number
            else:
                query, key = "SELECT lid FROM graph_node WHERE nid=?", number
            row = self._graph.connection.execute(query, (key,)).fetchone()
            prefix = EXTERNAL_PREFIX
            if number > 0:
                prefix = self._graph.projects.get(number >> PROJECT_SHIFT, "") + "::"
            self._known[number] = prefix + one_line(row[0]) if row else ""
        inside = number < 0 or self._inside is None or number >> PROJECT_SHIFT in self._inside
        return self._known[number] if inside and self._known[number] else None


def _nodes(graph: CodeGraph, projects: frozenset[str] | None) -> Iterator[_Record]:
    inside = graph.numbers(projects)
    for row in graph.connection.execute(f"{NODE_QUERY} ORDER BY node.nid"):
        nid, lid, label, kind, path, line, community = row[:7]
        number = nid >> PROJECT_SHIFT
        if inside is not None and number not in inside:
            continue
        project = graph.projects.get(number, "")
        local = one_line(lid)
        yield {
            "id": f"{project}::{local}",
            "label": one_line(label),
            "norm_label": one_line(label).lower(),
            "file_type": kind or "code",
            "source_file": one_line(path),
            "source_location": f"L{line}" if line else "",
            "community": community if community >= 0 else None,
            "repo": project,
            "local_id": local,
        }
    for xid, name in graph.connection.execute(
        "SELECT DISTINCT ext.xid, ext.name FROM graph_ext AS ext"
        " JOIN graph_ext_use AS used USING(xid) ORDER BY ext.name"
    ):
        if inside is not None and not _uses(graph, xid, inside):
            continue
        yield {
            "id": EXTERNAL_PREFIX + one_line(name),
            "label": one_line(name),
            "norm_label": one_line(name).lower(),
            "file_type": "concept",
            "source_file": "",
            "external": True,
            "type": "external",
        }


def _uses(graph: CodeGraph, xid: int, inside: frozenset[int]) -> bool:
    rows = graph.connection.execute("SELECT rid FROM graph_ext_use WHERE xid=?", (xid,))
    return any(row[0] in inside for row in rows)


def _links(graph: CodeGraph, projects: frozenset[str] | None) -> Iterator[_Record]:
    ids = _Ids(graph, projects)
    for source, target, relation, context, conf, score, path, line in graph.connection.execute(
        _EDGES
    ):
        start, end = ids.of(source), ids.of(target)
        if start is not None and end is not None:
            record = _link(start, end, relation, conf, score, path, line)
            if context:
                record["context"] = one_line(context)
            yield record
    for row in graph.connection.execute(f"{CROSS_QUERY} ORDER BY edge.src, edge.dst, edge.line"):
        source, target, relation, rule, line, conf, score, path, there, there_line, detail = row
        start, end = ids.of(source), ids.of(target)
        if start is None or end is None:
            continue
        record = _link(start, end, relation, conf, score, path, line)
        record["context"] = "cross_repo"
        record["rule"] = rule
        record["evidence"] = (
            f"{one_line(path)}:{line} -> {one_line(there)}:{there_line} ({one_line(detail)})"
        )
        yield record


def _link(
    source: str, target: str, relation: str, conf: int, score: float, path: str, line: int
) -> _Record:
    return {
        "source": source,
        "target": target,
        "_src": source,
        "_tgt": target,
        "relation": one_line(relation),
        "confidence": CONFIDENCE_WORDS[conf],
        "confidence_score": score,
        "source_file": one_line(path),
        "source_location": f"L{line}" if line else "",
        "weight": 1.0,
    }


def _hyperedges(
    graph: CodeGraph, projects: frozenset[str] | None
) -> Iterator[dict[str, _Value | list[str]]]:
    ids = _Ids(graph, projects)
    inside = graph.numbers(projects)
    for rid, hid, lid, label, relation, conf, score in graph.connection.execute(
        "SELECT hyper.rid, hyper.hid, hyper.lid, hyper.label, term.text, hyper.conf, hyper.score"
        " FROM graph_hyper AS hyper JOIN graph_term AS term ON term.tid = hyper.rel"
        " ORDER BY hyper.rid, hyper.hid"
    ):
        if inside is not None and rid not in inside:
            continue
        members = [
            ids.of(row[0])
            for row in graph.connection.execute(
                "SELECT nid FROM graph_hyper_member WHERE hid=? ORDER BY nid", (hid,)
            )
        ]
        kept = [member for member in members if member is not None]
        if kept:
            yield {
                "id": one_line(lid),
                "label": one_line(label),
                "relation": one_line(relation),
                "confidence": CONFIDENCE_WORDS[conf],
                "confidence_score": score,
                "nodes": kept,
            }


def _graphml(graph: CodeGraph, projects: frozenset[str] | None) -> str:
    import networkx as nx

    document: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for record in _nodes(graph, projects):
        document.add_node(str(record["id"]), **_attributes(record, "id"))
    for record in _links(graph, projects):
        document.add_edge(
            str(record["source"]), str(record["target"]), **_attributes(record, "source", "target")
        )
    written = io.BytesIO()
    nx.write_graphml_xml(document, written, encoding="utf-8")
    return written.getvalue().decode("utf-8")


def _attributes(record: _Record, *left_out: str) -> dict[str, str | int | float | bool]:
    return {
        key: value for key, value in record.items() if value is not None and key not in left_out
    }
