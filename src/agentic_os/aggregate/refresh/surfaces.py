"""Bring the store up to date: read what changed, forget what is gone.

An unchanged fleet is listed and compared, not read, and writes nothing (``freshness``).
Everything one run changes goes into one transaction.
"""

import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

import msgspec

from agentic_os.aggregate.refresh.freshness import KnownFile, Seen, digest_now, is_unchanged
from agentic_os.aggregate.refresh.intake import PASSED_OVER, UNREAD, Intake, problem_row
from agentic_os.aggregate.store.database import Store, transaction
from agentic_os.aggregate.surfaces.sweep import LIMIT_BYTES, Candidate, Unread, sweep, unread
from agentic_os.errors import FilesError
from agentic_os.files.reading import Fingerprint, Folder
from agentic_os.registry.descriptor.known import encode_known
from agentic_os.registry.fleet import Fleet
from agentic_os.registry.project import Project, project_views
from agentic_os.results import Diagnostic
from agentic_os.settings.values import Limits
from agentic_os.text.secrets.redaction import Redactor

Progress = Callable[[int, int], None]
"""Called with the number of projects done and the number of all."""


def silent(_done: int, _total: int) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What one run did."""

    files_read: int
    files_removed: int
    changed: bool
    graph_files_read: int = 0


def refresh(
    store: Store,
    fleet: Fleet,
    redactor: Redactor,
    *,
    sources: bool = False,
    graph_bytes: int = Limits().graph_bytes,
    progress: Progress = silent,
) -> Refreshed:
    """Make the store hold what the fleet's projects say now.

    Args:
        store: a store opened by ``writing``.
        fleet: the projects found now; projects it lacks are forgotten.
        redactor: takes secrets out before anything is stored.
        sources: also look for changed sources and manifests behind unchanged code graphs.
        graph_bytes: the largest code graph that is read.
        progress: told after each project.
    """
    run = Run(store.connection, redactor)
    with ExitStack() as stack:
        run.begin = lambda: stack.enter_context(transaction(store.connection))
        run.descriptors(fleet)
        run.projects(fleet)
        for done, project in enumerate(fleet.projects, 1):
            run.project(project)
            progress(done, len(fleet.projects))
        run.graphs(fleet, sources=sources, limit_bytes=graph_bytes)
        run.finish()
    if run.started:
        # Keep the log small; a reader that holds the old state, or a full disk, only delays
        # this: what was committed is safe in the log.
        with suppress(sqlite3.Error):
            store.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    return Refreshed(
        files_read=run.files_read,
        files_removed=run.files_removed,
        changed=run.changed,
        graph_files_read=run.graph_files_read,
    )


@dataclass(slots=True)
class Run(Intake):
    """One refresh: compares the fleet with the store, project by project."""

    graph_files_read: int = 0
    pks: dict[str, int] = field(default_factory=dict)
    swept: dict[int, bytes] = field(default_factory=dict)
    unread: dict[int, set[tuple[str, str, str]]] = field(default_factory=dict)

    def descriptors(self, fleet: Fleet) -> None:
        """Keep what was parsed, so that an unchanged descriptor is only looked at.

        One that holds a secret, in its endpoint say, or whose path is not text, is not kept:
        it is parsed each time.
        """
        stored: dict[str, bytes] = dict(
            self.connection.execute("SELECT path, value FROM descriptor")
        )
        now = {path: encode_known(known) for path, known in fleet.known.items()}
        new = [
            (path, value)
            for path, value in now.items()
            if stored.get(path) != value and _is_text(path) and not self.holds_secret(value)
        ]
        gone = stored.keys() - {path for path, value in now.items() if stored.get(path) == value}
        if gone or new:
            self.start(content=False)
            self.connection.executemany(
                "DELETE FROM descriptor WHERE path=?", [(path,) for path in gone]
            )
            self.connection.executemany("INSERT INTO descriptor VALUES(?,?)", new)

    def holds_secret(self, value: bytes) -> bool:
        """Whether a stored form would hold a secret that no allow-list names."""
        return bool(self.redactor.redact(value.decode("utf-8", "replace")).findings)

    def projects(self, fleet: Fleet) -> None:
        """Write the projects' own rows; forget the projects that are gone."""
        rows = self.connection.execute("SELECT pk, id, view, folder FROM project").fetchall()
        stored = {row[1]: row for row in rows}
        encode = msgspec.json.Encoder().encode
        next_pk = max((row[0] for row in rows), default=0) + 1
        for gone in stored.keys() - {project.id for project in fleet.projects}:
            self.start()
            self.forget_project(stored[gone][0])
        for project, view in zip(fleet.projects, project_views(fleet.projects), strict=True):
            encoded = encode(view)
            row = stored.get(project.id)
            pk = row[0] if row else next_pk
            self.pks[project.id] = pk
            if row is not None and row[2] == encoded:
                continue
            self.start()
            if row is None:
                next_pk += 1
            elif row[3] != view.path:
                self.forget_files(pk)
            elif not project.retrieval:
                self.forget_corpus(pk)
            self.connection.execute(
                "INSERT OR REPLACE INTO project VALUES(?,?,?,?,?,?,?,?,?)",
                (
                    pk,
                    project.id,
                    project.name,
                    view.path,
                    view.tier,
                    view.retrieval,
                    view.branch,
                    view.commit,
                    encoded,
                ),
            )
        self.corpus = {
            row[0]
            for row in self.connection.execute(
                "SELECT DISTINCT project FROM file WHERE role IN ('source', 'document')"
            )
        }
        self.swept = dict(self.connection.execute("SELECT project, digest FROM swept"))
        for row in self.connection.execute(
            "SELECT project, path, code, message FROM problem WHERE unread"
        ):
            self.unread.setdefault(row[0], set()).add(row[1:])
        self.number()

    def forget_files(self, project: int) -> None:
        """Delete everything that a project's files contributed."""
        for (file,) in self.connection.execute(
            "SELECT pk FROM file WHERE project=?", (project,)
        ).fetchall():
            self.forget(file)
            self.files_removed += 1
        self.connection.execute("DELETE FROM problem WHERE project=?", (project,))
        self.connection.execute("DELETE FROM swept WHERE project=?", (project,))
        self.swept.pop(project, None)

    def forget_project(self, project: int) -> None:
        """Delete a project that is no longer in the fleet."""
        self.forget_files(project)
        self.connection.execute("DELETE FROM project WHERE pk=?", (project,))

    def project(self, project: Project) -> None:
        """Sweep one project and take in what changed."""
        pk = self.pks[project.id]
        swept = self.swept.get(pk)
        if swept is not None and digest_now(project) == swept:
            return
        known = self.known(pk)
        missing = set(known)
        faults: list[Diagnostic] = []
        seen = Seen(since_ns=time.time_ns())
        try:
            with Folder.open(project.folder) as folder:
                for found in sweep(project, folder, seen.note):
                    if isinstance(found, Unread):
                        faults.append(found.diagnostic)
                        continue
                    row = known.get(found.path)
                    if row is not None and is_unchanged(row, found):
                        missing.discard(found.path)
                        continue
                    taken = self.take(pk, found, row)
                    if not isinstance(taken, Unread):
                        missing.discard(found.path)
                        seen.steady = seen.steady and taken == found.fingerprint
                        continue
                    seen.steady = False
                    if taken.diagnostic.code != "FILE_MISSING":
                        faults.append(taken.diagnostic)
        except FilesError as fault:
            seen.steady = False
            faults.append(unread("", fault.code, fault.message).diagnostic)
        for path in sorted(missing):
            self.start()
            self.forget(known[path].pk)
            self.connection.execute("DELETE FROM problem WHERE project=? AND path=?", (pk, path))
            self.files_removed += 1
            self.relist.add(pk)
        self.note_unread(pk, faults)
        self.remember(pk, seen.digest())

    def remember(self, pk: int, digest: bytes | None) -> None:
        """Keep what the sweep of a project saw; ``None`` if it may not hold for the next one."""
        if digest == self.swept.get(pk):
            return
        self.start(content=False)
        self.connection.execute("DELETE FROM swept WHERE project=?", (pk,))
        if digest is not None:
            self.connection.execute("INSERT INTO swept VALUES(?,?)", (pk, digest))

    def known(self, pk: int) -> dict[str, KnownFile]:
        """Return what the store holds of a project's files, by path."""
        return {
            row[0]: KnownFile._make(row[1:]) for row in self.connection.execute(_KNOWN_FILES, (pk,))
        }

    def take(self, pk: int, found: Candidate, row: KnownFile | None) -> Fingerprint | Unread:
        """Read one file; returns the state it was read in, or why it could not be read."""
        role = found.role
        try:
            read = found.folder.read(
                found.name, limit_bytes=LIMIT_BYTES[role], seen=found.fingerprint
            )
        except FilesError as fault:
            return unread(found.path, fault.code, fault.message)
        self.take_read(pk, found, row, read)
        return read.fingerprint

    def note_unread(self, pk: int, faults: list[Diagnostic]) -> None:
        """Keep what could not be read, so that a later answer can still name it."""
        now = {(fault.path or "", fault.code, fault.message) for fault in faults}
        if now == self.unread.get(pk, set()):
            return
        self.start()
        self.connection.execute("DELETE FROM problem WHERE project=? AND unread", (pk,))
        self.problems.extend(
            problem_row(pk, fault, unread=UNREAD if fault.severity == "error" else PASSED_OVER)
            for fault in faults
        )

    def graphs(self, fleet: Fleet, *, sources: bool, limit_bytes: int) -> None:
        """Take in the code graphs and derive the edges between projects."""
        declared = any(project.surfaces.graph is not None for project in fleet.projects)
        stored = self.connection.execute("SELECT 1 FROM graph_repo LIMIT 1").fetchone()
        if not declared and stored is None:
            return
        # Reading graphs and sources needs parsers that a fleet without graphs can do without.
        from agentic_os.aggregate.graph.intake.refresh import refresh_graphs
        from agentic_os.aggregate.graph.projects import graph_projects

        done = refresh_graphs(
            self.connection,
            graph_projects(fleet, _own_graphs(self.connection)),
            start=self.start,
            sources=sources,
            redactor=self.redactor,
            limit_bytes=limit_bytes,
        )
        self.graph_files_read = done.files_read


def _own_graphs(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the projects whose graph is one of ours."""
    rows = connection.execute("SELECT project FROM graph_repo WHERE status='own'")
    return frozenset(row[0] for row in rows)


_KNOWN_FILES = """
SELECT path, pk, role, size, mtime_ns, ctime_ns, inode, sha256, read_at_ns FROM file
WHERE project=? AND role NOT IN ('source', 'document')
"""


def _is_text(path: str) -> bool:
    """Whether a path has a name in every encoding: others cannot be stored."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
