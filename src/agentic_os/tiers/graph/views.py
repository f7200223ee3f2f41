"""From numbers to what is shown: nodes and edges with project, file, line, and whether it holds.

A file is read once per answer to compare its hash with the one the graph was built from; beyond
``MAX_CHECKED_FILES`` an answer says nothing about the rest (``holds`` is ``None``) and counts it.
Text that came from a project is made safe to show here (design section 6).
"""

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from agentic_os.aggregate.graph.holds import MAX_CHECKED_BYTES, still_holds
from agentic_os.aggregate.graph.tables import CONFIDENCE_WORDS, FLAG_SYNTHETIC, PROJECT_SHIFT
from agentic_os.code.roles import role_of
from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder
from agentic_os.text.fencing import one_line
from agentic_os.tiers.graph.answers import GraphEdgeView, GraphNodeView, GraphPlace

MAX_CHECKED_FILES = 300
EXTERNAL_PREFIX = "external::"
QUERY_BATCH_ENTRIES = 400
"""Nodes that one query names."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow:
    """A node as stored."""

    nid: int
    lid: str
    label: str
    kind: str
    path: str
    line: int
    community: int
    flags: int
    sha256: str
    built: str


@dataclass(slots=True, kw_only=True)
class Viewer:
    """Makes the nodes and edges of one answer.

    Attributes:
        connection: the store.
        projects: project ids by number.
        folders: where each project's files are, by id; absent ones are not checked.
        check: whether files are read to see if their lines still hold.
    """

    connection: sqlite3.Connection
    projects: Mapping[int, str]
    folders: Mapping[str, Path]
    check: bool = True
    unchecked: set[tuple[str, str]] = field(default_factory=set)
    _held: dict[tuple[str, str], bool | None] = field(default_factory=dict)
    _opened: dict[str, Folder | None] = field(default_factory=dict)
    _hashes: dict[tuple[int, str], tuple[str, str]] = field(default_factory=dict)

    def close(self) -> None:
        """Close the folders that were opened."""
        for folder in self._opened.values():
            if folder is not None:
                folder.close()
        self._opened.clear()

    # -- nodes ---------------------------------------------------------------------------

    def rows(self, numbers: Iterable[int]) -> dict[int, NodeRow]:
        """Load nodes by number."""
        wanted = sorted({number for number in numbers if number > 0})
        found: dict[int, NodeRow] = {}
        for start in range(0, len(wanted), QUERY_BATCH_ENTRIES):
            listed = ",".join(map(str, wanted[start : start + QUERY_BATCH_ENTRIES]))
            query = f"{_NODES} WHERE node.nid IN ({listed})"
            for row in self.connection.execute(query):
                found[row[0]] = node_row(row)
        return found

    def nodes(
        self, numbers: Iterable[int], distance: Mapping[int, int] | None = None
    ) -> dict[int, GraphNodeView]:
        """Make the views of nodes, external stubs (negative numbers) included."""
        wanted = list(dict.fromkeys(numbers))
        rows = self.rows(wanted)
        hops = distance or {}
        views: dict[int, GraphNodeView] = {}
        for number in wanted:
            if number < 0:
                views[number] = self._external(number, hops.get(number))
            elif number in rows:
                views[number] = self.node(rows[number], hops.get(number))
        return views

    def node(self, row: NodeRow, distance: int | None = None) -> GraphNodeView:
        """Make the view of one node."""
        project = self.projects.get(row.nid >> PROJECT_SHIFT, "")
        place = None
        if row.path:
            held = self._holds(project, row.path, row.sha256, row.built)
            place = GraphPlace(
                project=project, path=one_line(row.path), line=row.line or None, holds=held
            )
        return GraphNodeView(
            id=f"{project}::{one_line(row.lid)}",
            label=one_line(row.label),
            kind=one_line(row.kind),
            project=project,
            place=place,
            synthetic=bool(row.flags & FLAG_SYNTHETIC),
            community=row.community if row.community >= 0 else None,
            distance=distance,
        )

    def _external(self, number: int, distance: int | None) -> GraphNodeView:
        row = self.connection.execute(
            "SELECT name FROM graph_ext WHERE xid=?", (-number,)
        ).fetchone()
        name = one_line(row[0]) if row else ""
        return GraphNodeView(
            id=EXTERNAL_PREFIX + name,
            label=name,
            kind="external",
            project=None,
            place=None,
            external=True,
            distance=distance,
        )

    # -- edges ---------------------------------------------------------------------------

    def edges_between(
        self, pairs: Iterable[tuple[int, int]], names: Mapping[int, GraphNodeView]
    ) -> list[GraphEdgeView]:
        """Make the views of every edge from the first to the second node of the pairs."""
        found: list[GraphEdgeView] = []
        for source, target in pairs:
            if source not in names or target not in names:
                continue
            rows = self.connection.execute(_EDGES, (source, target)).fetchall()
            found.extend(self._edge(row, names) for row in rows)
            rows = self.connection.execute(_CROSS_BETWEEN, (source, target)).fetchall()
            found.extend(self.cross(row, names) for row in rows)
        return found

    def _edge(self, row: tuple[object, ...], names: Mapping[int, GraphNodeView]) -> GraphEdgeView:
        source, target, relation, context, conf, score, path, line, sha256, built = row
        evidence: tuple[GraphPlace, ...] = ()
        number = max(_int(source), _int(target))
        project = self.projects.get(number >> PROJECT_SHIFT, "")
        if path:
            held = self._holds(project, str(path), str(sha256), str(built))
            evidence = (
                GraphPlace(
                    project=project, path=one_line(str(path)), line=_int(line) or None, holds=held
                ),
            )
        return GraphEdgeView(
            source=names[_int(source)].id,
            target=names[_int(target)].id,
            relation=one_line(str(relation)),
            confidence=CONFIDENCE_WORDS[_int(conf)],
            score=float(str(score)),
            rule="",
            evidence=evidence,
            role=role_of(str(path)),
            context=one_line(str(context)),
        )

    def cross(self, row: tuple[object, ...], names: Mapping[int, GraphNodeView]) -> GraphEdgeView:
        """Make the view of an edge between projects from a row of ``CROSS_QUERY``."""
        source, target = _int(row[0]), _int(row[1])
        relation, rule, line, conf, score, path, provider_path, provider_line, detail = row[2:]
        return GraphEdgeView(
            source=names[source].id,
            target=names[target].id,
            relation=one_line(str(relation)),
            confidence=CONFIDENCE_WORDS[_int(conf)],
            score=float(str(score)),
            rule=str(rule),
            evidence=(
                self.place(source >> PROJECT_SHIFT, str(path), _int(line)),
                self.place(target >> PROJECT_SHIFT, str(provider_path), _int(provider_line)),
            ),
            role=role_of(str(path)),
            context="cross_repo",
            detail=one_line(str(detail)),
        )

    def place(self, rid: int, path: str, line: int) -> GraphPlace:
        """Make a place from a project's number, a path and a line."""
        project = self.projects.get(rid, "")
        sha256, built = self._file_hashes(rid, path)
        held = self._holds(project, path, sha256, built) if path else None
        return GraphPlace(project=project, path=one_line(path), line=line or None, holds=held)

    # -- whether it holds ----------------------------------------------------------------

    def _file_hashes(self, rid: int, path: str) -> tuple[str, str]:
        key = (rid, path)
        if key not in self._hashes:
            row = self.connection.execute(
                "SELECT sha256, built FROM graph_file WHERE rid=? AND path=?"
                " UNION ALL SELECT sha256, '' FROM graph_manifest WHERE rid=? AND path=?",
                key * 2,
            ).fetchone()
            self._hashes[key] = (row[0], row[1]) if row else ("", "")
        return self._hashes[key]

    def _holds(self, project: str, path: str, sha256: str, built: str) -> bool | None:
        key = (project, path)
        if key in self._held:
            return self._held[key]
        if not self.check or project not in self.folders:
            return None
        if len(self._held) >= MAX_CHECKED_FILES:
            self.unchecked.add(key)
            return None
        folder = self._folder(project)
        held = None if folder is None else still_holds(folder, path, sha256, built)
        self._held[key] = held
        return held

    def refutes(self, edge: GraphEdgeView, target: GraphNodeView) -> bool:
        """Whether the file that shows an edge is gone, or changed and no longer names its target.

        Only a file whose bytes are not those of the build is read again.
        """
        shown = next(iter(edge.evidence), None)
        if shown is None or shown.holds is not False:
            return False
        folder = self._folder(shown.project)
        if folder is None:
            return False
        try:
            text = folder.read(shown.path, limit_bytes=MAX_CHECKED_BYTES).data.decode(
                errors="replace"
            )
        except FilesError as fault:
            return fault.code != "FILE_TOO_LARGE"
        name = _name(target)
        return bool(name) and re.search(rf"\b{re.escape(name)}\b", text) is None

    def _folder(self, project: str) -> Folder | None:
        if project not in self._opened:
            try:
                self._opened[project] = Folder.open(self.folders[project])
            except FilesError:
                self._opened[project] = None
        return self._opened[project]


