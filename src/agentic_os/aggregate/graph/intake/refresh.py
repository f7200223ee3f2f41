"""Bring the graph tables up to date: read what changed, derive the edges between projects anew.

For every project of tier 2 and above: its ``graph.json``, the files that the graph names, and
the manifests beside them. An unchanged file is compared by its fingerprint and not read. A
missing graph is normal; a broken one leaves the last good one in place and is reported.
Everything is read through handles that follow no link and leave no project.

Every question to the fleet passes through here, so what parses is imported where it is needed.
"""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from agentic_os.aggregate.graph.codes import graph_diagnostic
from agentic_os.aggregate.graph.intake.listing import Listing, has_pending, known_files, unchanged
from agentic_os.aggregate.graph.links.state import outdated
from agentic_os.aggregate.graph.projects import GraphProject
from agentic_os.aggregate.graph.tables import (
    STATUS_CURRENT,
    STATUS_MISSING,
    STATUS_OWN,
    STATUS_REFUSED,
    STATUS_STALE,
)
from agentic_os.errors import AgenticOSError, FilesError
from agentic_os.files.reading import Fingerprint, Folder
from agentic_os.results import Diagnostic
from agentic_os.text.secrets.redaction import Redactor

if TYPE_CHECKING:
    from agentic_os.aggregate.graph.intake.paths import Locate
    from agentic_os.aggregate.graph.intake.rows import ProjectRows, TakenIn
    from agentic_os.aggregate.graph.values import Graph

MAX_GRAPH_BYTES = 512 * 1024 * 1024
"""Graphify's own bound (``GRAPHIFY_MAX_GRAPH_BYTES``); the caller may name another."""


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
    code: str
    message: str


def refresh_graphs(
    connection: sqlite3.Connection,
    projects: Sequence[GraphProject],
    *,
    start: Callable[[], None] = lambda: None,
    sources: bool = True,
    redactor: Redactor | None = None,
    own: Mapping[str, Sequence[str]] = MappingProxyType({}),
    limit_bytes: int = MAX_GRAPH_BYTES,
    now: Callable[[], int] = time.time_ns,
) -> GraphsRefreshed:
    """Make the graph tables hold what the projects say now.

    Args:
        connection: the store; a transaction is open, or ``start`` opens it.
        projects: every project of tier 2 and above; others are forgotten.
        start: called once before the first change.
        sources: also look for changed sources and manifests of unchanged graphs.
        redactor: takes secrets out before anything is stored; one that allows nothing by
            default.
        own: the sources of the projects whose graph is made by us where they have none, by id.
        limit_bytes: largest graph file that is read.
        now: clock, nanoseconds since the epoch.
    """
    run = _Run(connection, start, sources, redactor or Redactor(), own, limit_bytes, now)
    stored = run.rows()
    for gone in sorted(stored.keys() - {project.id for project in projects}):
        run.forget(stored[gone].rid)
    for project in sorted(projects, key=lambda item: item.id):
        run.project(project, stored.get(project.id))
    stale = outdated(connection, projects)
    if stale is not None:
        from agentic_os.aggregate.graph.links.derive import derive_edges

        run.change()
        derive_edges(connection, projects, stale)
    return GraphsRefreshed(
        changed=run.changed, files_read=run.files_read, diagnostics=run.diagnostics
    )


