"""Projects on disk with sources and a hand-written ``graph.json`` that fits them."""

# ruff: noqa: S608 - queries are put together from this module's own text

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentic_os.aggregate.graph.intake.refresh import GraphsRefreshed, refresh_graphs
from agentic_os.aggregate.graph.projects import GraphProject
from agentic_os.aggregate.graph.tables import GRAPH_DDL
from agentic_os.code.reading import language_of, read_source

GRAPH = "graphify-out/graph.json"


def graph_of(files: dict[str, str], *, externals: Sequence[str] = ()) -> dict[str, object]:
    """Return a node-link document: a node for every file and definition, calls to externals."""
    nodes: list[dict[str, object]] = []
    links: list[dict[str, object]] = []

    def node(key: str, label: str, path: str, line: int) -> None:
        nodes.append(
            {
                "id": key,
                "label": label,
                "file_type": "code",
                "source_file": path,
                "source_location": f"L{line}",
                "community": 0,
            }
        )

    def link(source: str, target: str, relation: str, path: str, line: int) -> None:
        links.append(
            {
                "source": source,
                "target": target,
                "relation": relation,
                "confidence": "EXTRACTED",
                "confidence_score": 1.0,
                "source_file": path,
                "source_location": f"L{line}",
            }
        )

    for path, text in sorted(files.items()):
        if language_of(path) is None:
            continue
        node(path, path.rpartition("/")[2], path, 1)
        facts = read_source(path, text.encode())
        if facts is None:
            continue
        for symbol in facts.symbols:
            key = f"{path}:{symbol.qualname}"
            method = "." if symbol.kind == "method" else ""
            call = "()" if symbol.kind in {"function", "method"} else ""
            node(key, f"{method}{symbol.name}{call}", path, symbol.start)
            parent = (
                path if symbol.parent < 0 else f"{path}:{facts.symbols[symbol.parent].qualname}"
            )
            link(parent, key, "method" if method else "contains", path, symbol.start)
        for name in externals:
            link(path, name, "imports", path, 1)
    nodes.extend(
        {
            "id": name,
            "label": name,
            "file_type": "concept",
            "external": True,
            "type": "external",
            "source_file": "",
        }
        for name in externals
    )
    return {"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "links": links}


@dataclass
class GraphFleet:
    """Projects below a root, and a store with only the graph's tables."""

    root: Path
    connection: sqlite3.Connection

    @classmethod
    def at(cls, root: Path) -> "GraphFleet":
        """Begin with no project."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.executescript(GRAPH_DDL)
        return cls(root=root, connection=connection)

    def close(self) -> None:
        """Close the store."""
        self.connection.close()

    def write(
        self, name: str, files: dict[str, str], *, externals: Sequence[str] = ()
    ) -> GraphProject:
        """Write a project and its graph."""
        for path, text in files.items():
            target = self.root / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        self.graph(name, graph_of(files, externals=externals))
        return self.project(name)

    def graph(self, name: str, document: object) -> Path:
        """Write a project's graph file: bytes as they are, anything else as JSON."""
        path = self.root / name / GRAPH
        path.parent.mkdir(parents=True, exist_ok=True)
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        path.write_bytes(data)
        return path

    def project(self, name: str) -> GraphProject:
        """Return a project as the graph knows it."""
        return GraphProject(id=name, name=name, folder=self.root / name, graph_path=GRAPH)

    def refresh(
        self, *names: str, sources: bool = True, limit_bytes: int = 10**8
    ) -> GraphsRefreshed:
        """Bring the store up to date with exactly these projects, in this order."""
        self.connection.execute("BEGIN")
        try:
            done = refresh_graphs(
                self.connection,
                [self.project(name) for name in names],
                sources=sources,
                limit_bytes=limit_bytes,
            )
        finally:
            self.connection.execute("COMMIT")
        return done

    def dump(self) -> dict[str, list[tuple[object, ...]]]:
        """Return what the store says, without numbers that depend on the order of things."""
        return logical_dump(self.connection)


def logical_dump(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Return the content of the graph tables by names instead of numbers, sorted."""
    node = (
        "SELECT node.nid, repo.project || '::' || node.lid FROM graph_node AS node"
        " JOIN graph_repo AS repo ON repo.rid = node.nid >> 24"
        " UNION ALL SELECT -xid, 'external::' || name FROM graph_ext"
    )
    queries = {
        "repos": "SELECT project, status, code, sha256, nodes, edges, counts FROM graph_repo",
        "nodes": (
            "SELECT repo.project, node.lid, node.label, term.text, coalesce(file.path, ''),"
            " node.line, node.community, node.flags FROM graph_node AS node"
            " JOIN graph_repo AS repo ON repo.rid = node.nid >> 24"
            " JOIN graph_term AS term ON term.tid = node.kind"
            " LEFT JOIN graph_file AS file ON file.fid = node.fid"
        ),
        "edges": (
            f"WITH named(nid, id) AS ({node}) SELECT source.id, target.id, term.text,"
            " context.text, edge.line, edge.conf, edge.score, coalesce(file.path, '')"
            " FROM graph_out AS edge JOIN named AS source ON source.nid = edge.src"
            " JOIN named AS target ON target.nid = edge.dst"
            " JOIN graph_term AS term ON term.tid = edge.rel"
            " JOIN graph_term AS context ON context.tid = edge.ctx"
            " LEFT JOIN graph_file AS file ON file.fid = edge.fid"
        ),
        "backward": (
            f"WITH named(nid, id) AS ({node}) SELECT target.id, source.id, term.text, edge.conf"
            " FROM graph_in AS edge JOIN named AS source ON source.nid = edge.src"
            " JOIN named AS target ON target.nid = edge.dst"
            " JOIN graph_term AS term ON term.tid = edge.rel"
        ),
        "cross": (
            f"WITH named(nid, id) AS ({node}) SELECT source.id, target.id, term.text, edge.rule,"
            " edge.line, edge.conf, edge.score, edge.consumer_path, edge.provider_path,"
            " edge.provider_line, edge.detail FROM graph_cross AS edge"
            " JOIN named AS source ON source.nid = edge.src"
            " JOIN named AS target ON target.nid = edge.dst"
            " JOIN graph_term AS term ON term.tid = edge.rel"
        ),
        "near": (
            "SELECT repo.project, near.rule, near.code, near.subject, near.path, near.line,"
            " near.candidates FROM graph_near AS near JOIN graph_repo AS repo"
            " ON repo.rid = near.consumer"
        ),
        "external": (
            "SELECT repo.project, ext.name, used.lid FROM graph_ext_use AS used"
            " JOIN graph_ext AS ext USING(xid) JOIN graph_repo AS repo USING(rid)"
        ),
        "names": "SELECT name FROM graph_ext",
        "files": (
            "SELECT repo.project, file.path, file.sha256, file.built FROM graph_file AS file"
            " JOIN graph_repo AS repo USING(rid)"
        ),
        "hyper": (
            f"WITH named(nid, id) AS ({node}) SELECT repo.project, hyper.lid, hyper.label,"
            " named.id FROM graph_hyper AS hyper JOIN graph_repo AS repo USING(rid)"
            " JOIN graph_hyper_member AS member USING(hid) JOIN named USING(nid)"
        ),
    }
    found = {name: sorted(connection.execute(query).fetchall()) for name, query in queries.items()}
    names = dict(connection.execute(node).fetchall())
    for table in ("graph_words", "graph_grams"):
        for term in ("run", "app", "loa" if table == "graph_grams" else "load"):
            query = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"
            rows = connection.execute(query, (term,)).fetchall()
            found[f"{table} {term}"] = sorted((names[row[0]],) for row in rows)
    return found