_NODES = """
SELECT node.nid, node.lid, node.label, term.text, coalesce(file.path, ''), node.line,
    node.community, node.flags, coalesce(file.sha256, ''), coalesce(file.built, '')
FROM graph_node AS node JOIN graph_term AS term ON term.tid = node.kind
LEFT JOIN graph_file AS file ON file.fid = node.fid
"""
NODE_QUERY = _NODES

_EDGES = """
SELECT edge.src, edge.dst, term.text, context.text, edge.conf, edge.score,
    coalesce(file.path, ''), edge.line, coalesce(file.sha256, ''), coalesce(file.built, '')
FROM graph_out AS edge JOIN graph_term AS term ON term.tid = edge.rel
JOIN graph_term AS context ON context.tid = edge.ctx
LEFT JOIN graph_file AS file ON file.fid = edge.fid
WHERE edge.src = ? AND edge.dst = ? ORDER BY edge.conf, term.text, edge.line
"""

_CROSS = """
SELECT edge.src, edge.dst, term.text, edge.rule, edge.line, edge.conf, edge.score,
    edge.consumer_path, edge.provider_path, edge.provider_line, edge.detail
FROM graph_cross AS edge JOIN graph_term AS term ON term.tid = edge.rel
"""
CROSS_QUERY = _CROSS
_CROSS_BETWEEN = f"{_CROSS} WHERE edge.src = ? AND edge.dst = ? ORDER BY edge.rule, edge.line"


def node_row(row: tuple[object, ...]) -> NodeRow:
    """Type one row of ``NODE_QUERY``."""
    return NodeRow(
        nid=_int(row[0]),
        lid=str(row[1]),
        label=str(row[2]),
        kind=str(row[3]),
        path=str(row[4]),
        line=_int(row[5]),
        community=_int(row[6]),
        flags=_int(row[7]),
        sha256=str(row[8]),
        built=str(row[9]),
    )


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _name(node: GraphNodeView) -> str:
    """Return the word by which a source would name a node: of a file, what it is imported as."""
    path = PurePosixPath(node.place.path if node.place else "")
    if path.name and path.name == node.label:
        return path.parent.name if path.stem in {"__init__", "index", "mod"} else path.stem
    return next(reversed(_WORD.findall(node.label)), "")
