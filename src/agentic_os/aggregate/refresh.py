"""Bring the store up to date: read what changed, forget what is gone.

An unchanged fleet is listed and compared, not read, and writes nothing. Freshness follows
design section 4: a file is unchanged when its size, times and inode are, unless one of its
times lies within two seconds of its last reading; then it is read and hashed again, since a
write within the clock's grain would not show.

Everything one run changes goes into one transaction.
"""

import hashlib
import posixpath
import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from agentic_os.aggregate.documents import ParsedFile, Role
from agentic_os.aggregate.parsing import parse_file
from agentic_os.aggregate.store import Store, transaction
from agentic_os.aggregate.sweep import LIMIT_BYTES, Candidate, Unread, sweep, unread
from agentic_os.errors import FilesError
from agentic_os.files.reading import FileRead, Fingerprint, Folder
from agentic_os.registry import Fleet, Project, encode_known
from agentic_os.results import Diagnostic
from agentic_os.settings import DEFAULT_GRAPH_BYTES
from agentic_os.text.redaction import Redactor

RACY_NS = 2_000_000_000
"""A file whose times lie this close to its last reading is hashed again (design section 4)."""
_BATCH_ROWS = 2_000

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


class KnownFile(NamedTuple):
    """One row of ``file``; a tuple, for every one of them is looked at in each run."""

    pk: int
    role: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    sha256: str
    read_at_ns: int


def is_unchanged(row: KnownFile, candidate: Candidate) -> bool:
    """Whether a file need not be read again; see the module."""
    seen = candidate.fingerprint
    return (
        row.size == seen.size
        and row.mtime_ns == seen.mtime_ns
        and row.ctime_ns == seen.ctime_ns
        and row.inode == seen.inode
        and row.role == candidate.role
        and row.read_at_ns - max(seen.mtime_ns, seen.ctime_ns) > RACY_NS
    )


class _Seen:
    """What a sweep saw, as a digest that the next one can be compared with.

    There is a digest only where a file that looks the same tomorrow is the same: every file
    was read in the state it was listed in, and had been quiet for two seconds by then.
    """

    __slots__ = ("_quiet_since_ns", "_rows", "steady")

    def __init__(self, *, since_ns: int) -> None:
        self._quiet_since_ns = since_ns - RACY_NS
        self._rows: list[object] = []
        self.steady = True

    def add(self, found: Candidate | Unread) -> None:
        """Note one thing that a sweep yielded."""
        if isinstance(found, Unread):
            item = found.diagnostic
            self._rows.append((item.code, item.path, item.message))
            return
        seen = found.fingerprint
        if seen.mtime_ns >= self._quiet_since_ns or seen.ctime_ns >= self._quiet_since_ns:
            self.steady = False
        self._rows.append((found.role, found.path, seen))

    def digest(self) -> bytes | None:
        """The digest; nothing where it would not hold."""
        if not self.steady:
            return None
        return hashlib.blake2b(msgspec.msgpack.encode(self._rows), digest_size=16).digest()


def _digest_now(project: Project) -> bytes | None:
    """The digest of a project as it is now; nothing where its folder cannot be opened."""
    seen = _Seen(since_ns=_now())
    try:
        with Folder.open(project.folder) as folder:
            for found in sweep(project, folder):
                seen.add(found)
    except FilesError:
        return None
    return seen.digest()


