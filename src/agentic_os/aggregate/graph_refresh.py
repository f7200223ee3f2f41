"""Bring the graph tables up to date: read what changed, derive the edges between projects anew.

For every project of tier 2 and above: its ``graph.json``, the files that the graph names, and
the manifests beside them. An unchanged file is compared by its fingerprint and not read. A
missing graph is normal; a broken one leaves the last good one in place and is reported.
Everything is read through handles that follow no link and leave no project.
"""

import hashlib
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentic_os.aggregate.graph_derive import derive_edges
from agentic_os.aggregate.graph_files import FileReader, Listing, known_files, racy
from agentic_os.aggregate.graph_reader import MAX_GRAPH_BYTES, read_graph
from agentic_os.aggregate.graph_store import (
    ExtraNode,
    counts_text,
    forget_graph,
    forget_project_graph,
    next_project_number,
    store_graph,
)
from agentic_os.aggregate.graph_tables import (
    STATUS_CURRENT,
    STATUS_MISSING,
    STATUS_REFUSED,
    STATUS_STALE,
)
from agentic_os.aggregate.graph_values import Graph
from agentic_os.code.reading import language_of
from agentic_os.errors import AgenticOSError, FilesError
from agentic_os.files.reading import Fingerprint, Folder
from agentic_os.registry import Fleet
from agentic_os.results import Diagnostic

GRAPH_TIER = 2
"""The rung of the ladder from which a project contributes its graph (design section 5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphProject:
    """What the graph needs to know of a project; ``graph_path`` is relative to ``folder``."""

    id: str
    name: str
    folder: Path
    graph_path: str
    aliases: tuple[str, ...] = ()
    remote: str | None = None

    @property
    def names(self) -> frozenset[str]:
        """Every name that may stand for it, lower-case."""
        return frozenset(
            name.lower() for name in (self.name, self.folder.name, *self.aliases) if name
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphsRefreshed:
    """What one run did; ``diagnostics`` are by project id."""

    changed: bool
    files_read: int
    diagnostics: dict[str, Diagnostic]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A project's row as it was stored."""

    rid: int
    graph_path: str
    status: str
    fingerprint: Fingerprint
    read_at_ns: int
    content: str
    base: str
    code: str
    message: str


def graph_projects(fleet: Fleet) -> list[GraphProject]:
    """Return the projects of a fleet whose stack has a graph (tier 2 and above)."""
    return [
        GraphProject(
            id=project.id,
            name=project.name,
            folder=project.folder,
            graph_path=project.surfaces.graph.path,
            aliases=project.aliases,
            remote=project.remote,
        )
        for project in fleet.projects
        if project.retrieval
        and (project.tier or 0) >= GRAPH_TIER
        and project.surfaces.graph is not None
        and project.surfaces.graph.path
    ]


def refresh_graphs(
    connection: sqlite3.Connection,
    projects: Sequence[GraphProject],
    *,
    start: Callable[[], None] = lambda: None,
    sources: bool = True,
    limit_bytes: int = MAX_GRAPH_BYTES,
    now: Callable[[], int] = time.time_ns,
) -> GraphsRefreshed:
    """Make the graph tables hold what the projects say now.

    Args:
        connection: the store; a transaction is open, or ``start`` opens it.
        projects: every project of tier 2 and above; others are forgotten.
        start: called once before the first change.
        sources: also look for changed sources and manifests of unchanged graphs.
        limit_bytes: largest graph file that is read.
        now: clock, nanoseconds since the epoch.
    """
    run = _Run(connection, start, sources, limit_bytes, now)
    stored = run.rows()
    for gone in sorted(stored.keys() - {project.id for project in projects}):
        run.change()
        forget_project_graph(connection, stored[gone].rid)
    for project in sorted(projects, key=lambda item: item.id):
        run.project(project, stored.get(project.id))
    if derive_edges(connection, projects, run.change):
        run.changed = True
    return GraphsRefreshed(
        changed=run.changed, files_read=run.files_read, diagnostics=run.diagnostics
    )