class _Run:
    def __init__(
        self,
        connection: sqlite3.Connection,
        start: Callable[[], None],
        sources: bool,
        redactor: Redactor,
        own: Mapping[str, Sequence[str]],
        limit_bytes: int,
        now: Callable[[], int],
    ) -> None:
        self.connection = connection
        self.sources = sources
        self.redactor = redactor
        self.own = own
        self.limit_bytes = limit_bytes
        self.now = now
        self.changed = False
        self.files_read = 0
        self.diagnostics: dict[str, Diagnostic] = {}
        self._start = start
        self._started = False

    def change(self) -> None:
        """Open the transaction, and count a change of content."""
        self.begin()
        self.changed = True

    def begin(self) -> None:
        """Open the transaction at the first write."""
        if not self._started:
            self._start()
            self._started = True

    def forget(self, rid: int) -> None:
        """Forget everything of a project."""
        from agentic_os.aggregate.graph.store import forget_project_graph

        self.change()
        forget_project_graph(self.connection, rid)

    def _next_number(self) -> int:
        row = self.connection.execute("SELECT coalesce(max(rid), 0) + 1 FROM graph_repo")
        return int(row.fetchone()[0])

    def rows(self) -> dict[str, _Row]:
        """Return the stored rows by project."""
        return {
            row[0]: _Row(
                rid=row[1],
                graph_path=row[2],
                status=row[3],
                fingerprint=Fingerprint(*row[4:8]),
                read_at_ns=row[8],
                code=row[9],
                message=row[10],
            )
            for row in self.connection.execute(
                "SELECT project, rid, graph_path, status, size, mtime_ns, ctime_ns, inode,"
                " read_at_ns, code, message FROM graph_repo"
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
            self.forget(row.rid)
            row = None
        try:
            seen = folder.stat(project.graph_path)
        except FilesError as fault:
            if fault.code == "FILE_MISSING":
                self._without_file(project, row, folder)
            else:
                self._failed(project, row, fault, _NOTHING)
            return
        if row is not None and row.fingerprint == seen and seen.settled(row.read_at_ns):
            if row.code:
                self.diagnostics[project.id] = graph_diagnostic(
                    row.code, row.message, project.graph_path
                )
            if row.status == STATUS_CURRENT and self.sources:
                self._sources(project, row, folder)
            return
        self._read(project, row, folder, seen)

    # -- the graph file ------------------------------------------------------------------

    def _read(
        self, project: GraphProject, row: _Row | None, folder: Folder, seen: Fingerprint
    ) -> None:
        from agentic_os.aggregate.graph.intake.reader import read_graph

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
            graph = read_graph(read.data, self._located(project, folder))
        except AgenticOSError as fault:
            self._failed(project, row, fault, seen, read_at)
            return
        sha256, fingerprint = read.sha256, read.fingerprint
        del read
        self.change()
        rid = self._next_number() if row is None else row.rid
        self.connection.execute("DELETE FROM graph_repo WHERE rid=?", (rid,))
        self.connection.execute(
            "INSERT INTO graph_repo VALUES(?,?,?,?,'','',?,?,?,?,?,?,'','','',?,?,?,0,0,'{}')",
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
            ),
        )
        self._take_in(project, rid, folder, graph, renewed=True)

    def _located(self, project: GraphProject, folder: Folder) -> "Locate":
        from agentic_os.aggregate.graph.intake.paths import located

        return located(str(project.folder), Listing(folder))

    def _stored_hash(self, rid: int) -> str:
        row = self.connection.execute("SELECT sha256 FROM graph_repo WHERE rid=?", (rid,))
        return str(row.fetchone()[0])

    def _touch(self, rid: int, fingerprint: Fingerprint, read_at: int) -> None:
        """Remember new times of unchanged bytes."""
        self.begin()
        self.connection.execute(
            "UPDATE graph_repo SET size=?, mtime_ns=?, ctime_ns=?, inode=?, read_at_ns=?"
            " WHERE rid=?",
            (*fingerprint, read_at, rid),
        )

    def _without_file(self, project: GraphProject, row: _Row | None, folder: Folder) -> None:
        """Make or keep a graph of our own where one was asked for; otherwise none is there."""
        paths = self.own.get(project.id)
        if paths is not None and self._is_kept(row, paths, folder):
            return
        if paths is not None:
            self.change()
            self._place_row(project, row, STATUS_OWN, "", "", _NOTHING, 0)
            (rid,) = self.connection.execute(
                "SELECT rid FROM graph_repo WHERE project=?", (project.id,)
            ).fetchone()
            self._note(project, self._rows(project, rid, folder).take_own(paths))
        elif row is None or row.status != STATUS_OWN:
            self._missing(project, row)
        elif self.sources and not unchanged(self.connection, row.rid, Listing(folder)):
            self.begin()
            self._note(project, self._rows(project, row.rid, folder).take_own())

    def _is_kept(self, row: _Row | None, paths: Sequence[str], folder: Folder) -> bool:
        """Return whether a graph of our own was made of these sources, as far as is looked at."""
        if row is None or row.status != STATUS_OWN:
            return False
        from agentic_os.code.reading import language_of

        names = {path for path, _ in known_files(self.connection, row.rid) if language_of(path)}
        if names != set(paths) or has_pending(self.connection, row.rid):
            return False
        return not self.sources or unchanged(self.connection, row.rid, Listing(folder))

    def _note(self, project: GraphProject, done: "TakenIn") -> None:
        self.files_read += done.files_read
        self.changed = self.changed or done.changed
        if done.fault is not None:
            self.diagnostics[project.id] = graph_diagnostic(
                done.fault.code, done.fault.message, project.graph_path
            )

    def _missing(self, project: GraphProject, row: _Row | None) -> None:
        if row is not None and row.status == STATUS_MISSING:
            return
        self.change()
        if row is not None:
            self.forget(row.rid)
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
        self.diagnostics[project.id] = graph_diagnostic(
            fault.code, fault.message, project.graph_path
        )
        kept = row is not None and row.status in {STATUS_CURRENT, STATUS_STALE, STATUS_OWN}
        status = STATUS_STALE if kept else STATUS_REFUSED
        if (
            row is not None
            and (row.status, row.code, row.fingerprint) == (status, fault.code, seen)
            and (seen == _NOTHING or seen.settled(row.read_at_ns))
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
            rid = self._next_number()
            self.connection.execute(
                "INSERT INTO graph_repo VALUES(?,?,?,?,?,?,?,?,?,?,?,'','','','','','',0,0,0,'{}')",
                (rid, project.id, project.graph_path, status, code, message, *seen, read_at),
            )
            return
        self.connection.execute(
            "UPDATE graph_repo SET status=?, code=?, message=?, size=?, mtime_ns=?, ctime_ns=?,"
            " inode=?, read_at_ns=? WHERE rid=?",
            (status, code, message, *seen, read_at, row.rid),
        )

    def _rows(self, project: GraphProject, rid: int, folder: Folder) -> "ProjectRows":
        from agentic_os.aggregate.graph.intake.rows import ProjectRows

        return ProjectRows(
            connection=self.connection,
            rid=rid,
            project=project,
            folder=folder,
            redactor=self.redactor,
            now_ns=self.now(),
        )

    # -- what the graph names ------------------------------------------------------------

    def _sources(self, project: GraphProject, row: _Row, folder: Folder) -> None:
        """Look for changed sources and manifests of a graph that has not changed itself."""
        if unchanged(self.connection, row.rid, Listing(folder)):
            return
        from agentic_os.aggregate.graph.intake.reader import read_graph

        self.begin()
        followed = self._rows(project, row.rid, folder).follow_sources()
        if followed is not None:
            self.files_read += followed.files_read
            self.changed = self.changed or followed.changed
            return
        try:
            read = folder.read(project.graph_path, limit_bytes=self.limit_bytes)
            graph = read_graph(read.data, self._located(project, folder))
        except AgenticOSError as fault:
            self._failed(project, row, fault, row.fingerprint, row.read_at_ns)
            return
        self._take_in(project, row.rid, folder, graph, renewed=False)

    def _take_in(
        self, project: GraphProject, rid: int, folder: Folder, graph: "Graph", *, renewed: bool
    ) -> None:
        self.change()
        self._note(project, self._rows(project, rid, folder).take_in(graph, renewed=renewed))


_NOTHING = Fingerprint(-1, 0, 0, 0)
