"""The derivation of all edges between projects, from the store to the store.

``derive`` is pure: projects in, edges and near-misses out. ``derive_edges`` loads and writes.
"""

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial

import msgspec

from agentic_os.aggregate.graph.links.code import CodeNode, CodeSource, ProjectCode, Stub
from agentic_os.aggregate.graph.links.edges import EdgeCollector
from agentic_os.aggregate.graph.links.imports import ImportRule
from agentic_os.aggregate.graph.links.languages.go import GoImports
from agentic_os.aggregate.graph.links.languages.python import PythonImports
from agentic_os.aggregate.graph.links.languages.script import ScriptImports
from agentic_os.aggregate.graph.links.packages import package_edges
from agentic_os.aggregate.graph.links.state import current
from agentic_os.aggregate.graph.links.stubs import stub_edges
from agentic_os.aggregate.graph.projects import GraphProject
from agentic_os.aggregate.graph.store import stored_manifests
from agentic_os.aggregate.graph.tables import CONFIDENCE_CODES, FLAG_FILE, FLAG_PACKAGE, node_range
from agentic_os.code.values import SourceFacts

MAX_CACHED_FACTS_ENTRIES = 8_192
"""Sources whose facts are held at once, of all projects together."""

_facts_decoder = msgspec.msgpack.Decoder(SourceFacts)


def derive(codes: Sequence[ProjectCode], consumers: Collection[str] | None = None) -> EdgeCollector:
    """Derive every edge between the given projects, whatever their order.

    Args:
        codes: all projects.
        consumers: whose edges are derived; those of all by default.
    """
    collector = EdgeCollector()
    ordered = sorted(codes, key=lambda code: code.project)
    wanted = [code for code in ordered if consumers is None or code.project in consumers]
    links = package_edges(ordered, wanted, collector)
    for language in (PythonImports, ScriptImports, GoImports):
        ImportRule(language(ordered, links, collector), collector).link(wanted)
    stub_edges(ordered, wanted, links, collector)
    return collector


def derive_edges(
    connection: sqlite3.Connection, projects: Sequence[GraphProject], stale: Collection[int]
) -> None:
    """Derive the edges of the given projects anew and store them in place of the former ones.

    Args:
        connection: the store, inside a transaction.
        projects: the projects that have graphs.
        stale: whose edges are derived, by number (``outdated``).
    """
    numbers = dict(connection.execute("SELECT project, rid FROM graph_repo").fetchall())
    known = sorted((item for item in projects if item.id in numbers), key=lambda item: item.id)

    facts = stored_facts(connection)
    codes = [load_code(connection, numbers[item.id], item, facts) for item in known]
    consumers = {item.id for item in known if numbers[item.id] in stale}
    collector = derive(codes, consumers)
    run = connection.execute
    if len(consumers) == len(known):
        for table in ("graph_cross", "graph_near", "graph_derived"):
            run(f"DELETE FROM {table}")  # noqa: S608 - fixed names
    for rid in stale:
        run("DELETE FROM graph_cross WHERE src BETWEEN ? AND ?", node_range(rid))
        run("DELETE FROM graph_near WHERE consumer=?", (rid,))
    _write(connection, collector, numbers)
    states = current(connection, projects)
    connection.executemany(
        "INSERT OR REPLACE INTO graph_derived VALUES(?,?,?,?,?)",
        (
            (
                rid,
                *states[rid],
                json.dumps(sorted(numbers[item] for item in collector.reads.get(project, ()))),
                json.dumps(collector.dropped.get(project, {}), sort_keys=True),
            )
            for project, rid in sorted(numbers.items())
            if project in consumers
        ),
    )


def stored_facts(connection: sqlite3.Connection) -> Callable[[int, str], SourceFacts | None]:
    """Return what decodes the facts of a project's source, the last ones kept."""

    @lru_cache(maxsize=MAX_CACHED_FACTS_ENTRIES)
    def facts(rid: int, path: str) -> SourceFacts | None:
        row = connection.execute(
            "SELECT facts FROM graph_file WHERE rid=? AND path=?", (rid, path)
        ).fetchone()
        return _facts_decoder.decode(row[0]) if row is not None and row[0] else None

    return facts


def load_code(
    connection: sqlite3.Connection,
    rid: int,
    project: GraphProject,
    facts: Callable[[int, str], SourceFacts | None],
) -> ProjectCode:
    """Load one project's code from the store; nodes and facts follow when asked for."""
    run = connection.execute
    low, high = node_range(rid)

    def nodes() -> list[CodeNode]:
        return [
            CodeNode(
                nid=row[0],
                label=row[1],
                path=row[2] or "",
                line=row[3],
                is_file=bool(row[4] & FLAG_FILE),
                is_package=bool(row[4] & FLAG_PACKAGE),
            )
            for row in run(
                "SELECT nid, label, path, line, flags FROM graph_node"
                " LEFT JOIN graph_file USING(fid) WHERE nid BETWEEN ? AND ? ORDER BY lid",
                (low, high),
            )
        ]

    def stubs() -> list[Stub]:
        return [
            Stub(key=row[0], nid=row[1], path=row[2], line=row[3], relation=row[4])
            for row in run(
                "SELECT used.lid, edge.src, file.path, edge.line, term.text"
                " FROM graph_out AS edge"
                " JOIN graph_ext_use AS used ON used.xid = -edge.dst AND used.rid = ?"
                " JOIN graph_file AS file ON file.fid = edge.fid"
                " JOIN graph_term AS term ON term.tid = edge.rel"
                " WHERE edge.src BETWEEN ? AND ? AND edge.dst < 0"
                " ORDER BY used.lid, file.path, edge.line, term.text",
                (rid, low, high),
            )
        ]

    files = {
        row[0]: bool(row[1])
        for row in run("SELECT path, sha256 != '' FROM graph_file WHERE rid=?", (rid,))
    }
    folders = {
        row[0]: frozenset(row[1].split("\n"))
        for row in run("SELECT path, names FROM graph_folder WHERE rid=?", (rid,))
    }
    return ProjectCode(
        project=project.id,
        folder=str(project.folder),
        remote=project.remote,
        files=files,
        folders=folders,
        manifests=tuple(stored_manifests(connection, rid)),
        source=CodeSource(nodes=nodes, facts=partial(facts, rid), stubs=stubs),
    )


def _write(
    connection: sqlite3.Connection, collector: EdgeCollector, numbers: dict[str, int]
) -> None:
    run = connection.execute
    terms: dict[str, int] = {}
    for relation in sorted({edge.relation for edge in collector.edges.values()}):
        run("INSERT OR IGNORE INTO graph_term(text) VALUES(?)", (relation,))
        row = run("SELECT tid FROM graph_term WHERE text=?", (relation,)).fetchone()
        terms[relation] = row[0]
    connection.executemany(
        "INSERT INTO graph_cross VALUES(?,?,?,?,?,?,?,?,?,?,?)",
        (
            (
                edge.source.nid,
                edge.target.nid,
                terms[edge.relation],
                edge.rule,
                edge.line,
                CONFIDENCE_CODES[edge.confidence],
                edge.score,
                edge.consumer_path,
                edge.provider_path,
                edge.provider_line,
                edge.detail,
            )
            for edge in collector.edges.values()
        ),
    )
    connection.executemany(
        "INSERT INTO graph_near VALUES(?,?,?,?,?,?,?,?)",
        (
            (
                numbers[miss.consumer],
                miss.rule,
                miss.code,
                miss.subject,
                miss.path,
                miss.line,
                json.dumps(miss.candidates),
                miss.detail,
            )
            for miss in collector.near.values()
        ),
    )
