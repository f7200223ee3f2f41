"""The tier-3 corpus: sources and documents of the projects that have an index.

Taken in by ``index build`` alone, under the writer lock; a search never walks source trees.
Freshness follows design section 4, as in ``refresh``. Each project is a transaction of its
own: an interrupted build keeps the projects that were finished, and the next one goes on.
"""

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from agentic_os.aggregate.codes import CODES
from agentic_os.aggregate.refresh.corpus_files import CorpusFiles, Tracked, tracked
from agentic_os.aggregate.refresh.freshness import KnownFile, is_unchanged
from agentic_os.aggregate.refresh.intake import Intake
from agentic_os.aggregate.refresh.surfaces import Progress, silent
from agentic_os.aggregate.store.database import Store, transaction
from agentic_os.aggregate.surfaces.documents import CORPUS_ROLES
from agentic_os.aggregate.surfaces.sweep import LIMIT_BYTES, Candidate
from agentic_os.code.languages import grammars, row_of
from agentic_os.code.passages.admission import LeftOut, data_left_out
from agentic_os.errors import FilesError
from agentic_os.files.reading import FileRead, Folder
from agentic_os.registry.fleet import Fleet
from agentic_os.registry.project import Project
from agentic_os.registry.walk.pruning import Pruning
from agentic_os.results import Diagnostic, LeftOutView
from agentic_os.text.fencing import one_line
from agentic_os.text.secrets.redaction import Redactor

PORTION_FILES = 1_000
"""Files of one project that are committed together: an interruption costs a few seconds."""

BUILT_KEY = "corpus_built_ns"
"""Row of ``meta`` that says when the corpus was last completed; absent before the first time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusRefreshed:
    """What one run did.

    ``left_out`` counts files, and folders that were not entered, by ``LeftOut`` code over all
    projects; ``projects`` are the ids of those that are in the corpus now. ``diagnostics``
    name what could not be read as it should; their paths start with the project's id.
    """

    projects: tuple[str, ...] = ()
    files: int = 0
    passages: int = 0
    files_read: int = 0
    files_removed: int = 0
    changed: bool = False
    left_out: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    diagnostics: tuple[Diagnostic, ...] = ()


def corpus_projects(fleet: Fleet, *, everyone: bool = False) -> tuple[Project, ...]:
    """Return the projects whose code and documents belong into the index (design section 5).

    Args:
        fleet: all projects.
        everyone: every project with retrieval, not only those of tier 3.
    """
    return tuple(
        project
        for project in fleet.projects
        if project.has_corpus or (everyone and project.retrieval and project.wants("corpus"))
    )


def was_built(connection: sqlite3.Connection) -> bool:
    """Whether an index was ever built over this store."""
    query = "SELECT 1 FROM meta WHERE key=?"
    return connection.execute(query, (BUILT_KEY,)).fetchone() is not None


def refresh_corpus(
    store: Store,
    fleet: Fleet,
    redactor: Redactor,
    *,
    everyone: bool = False,
    home: Path | None = None,
    personal: str = "",
    include: Sequence[str] = (),
    progress: Progress = silent,
) -> CorpusRefreshed:
    """Make the store hold the sources and documents of the projects that have an index.

    Args:
        store: a store opened by ``writing`` that ``refresh`` has brought up to date.
        fleet: all projects; those that are not taken lose what an earlier run took of them.
        redactor: takes secrets out before anything is stored.
        everyone: take every project with retrieval, not only those of tier 3.
        home: the person's home folder, whose own ``.git`` makes no checkout.
        personal: the text of the person's own ignore file.
        include: globs of folders to take, by name or by path below the project, whatever they
            are called.
        progress: told after each project, with the number done and the number of all.
    """
    taken = corpus_projects(fleet, everyone=everyone)
    pks: dict[str, int] = dict(store.connection.execute("SELECT id, pk FROM project"))
    folders = frozenset(os.path.realpath(project.folder) for project in fleet.projects)
    account = _Account()
    included = _included(include)
    _forget_others(
        store, redactor, {pks[project.id] for project in taken if project.id in pks}, account
    )
    _forget_otherwise_cut(store, redactor, account)
    for done, project in enumerate(taken, 1):
        if project.id in pks:
            one = _Project(store, project, pks[project.id], redactor, account, included)
            one.refresh(folders, tracked(project.folder, home=home, personal=personal))
        progress(done, len(taken))
    with transaction(store.connection):
        store.connection.executemany(
            "INSERT OR REPLACE INTO meta VALUES(?,?)",
            [(BUILT_KEY, str(time.time_ns())), (_GRAMMARS_KEY, " ".join(grammars()))],
        )
    # As in ``refresh``: keep the log small; what was committed is safe in it.
    with suppress(sqlite3.Error):
        store.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    return _result(store, [project for project in taken if project.id in pks], account)


def left_out_files(
    store: Store,
    fleet: Fleet,
    *,
    home: Path | None = None,
    personal: str = "",
    include: Sequence[str] = (),
) -> Iterator[LeftOutView]:
    """Walk the projects of the corpus and say of each file that is not taken why it is not.

    Nothing is stored. Files that git ignores are no part of the corpus and are not listed.
    The arguments are those of ``refresh_corpus``.
    """
    held = {row[0] for row in store.connection.execute(_IN_CORPUS)}
    taken = {project.id for project in corpus_projects(fleet)} | held
    pks: dict[str, int] = dict(store.connection.execute("SELECT id, pk FROM project"))
    folders = frozenset(os.path.realpath(project.folder) for project in fleet.projects)
    for project in fleet.projects:
        if project.id not in taken or project.id not in pks:
            continue
        known = _known(store, pks[project.id])
        git = tracked(project.folder, home=home, personal=personal)
        files = _files(project, git, folders, known, _included(include))
        with suppress(FilesError), Folder.open(project.folder) as folder:
            for found in files.walk(folder):
                row = known.get(found.path)
                read = None if row is not None and is_unchanged(row, found) else _read(found)
                if isinstance(read, LeftOut):
                    files.left_out.append((found.path, read))
        for path, reason in sorted(files.left_out):
            yield LeftOutView(project=project.id, path=one_line(path), reason=reason)


_IN_CORPUS = """
SELECT DISTINCT project.id FROM project JOIN file ON file.project = project.pk
WHERE file.role IN ('source', 'document')
"""


def _included(globs: Sequence[str]) -> Callable[[str], bool]:
    """Return what says of a folder's path that it, or one above it, is included."""
    wanted = Pruning(exclude=tuple(globs))

    def is_wanted(path: str) -> bool:
        parts = path.split("/")
        return bool(globs) and any(
            wanted.excludes(part, "/".join(parts[: at + 1])) for at, part in enumerate(parts)
        )

    return is_wanted