def refresh(
    store: Store,
    fleet: Fleet,
    redactor: Redactor,
    *,
    sources: bool = False,
    graph_bytes: int = DEFAULT_GRAPH_BYTES,
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
    run = Intake(store.connection, redactor)
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
class Intake:
    """Takes files into the store: queues their rows, writes them, forgets what is gone."""

    connection: sqlite3.Connection
    redactor: Redactor
    begin: Callable[[], None] = lambda: None
    started: bool = False
    changed: bool = False
    files_read: int = 0
    files_removed: int = 0
    graph_files_read: int = 0
    pks: dict[str, int] = field(default_factory=dict)
    swept: dict[int, bytes] = field(default_factory=dict)
    unread: dict[int, set[tuple[str, str, str]]] = field(default_factory=dict)
    next_file: int = 1
    next_document: int = 1
    files: list[tuple[object, ...]] = field(default_factory=list)
    documents: list[tuple[object, ...]] = field(default_factory=list)
    links: list[tuple[object, ...]] = field(default_factory=list)
    capabilities: list[tuple[object, ...]] = field(default_factory=list)
    redactions: list[tuple[object, ...]] = field(default_factory=list)
    problems: list[tuple[object, ...]] = field(default_factory=list)
    relist: set[int] = field(default_factory=set)
    corpus: set[int] = field(default_factory=set)

    def start(self, *, content: bool = True) -> None:
        """Begin the transaction at the first change."""
        if not self.started:
            self.begin()
            self.started = True
        self.changed = self.changed or content

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
        for project in fleet.projects:
            view = project.view
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
            "SELECT project, path, code, message FROM problem WHERE unread=1"
        ):
            self.unread.setdefault(row[0], set()).add(row[1:])
        self.number()

    def number(self) -> None:
        """Number new rows after those that are there."""
        self.next_file = self._next("file")
        self.next_document = self._next("document")

    def _next(self, table: str) -> int:
        query = f"SELECT coalesce(max(pk), 0) + 1 FROM {table}"  # noqa: S608 - two fixed names
        return int(self.connection.execute(query).fetchone()[0])

    def project(self, project: Project) -> None:
        """Sweep one project and take in what changed."""
        pk = self.pks[project.id]
        swept = self.swept.get(pk)
        if swept is not None and _digest_now(project) == swept:
            return
        known = self.known(pk)
        missing = set(known)
        faults: list[Diagnostic] = []
        seen = _Seen(since_ns=_now())
        try:
            with Folder.open(project.folder) as folder:
                for found in sweep(project, folder):
                    seen.add(found)
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
        """Keep what the sweep of a project saw; nothing when it may not hold for the next."""
        if digest == self.swept.get(pk):
            return
        self.start(content=False)
        self.connection.execute("DELETE FROM swept WHERE project=?", (pk,))
        if digest is not None:
            self.connection.execute("INSERT INTO swept VALUES(?,?)", (pk, digest))

    def known(self, pk: int) -> dict[str, KnownFile]:
        """What the store holds of a project's files, by path."""
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

    def take_read(self, pk: int, found: Candidate, row: KnownFile | None, read: FileRead) -> None:
        """Take in one file that was read."""
        self.files_read += 1
        role = found.role
        sha256 = read.sha256
        stamp = (*read.fingerprint, sha256, _now())
        if row is not None and row.sha256 == sha256 and row.role == role:
            self.start(content=False)
            self.connection.execute(
                "UPDATE file SET size=?, mtime_ns=?, ctime_ns=?, inode=?, sha256=?, read_at_ns=?"
                " WHERE pk=?",
                (*stamp, row.pk),
            )
            return
        parsed = parse_file(role, found.path, read.data, self.redactor)
        self.start()
        if row is None and pk in self.corpus:
            self.forget_corpus(pk, found.path)
        if row is not None:
            self.forget(row.pk)
            self.connection.execute(
                "DELETE FROM problem WHERE project=? AND path=? AND unread=0", (pk, found.path)
            )
        self.add(pk, found, stamp, parsed)

    def add(self, pk: int, found: Candidate, stamp: tuple[object, ...], parsed: ParsedFile) -> None:
        """Queue the rows of one parsed file."""
        file = self.next_file
        self.next_file += 1
        self.files.append((file, pk, found.role.value, found.path, *stamp))
        document_pk = self.next_document
        for document in parsed.documents:
            self.documents.append(
                (
                    document_pk,
                    file,
                    pk,
                    document.kind,
                    document.name,
                    document.label,
                    document.type,
                    document.start,
                    document.end,
                    document.body,
                    document.extra,
                    document.template,
                    document.group,
                )
            )
            document_pk += 1
        self.next_document = document_pk
        for link in parsed.index_links:
            target = f"{posixpath.dirname(found.path)}/{link.target}"
            self.links.append((file, pk, link.title, posixpath.normpath(target), link.line))
        for item in parsed.capabilities:
            self.capabilities.append(
                (file, pk, item.section, item.name, item.detail, item.line, item.declared)
            )
        for redaction in parsed.redactions:
            self.redactions.append((file, redaction.rule, redaction.line))
        for diagnostic in parsed.diagnostics:
            self.problems.append(_problem_row(pk, diagnostic, unread=False))
        if found.role in {Role.FACT, Role.INDEX}:
            self.relist.add(pk)
        if len(self.documents) >= _BATCH_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the queued rows."""
        many = self.connection.executemany
        many("INSERT INTO file VALUES(?,?,?,?,?,?,?,?,?,?)", self.files)
        many("INSERT INTO document VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)", self.documents)
        many(
            "INSERT INTO document_words(rowid, name, label, body, extra) VALUES(?,?,?,?,?)",
            [(row[0], row[4], row[5], row[9], row[10]) for row in self.documents],
        )
        many(
            "INSERT INTO document_grams(rowid, body) VALUES(?,?)",
            [(row[0], row[9]) for row in self.documents],
        )
        many("INSERT INTO index_link VALUES(?,?,?,?,?)", self.links)
        many("INSERT INTO capability VALUES(?,?,?,?,?,?,?)", self.capabilities)
        many("INSERT INTO redaction VALUES(?,?,?)", self.redactions)
        many("INSERT INTO problem VALUES(?,?,?,?,?,?,?,?)", self.problems)
        for queue in (
            self.files,
            self.documents,
            self.links,
            self.capabilities,
            self.redactions,
            self.problems,
        ):
            queue.clear()

    def forget(self, file: int) -> None:
        """Delete one file and everything it contributed."""
        run = self.connection.execute
        for pk, name, label, body, extra in run(
            "SELECT pk, name, label, body, extra FROM document WHERE file=?", (file,)
        ).fetchall():
            run(
                "INSERT INTO document_words(document_words, rowid, name, label, body, extra)"
                " VALUES('delete',?,?,?,?,?)",
                (pk, name, label, body, extra),
            )
            run(
                "INSERT INTO document_grams(document_grams, rowid, body) VALUES('delete',?,?)",
                (pk, body),
            )
        for table in ("document", "index_link", "capability", "redaction", "listed"):
            run(f"DELETE FROM {table} WHERE file=?", (file,))  # noqa: S608 - fixed names
        run("DELETE FROM file WHERE pk=?", (file,))

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

    def forget_corpus(self, project: int, path: str | None = None) -> None:
        """Delete what ``refresh_corpus`` took of a project, or of one of its files."""
        query = "SELECT pk FROM file WHERE project=? AND role IN ('source', 'document')"
        arguments: tuple[object, ...] = (project,)
        if path is not None:
            query, arguments = f"{query} AND path=?", (project, path)
        for (file,) in self.connection.execute(query, arguments).fetchall():
            self.forget(file)
            self.files_removed += 1

    def forget_project(self, project: int) -> None:
        """Delete a project that is no longer in the fleet."""
        self.forget_files(project)
        self.connection.execute("DELETE FROM project WHERE pk=?", (project,))

    def note_unread(self, pk: int, faults: list[Diagnostic]) -> None:
        """Keep what could not be read, so that a later answer can still name it."""
        now = {(fault.path or "", fault.code, fault.message) for fault in faults}
        if now == self.unread.get(pk, set()):
            return
        self.start()
        self.connection.execute("DELETE FROM problem WHERE project=? AND unread=1", (pk,))
        self.problems.extend(_problem_row(pk, fault, unread=True) for fault in faults)

    def graphs(self, fleet: Fleet, *, sources: bool, limit_bytes: int) -> None:
        """Take in the code graphs and derive the edges between projects."""
        declared = any(project.surfaces.graph is not None for project in fleet.projects)
        stored = self.connection.execute("SELECT 1 FROM graph_repo LIMIT 1").fetchone()
        if not declared and stored is None:
            return
        # Reading graphs and sources needs parsers that a fleet without graphs can do without.
        from agentic_os.aggregate.graph_refresh import graph_projects, refresh_graphs

        done = refresh_graphs(
            self.connection,
            graph_projects(fleet),
            start=self.start,
            sources=sources,
            redactor=self.redactor,
            limit_bytes=limit_bytes,
        )
        self.graph_files_read = done.files_read

    def finish(self) -> None:
        """Write what is left, derive the flags that need whole projects, count a generation."""
        if not self.started:
            return
        self.flush()
        if self.relist:
            self.connection.execute("CREATE TEMP TABLE relisted(project INTEGER PRIMARY KEY)")
            self.connection.executemany(
                "INSERT INTO relisted VALUES(?)", [(pk,) for pk in sorted(self.relist)]
            )
            self.connection.execute(
                "DELETE FROM listed WHERE file IN (SELECT file.pk FROM file"
                " JOIN relisted USING(project))"
            )
            self.connection.execute(_LISTED)
            self.connection.execute(_BARE_INDEX)
            self.connection.execute("DROP TABLE relisted")
        if self.changed:
            self.connection.execute(
                "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key='generation'"
            )


_KNOWN_FILES = """
SELECT path, pk, role, size, mtime_ns, ctime_ns, inode, sha256, read_at_ns FROM file
WHERE project=? AND role NOT IN ('source', 'document')
"""

# A fact is listed when a MEMORY.md of its project links it.
_LISTED = """
INSERT OR IGNORE INTO listed SELECT file.pk FROM relisted
JOIN index_link AS link ON link.project = relisted.project
JOIN file ON file.project = link.project AND file.path = link.target AND file.role = 'fact'
"""

# MEMORY.md as scaffolded lists the unfilled template facts and nothing else.
_BARE_INDEX = """
UPDATE document SET template = 1 - template
WHERE kind = 'index' AND type = 'listing' AND project IN (SELECT project FROM relisted)
AND template = (project IN (
    SELECT fact.project FROM relisted JOIN document AS fact ON fact.project = relisted.project
    WHERE fact.kind = 'memory' AND NOT fact.template AND fact.file IN listed
))
"""


def _problem_row(pk: int, diagnostic: Diagnostic, *, unread: bool) -> tuple[object, ...]:
    return (
        pk,
        diagnostic.path or "",
        diagnostic.code,
        diagnostic.severity,
        diagnostic.message,
        diagnostic.hint,
        diagnostic.line,
        unread,
    )


def _is_text(path: str) -> bool:
    """Whether a path has a name in every encoding: others cannot be stored."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _now() -> int:
    return time.time_ns()
