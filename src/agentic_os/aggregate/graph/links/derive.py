"""The derivation of all edges between projects, from the store to the store.

``derive`` is pure: projects in, edges and near-misses out. ``derive_edges`` loads and writes.
"""

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache, partial
from types import MappingProxyType

import msgspec

from agentic_os.aggregate.graph.links.code import CodeNode, CodeSource, ProjectCode, Stub
from agentic_os.aggregate.graph.links.edges import DECLARED_RULES, EdgeCollector
from agentic_os.aggregate.graph.links.imports import ImportRule
from agentic_os.aggregate.graph.links.languages.go import GoImports
from agentic_os.aggregate.graph.links.languages.python import PythonImports
from agentic_os.aggregate.graph.links.languages.script import ScriptImports
from agentic_os.aggregate.graph.links.packages import package_edges
from agentic_os.aggregate.graph.links.state import Outdated, current
from agentic_os.aggregate.graph.links.stubs import stub_edges
from agentic_os.aggregate.graph.projects import GraphProject
from agentic_os.aggregate.graph.store import stored_manifests
from agentic_os.aggregate.graph.tables import CONFIDENCE_CODES, FLAG_FILE, FLAG_PACKAGE, node_range
from agentic_os.code.values import SourceFacts

MAX_CACHED_FACTS_ENTRIES = 8_192
"""Sources whose facts are held at once, of all projects together."""

_facts_decoder = msgspec.msgpack.Decoder(SourceFacts)


def derive(
    codes: Sequence[ProjectCode],
    consumers: Collection[str] | None = None,
    *,
    only: Mapping[str, AbstractSet[str]] = MappingProxyType({}),
    kept: Mapping[tuple[str, str], int] = MappingProxyType({}),
) -> EdgeCollector:
    """Derive every edge between the given projects, whatever their order.

    Args:
        codes: all projects.
        consumers: whose edges are derived; those of all by default.
        only: of some of these, the sources whose edges are derived.
        kept: how many near-misses stand from before, by project and rule.
    """
    collector = EdgeCollector(kept=dict(kept))
    ordered = sorted(codes, key=lambda code: code.project)
    wanted = [code for code in ordered if consumers is None or code.project in consumers]
    links = package_edges(ordered, wanted, collector)
    for language in (PythonImports, ScriptImports, GoImports):
        ImportRule(language(ordered, links, collector), collector).link(wanted, only)
    stub_edges(ordered, wanted, links, collector, only)
    return collector