@dataclass(slots=True)
class _Account:
    files_read: int = 0
    files_removed: int = 0
    changed: bool = False
    left_out: Counter[str] = field(default_factory=Counter)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def add(self, intake: Intake) -> None:
        self.files_read += intake.files_read
        self.files_removed += intake.files_removed
        self.changed = self.changed or intake.changed


def _forget_others(store: Store, redactor: Redactor, taken: set[int], account: _Account) -> None:
    rows = store.connection.execute(
        "SELECT DISTINCT project FROM file WHERE role IN ('source', 'document')"
    ).fetchall()
    for (pk,) in rows:
        if pk not in taken:
            with ExitStack() as stack:
                intake = _intake(store, redactor, stack)
                intake.start()
                intake.forget_corpus(pk)
                intake.finish()
            account.add(intake)


def _forget_otherwise_cut(store: Store, redactor: Redactor, account: _Account) -> None:
    """Forget the sources whose grammar came or went since: they are cut anew."""
    row = store.connection.execute("SELECT value FROM meta WHERE key=?", (_GRAMMARS_KEY,))
    before = next((set(value.split()) for (value,) in row), set())
    other = before ^ set(grammars())
    found = [pk for pk, path in store.connection.execute(_SOURCES) if _language(path) in other]
    if found:
        with ExitStack() as stack:
            intake = _intake(store, redactor, stack)
            intake.start()
            for pk in found:
                intake.forget(pk)
            intake.finish()
        account.add(intake)


_GRAMMARS_KEY = "corpus_grammars"
_SOURCES = "SELECT pk, path FROM file WHERE role='source'"


def _language(path: str) -> str:
    row = row_of(path)
    return "" if row is None else row.language


def _without_grammar(store: Store) -> Iterator[Diagnostic]:
    """Say which files were cut by lines because a grammar is not installed."""
    there = set(grammars())
    counts = Counter(_language(path) for _, path in store.connection.execute(_SOURCES))
    missing = sorted(counts.keys() - there - {""})
    if missing:
        count = sum(counts[language] for language in missing)
        yield CODES.diagnostic(
            "LANGUAGES_MISSING", f"{count} files of {', '.join(missing)} were cut by lines"
        )