class _Run:
    def __init__(
        self,
        connection: sqlite3.Connection,
        start: Callable[[], None],
        sources: bool,
        limit_bytes: int,
        now: Callable[[], int],
    ) -> None:
        self.connection = connection
        self.sources = sources
        self.limit_bytes = limit_bytes
        self.now = now
        self.changed = False
        self.files_read = 0
        self.diagnostics: dict[str, Diagnostic] = {}
        self._start = start
        self._started = False

    def change(self) -> None:
        """Open the transaction at the first change."""
        if not self._started:
            self._start()
            self._started = True
        self.changed = True

    def rows(self) -> dict[str, _Row]:
        """Return the stored rows by project."""
        return {
            row[0]: _Row(
                rid=row[1],
                graph_path=row[2],
                status=row[3],
                fingerprint=Fingerprint(*row[4:8]),
                read_at_ns=row[8],
                content=row[9],
                base=row[10],
                code=row[11],
                message=row[12],
            )
            for row in self.connection.execute(
                "SELECT project, rid, graph_path, status, size, mtime_ns, ctime_ns, inode,"
                " read_at_ns, content, base, code, message FROM graph_repo"
            )
        }

    def project(self, project: GraphProject, row: _Row | None) -> None:
        """Take in one project."""
        try:
            with Folder.open(project.folder) as folder:
                self._project(project, row, folder)
        except FilesError as fault:
            self._failed(project, row, fault, _NOTHING)

    def _project(self, project: GraphProject, row: _Row | None, folder: Folder) -> None:
        if row is not None and row.graph_path != project.graph_path:
            self.change()
            forget_project_graph(self.connection, row.rid)
            row = None
        try:
            seen = folder.stat(project.graph_path)
        except FilesError as fault:
            if fault.code == "FILE_MISSING":
                self._missing(project, row)
            else:
                self._failed(project, row, fault, _NOTHING)
            return
        if row is not None and row.fingerprint == seen and not racy(seen, row.read_at_ns):
            if row.code:
                self.diagnostics[project.id] = _diagnostic(project, row.code, row.message)
            if row.status == STATUS_CURRENT and self.sources:
                self._sources(project, row, folder)
            return
        self._read(project, row, folder, seen)

    # -- the graph file ------------------------------------------------------------------

    def _read(
        self, project: GraphProject, row: _Row | None, folder: Folder, seen: Fingerprint
    ) -> None:
        read_at = self.now()
        try:
            read = folder.read(project.graph_path, limit_bytes=self.limit_bytes)
            self.files_read += 1
            if (
                row is not None
                and row.status == STATUS_CURRENT
                and row.fingerprint.size == read.fingerprint.size
                and self._stored_hash(row.rid) == read.sha256
            ):
                self._touch(row.rid, read.fingerprint, read_at)
                if self.sources:
                    self._sources(project, row, folder)
                return
            graph = read_graph(read.data)
        except AgenticOSError as fault:
            self._failed(project, row, fault, seen, read_at)
            return
        sha256, fingerprint = read.sha256, read.fingerprint
        del read
        self.change()
        rid = next_project_number(self.connection) if row is None else row.rid
        self.connection.execute(
            "INSERT OR REPLACE INTO graph_repo VALUES(?,?,?,?,'','',?,?,?,?,?,?,'','',?,?,?,0,0,?)",
            (
                rid,
                project.id,
                project.graph_path,
                STATUS_CURRENT,
                *fingerprint,
                read_at,
                sha256,
                graph.built_at_commit,
                graph.graphify_version,
                graph.schema_version,
                counts_text(graph.counts),
            ),
        )
        self._take_in(project, rid, folder, graph)

    def _stored_hash(self, rid: int) -> str:
        row = self.connection.execute("SELECT sha256 FROM graph_repo WHERE rid=?", (rid,))
        return str(row.fetchone()[0])

    def _touch(self, rid: int, fingerprint: Fingerprint, read_at: int) -> None:
        """Remember new times of unchanged bytes."""
        if not self._started:
            self._start()
            self._started = True
        self.connection.execute(
            "UPDATE graph_repo SET size=?, mtime_ns=?, ctime_ns=?, inode=?, read_at_ns=?"
            " WHERE rid=?",
            (*fingerprint, read_at, rid),
        )

    def _missing(self, project: GraphProject, row: _Row | None) -> None:
        if row is not None and row.status == STATUS_MISSING:
            return
        self.change()
        if row is not None:
            forget_project_graph(self.connection, row.rid)
        self._place_row(project, None, STATUS_MISSING, "", "", _NOTHING, 0)

    def _failed(
        self,
        project: GraphProject,
        row: _Row | None,
        fault: AgenticOSError,
        seen: Fingerprint,
        read_at: int = 0,
    ) -> None:
        """Keep the last good graph of a project whose graph cannot be read now."""
        self.diagnostics[project.id] = _diagnostic(project, fault.code, fault.message)
        kept = row is not None and row.status in {STATUS_CURRENT, STATUS_STALE}
        status = STATUS_STALE if kept else STATUS_REFUSED
        if (
            row is not None
            and (row.status, row.code, row.fingerprint) == (status, fault.code, seen)
            and not racy(seen, row.read_at_ns)
        ):
            return
        self.change()
        self._place_row(project, row, status, fault.code, fault.message, seen, read_at)

    def _place_row(
        self,
        project: GraphProject,
        row: _Row | None,
        status: str,
        code: str,
        message: str,
        seen: Fingerprint,
        read_at: int,
    ) -> None:
        if row is None:
            rid = next_project_number(self.connection)
            self.connection.execute(
                "INSERT INTO graph_repo VALUES(?,?,?,?,?,?,?,?,?,?,?,'','','','','',0,0,0,'{}')",
                (rid, project.id, project.graph_path, status, code, message, *seen, read_at),
            )
            return
        self.connection.execute(
            "UPDATE graph_repo SET status=?, code=?, message=?, size=?, mtime_ns=?, ctime_ns=?,"
            " inode=?, read_at_ns=? WHERE rid=?",
            (status, code, message, *seen, read_at, row.rid),
        )

    # -- what the graph names ------------------------------------------------------------

    def _sources(self, project: GraphProject, row: _Row, folder: Folder) -> None:
        """Look for changed sources and manifests of a graph that has not changed itself."""
        listing = Listing(folder)
        reader = FileReader(self.connection, row.rid, listing, self.now())
        plan = reader.plan([path for path, _ in known_files(self.connection, row.rid)])
        if not plan.changed:
            return
        if plan.manifests_changed:
            # The nodes that stand for packages follow the manifests: the slice is made anew.
            try:
                graph = read_graph(
                    folder.read(project.graph_path, limit_bytes=self.limit_bytes).data
                )
            except AgenticOSError as fault:
                self._failed(project, row, fault, row.fingerprint, row.read_at_ns)
                return
            self._take_in(project, row.rid, folder, graph)
            return
        self._begin()
        self.files_read += reader.carry_out(plan)
        self._settle(row.rid, row.base)

    def _begin(self) -> None:
        if not self._started:
            self._start()
            self._started = True

    def _take_in(self, project: GraphProject, rid: int, folder: Folder, graph: Graph) -> None:
        self.change()
        paths = graph_paths(graph)
        listing = Listing(folder)
        base = listing.base_of(paths)
        based = {path: f"{base}/{path}" if base else path for path in paths}
        reader = FileReader(self.connection, rid, listing, self.now())
        plan = reader.plan(sorted(based.values()))
        self.files_read += reader.carry_out(plan)
        extra = extra_nodes(project, graph, base, reader)
        reader.list_manifests(sorted({item.path for item in extra if item.package and item.path}))
        reader.record_build_hashes(project.graph_path)
        numbers = dict(known_files(self.connection, rid))
        files = {path: numbers[whole] for path, whole in based.items() if whole in numbers}
        files.update({item.path: numbers[item.path] for item in extra if item.path in numbers})
        try:
            nodes, edges = store_graph(self.connection, rid, graph, files, extra)
        except AgenticOSError as fault:
            forget_graph(self.connection, rid)
            self.diagnostics[project.id] = _diagnostic(project, fault.code, fault.message)
            nodes = edges = 0
        self.connection.execute(
            "UPDATE graph_repo SET nodes=?, edges=? WHERE rid=?", (nodes, edges, rid)
        )
        self._settle(rid, base)

    def _settle(self, rid: int, base: str) -> None:
        """Note what edges are derived from, in one hash; tell whether it changed."""
        digest = hashlib.sha256()
        run = self.connection.execute
        digest.update(self._stored_hash(rid).encode())
        for table in ("graph_file", "graph_manifest", "graph_folder"):
            column = "names" if table == "graph_folder" else "sha256"
            query = f"SELECT path, {column} FROM {table} WHERE rid=? ORDER BY path"  # noqa: S608 - fixed names
            for path, value in run(query, (rid,)):
                digest.update(f"{path}\0{value}\n".encode("utf-8", "surrogateescape"))
        content = digest.hexdigest()
        before = run("SELECT content FROM graph_repo WHERE rid=?", (rid,)).fetchone()[0]
        if content != before:
            self.changed = True
        run("UPDATE graph_repo SET content=?, base=? WHERE rid=?", (content, base, rid))