def derive_edges(
    connection: sqlite3.Connection, projects: Sequence[GraphProject], stale: Outdated
) -> None:
    """Derive the edges of the given projects anew and store them in place of the former ones.

    Args:
        connection: the store, inside a transaction.
        projects: the projects that have graphs.
        stale: whose edges are derived (``outdated``).
    """
    numbers = dict(connection.execute("SELECT project, rid FROM graph_repo").fetchall())
    names = {rid: project for project, rid in numbers.items()}
    known = sorted((item for item in projects if item.id in numbers), key=lambda item: item.id)
    if len(stale.whole) == len(known):
        for table in ("graph_cross", "graph_near", "graph_derived"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - fixed names
    # Which near-misses are kept beyond the bound depends on all of a project's files.
    bounded = {
        rid for (rid,) in connection.execute("SELECT rid FROM graph_derived WHERE dropped != '{}'")
    }
    whole = set(stale.whole) | (bounded & stale.files.keys())
    facts = stored_facts(connection)
    codes = [load_code(connection, numbers[item.id], item, facts) for item in known]
    while True:
        files = {rid: paths for rid, paths in stale.files.items() if rid not in whole}
        for rid in whole:
            connection.execute("DELETE FROM graph_cross WHERE src BETWEEN ? AND ?", node_range(rid))
            connection.execute("DELETE FROM graph_near WHERE consumer=?", (rid,))
        kept: dict[tuple[str, str], int] = {}
        for rid, paths in files.items():
            _forget(connection, rid, paths)
            query = "SELECT rule, count(*) FROM graph_near WHERE consumer=? GROUP BY rule"
            kept |= {(names[rid], rule): n for rule, n in connection.execute(query, (rid,))}
        only = {names[rid]: paths for rid, paths in files.items()}
        consumers = {names[rid] for rid in (*whole, *files)}
        collector = derive(codes, consumers, only=only, kept=kept)
        beyond = {numbers[project] for project in collector.dropped} - whole
        if not beyond:
            break
        whole |= beyond
    _write(connection, collector, numbers)
    states = current(connection, projects)
    rows = []
    for project in sorted(consumers):
        rid = numbers[project]
        found = collector.reads.get(project, {})
        reads = {path: sorted(numbers[item] for item in seen) for path, seen in found.items()}
        if rid in files:
            reads = {**_kept_reads(connection, rid, files[rid]), **reads}
        dropped = json.dumps(collector.dropped.get(project, {}), sort_keys=True)
        rows.append((rid, *states[rid], json.dumps(reads, sort_keys=True), dropped))
    connection.executemany("INSERT OR REPLACE INTO graph_derived VALUES(?,?,?,?,?)", rows)


def _forget(connection: sqlite3.Connection, rid: int, paths: AbstractSet[str]) -> None:
    """Delete the edges and near-misses of a project's files, and of its manifests."""
    rules, listed = json.dumps(DECLARED_RULES), json.dumps(sorted(paths))
    connection.execute(
        "DELETE FROM graph_cross WHERE src BETWEEN ? AND ?"
        " AND (rule IN (SELECT value FROM json_each(?))"
        " OR consumer_path IN (SELECT value FROM json_each(?)))",
        (*node_range(rid), rules, listed),
    )
    connection.execute(
        "DELETE FROM graph_near WHERE consumer=?"
        " AND (rule IN (SELECT value FROM json_each(?))"
        " OR path IN (SELECT value FROM json_each(?)))",
        (rid, rules, listed),
    )


def _kept_reads(
    connection: sqlite3.Connection, rid: int, paths: AbstractSet[str]
) -> dict[str, list[int]]:
    """Return what the files that were not derived anew looked into."""
    (text,) = connection.execute("SELECT reads FROM graph_derived WHERE rid=?", (rid,)).fetchone()
    return {path: seen for path, seen in json.loads(text).items() if path and path not in paths}


def stored_facts(connection: sqlite3.Connection) -> Callable[[int, str], SourceFacts | None]:
    """Return what decodes the facts of a project's source, the last ones kept."""

    @lru_cache(maxsize=MAX_CACHED_FACTS_ENTRIES)
    def facts(rid: int, path: str) -> SourceFacts | None:
        row = connection.execute(
            "SELECT facts FROM graph_file WHERE rid=? AND path=?", (rid, path)
        ).fetchone()
        return _facts_decoder.decode(row[0]) if row is not None and row[0] else None

    return facts


_NODES = (
    "SELECT nid, label, path, line, flags FROM graph_node LEFT JOIN graph_file USING(fid) WHERE"
)


def _node(row: tuple[int, str, str | None, int, int]) -> CodeNode:
    nid, label, path, line, flags = row
    return CodeNode(
        nid=nid,
        label=label,
        path=path or "",
        line=line,
        is_file=bool(flags & FLAG_FILE),
        is_package=bool(flags & FLAG_PACKAGE),
    )


def load_code(
    connection: sqlite3.Connection,
    rid: int,
    project: GraphProject,
    facts: Callable[[int, str], SourceFacts | None],
) -> ProjectCode:
    """Load one project's code from the store; nodes and facts follow when asked for."""
    run = connection.execute
    low, high = node_range(rid)

    def nodes(path: str) -> list[CodeNode]:
        return list(map(_node, run(f"{_NODES} rid=? AND path=? ORDER BY lid", (rid, path))))

    def packages() -> list[CodeNode]:
        query = f"{_NODES} nid BETWEEN ? AND ? AND flags & ? ORDER BY lid"
        return list(map(_node, run(query, (low, high, FLAG_PACKAGE))))

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
        source=CodeSource(nodes=nodes, packages=packages, facts=partial(facts, rid), stubs=stubs),
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