def _intake(store: Store, redactor: Redactor, stack: ExitStack) -> Intake:
    intake = Intake(store.connection, redactor)
    intake.begin = lambda: stack.enter_context(transaction(store.connection))
    intake.number()
    return intake


@dataclass(slots=True)
class _Project:
    """One project of the corpus, brought up to date in one transaction; in several if it is large.

    What was committed of it stays when the rest is interrupted; the next run goes on there.
    """

    store: Store
    project: Project
    pk: int
    redactor: Redactor
    account: _Account
    included: Callable[[str], bool]

    def refresh(self, folders: frozenset[str], git: Tracked) -> None:
        known = _known(self.store, self.pk)
        missing = {path for path, row in known.items() if row.role in CORPUS_ROLES}
        if git.fault is not None:
            self._note(git.fault)
        files = _files(self.project, git, folders, known, self.included)
        with ExitStack() as stack:
            intake = _intake(self.store, self.redactor, stack)
            try:
                with Folder.open(self.project.folder) as folder:
                    for found in files.walk(folder):
                        row = known.get(found.path)
                        same = row is not None and is_unchanged(row, found)
                        if same or self._take(intake, found, row, files.left_out):
                            missing.discard(found.path)
                        if intake.files_read >= PORTION_FILES:
                            self._commit(intake, stack)
                            intake = _intake(self.store, self.redactor, stack)
            except FilesError as fault:
                self._note(fault)
            for path in sorted(missing):
                intake.start()
                intake.forget(known[path].pk)
                intake.files_removed += 1
            self._commit(intake, stack)
        self.account.left_out.update(reason for _, reason in files.left_out)

    def _commit(self, intake: Intake, stack: ExitStack) -> None:
        intake.finish()
        stack.close()
        self.account.add(intake)

    def _take(
        self,
        intake: Intake,
        found: Candidate,
        row: KnownFile | None,
        left_out: list[tuple[str, LeftOut]],
    ) -> bool:
        """Take one file in; false where its bytes, or a fault, leave it out."""
        read = _read(found)
        if not isinstance(read, FileRead):
            left_out += [] if read is None else [(found.path, read)]
            return False
        intake.take_read(self.pk, found, row, read)
        return True

    def _note(self, fault: FilesError) -> None:
        self.account.diagnostics.append(
            CODES.diagnostic(fault.code, one_line(fault.message), path=self.project.id)
        )


def _files(
    project: Project,
    git: Tracked,
    folders: frozenset[str],
    known: Mapping[str, KnownFile],
    included: Callable[[str], bool],
) -> CorpusFiles:
    start = f"{os.path.realpath(project.folder)}/"
    return CorpusFiles(
        known=git,
        others={folder[len(start) :] for folder in folders if folder.startswith(start)},
        held={path for path, row in known.items() if row.role not in CORPUS_ROLES},
        included=included,
    )


def _known(store: Store, pk: int) -> dict[str, KnownFile]:
    rows = store.connection.execute(
        "SELECT path, pk, role, size, mtime_ns, ctime_ns, inode, sha256, read_at_ns"
        " FROM file WHERE project=?",
        (pk,),
    )
    return {row[0]: KnownFile._make(row[1:]) for row in rows}


def _read(found: Candidate) -> FileRead | LeftOut | None:
    """Read one file, or say why its bytes leave it out; ``None`` where it is gone by now."""
    try:
        read = found.folder.read(found.name, limit_bytes=LIMIT_BYTES[found.role])
    except FilesError as fault:
        return None if fault.code == "FILE_MISSING" else LeftOut.UNREADABLE
    return data_left_out(read.data) or read


def _result(store: Store, projects: list[Project], account: _Account) -> CorpusRefreshed:
    files, passages = store.connection.execute(_COUNTS).fetchone()
    return CorpusRefreshed(
        projects=tuple(project.id for project in projects),
        files=files,
        passages=passages,
        files_read=account.files_read,
        files_removed=account.files_removed,
        changed=account.changed,
        left_out=MappingProxyType(dict(sorted(account.left_out.items()))),
        diagnostics=(*account.diagnostics, *_without_grammar(store)),
    )


_COUNTS = """
SELECT (SELECT count(*) FROM file WHERE role IN ('source', 'document')),
    (SELECT count(*) FROM document WHERE kind IN ('code', 'document'))
"""