_NOTHING = Fingerprint(-1, 0, 0, 0)


def graph_paths(graph: Graph) -> list[str]:
    """Return every file that a graph names, sorted."""
    paths = {node.path for node in graph.nodes}
    paths.update(edge.path for edge in graph.edges)
    paths.update(item.path for item in graph.hyperedges)
    paths.discard("")
    return sorted(paths)


def extra_nodes(
    project: GraphProject, graph: Graph, base: str, reader: FileReader
) -> list[ExtraNode]:
    """Return the nodes that edges between projects need and the graph does not have.

    A source file that was read and has no node of its own; a package that a manifest
    declares; the project itself, where nothing stands for it.
    """
    prefix = f"{base}/" if base else ""
    with_node = {
        prefix + node.path
        for node in graph.nodes
        if node.path and node.label.rpartition("/")[2] == node.path.rpartition("/")[2]
    }
    extra = [
        ExtraNode(
            key=f"file:{path}", label=path.rpartition("/")[2], path=path, line=1, package=False
        )
        for path in reader.readable()
        if path not in with_node and language_of(path) is not None
    ]
    packages = {prefix + node.path for node in graph.nodes if node.package and node.path}
    at_root = any("/" not in path for path in packages)
    for manifest in reader.manifests():
        for package in manifest.packages:
            if manifest.path in packages:
                break
            packages.add(manifest.path)
            at_root = at_root or not manifest.folder
            extra.append(
                ExtraNode(
                    key=f"pkg_{package.ecosystem}_{package.name}",
                    label=package.display,
                    path=manifest.path,
                    line=package.line,
                    package=True,
                )
            )
    if not at_root:
        extra.append(ExtraNode(key="project", label=project.name, path="", line=0, package=True))
    return extra


def _diagnostic(project: GraphProject, code: str, message: str) -> Diagnostic:
    return Diagnostic(code=code, severity="warning", message=message, path=project.graph_path)
