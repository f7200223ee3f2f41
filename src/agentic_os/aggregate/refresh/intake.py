"""Files into the store: their rows queued, written, and deleted again.

An ``Intake`` is one run's hand on the store, inside the caller's transaction; ``refresh`` uses it
for what projects remember and can do, ``corpus`` for their code and documents.
"""

import posixpath
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from agentic_os.aggregate.refresh.freshness import KnownFile
from agentic_os.aggregate.surfaces.documents import ParsedFile, Role
from agentic_os.aggregate.surfaces.memory import CONVENTION_TYPE
from agentic_os.aggregate.surfaces.parsing import parse_file
from agentic_os.aggregate.surfaces.sweep import Candidate
from agentic_os.files.reading import FileRead
from agentic_os.results import Diagnostic
from agentic_os.text.secrets.redaction import Redactor
from agentic_os.text.unicode_form import composed, folded

_BATCH_ROWS = 2_000


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
    next_file: int = 1
    next_document: int = 1
    files: list[tuple[object, ...]] = field(default_factory=list)
    documents: list[tuple[Any, ...]] = field(default_factory=list)
    links: list[tuple[object, ...]] = field(default_factory=list)
    capabilities: list[tuple[object, ...]] = field(default_factory=list)
    instructions: list[tuple[object, ...]] = field(default_factory=list)
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

    def number(self) -> None:
        """Begin numbering new rows after those that are there."""
        self.next_file = self._next("file")
        self.next_document = self._next("document")

    def _next(self, table: str) -> int:
        query = f"SELECT coalesce(max(pk), 0) + 1 FROM {table}"  # noqa: S608 - two fixed names
        return int(self.connection.execute(query).fetchone()[0])

    def take_read(self, pk: int, found: Candidate, row: KnownFile | None, read: FileRead) -> None:
        """Take in one file that was read."""
        self.files_read += 1
        role = found.role
        sha256 = read.sha256
        stamp = (*read.fingerprint, sha256, time.time_ns())
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
        folder = posixpath.dirname(found.path)
        for link in parsed.index_links:
            target = posixpath.normpath(f"{folder}/{link.target}")
            self.links.append((file, pk, link.title, target, link.line))
        for item in parsed.capabilities:
            self.capabilities.append(
                (file, pk, item.section, item.name, item.detail, item.line, item.declared)
            )
        for instruction in parsed.instructions:
            self.instructions.append((file, pk, msgspec.json.encode(instruction)))
        for redaction in parsed.redactions:
            self.redactions.append((file, redaction.rule, redaction.line))
        for diagnostic in parsed.diagnostics:
            self.problems.append(problem_row(pk, diagnostic, unread=PARSED))
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
            [(row[0], *_searched(row[4], row[5], row[9], row[10])) for row in self.documents],
        )
        many(
            "INSERT INTO document_grams(rowid, body) VALUES(?,?)",
            [(row[0], composed(row[9])) for row in self.documents],
        )
        many("INSERT INTO index_link VALUES(?,?,?,?,?)", self.links)
        many("INSERT INTO capability VALUES(?,?,?,?,?,?,?)", self.capabilities)
        many("INSERT INTO instruction VALUES(?,?,?)", self.instructions)
        many("INSERT INTO redaction VALUES(?,?,?)", self.redactions)
        many("INSERT INTO problem VALUES(?,?,?,?,?,?,?,?)", self.problems)
        for queue in (
            self.files,
            self.documents,
            self.links,
            self.capabilities,
            self.instructions,
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
                (pk, *_searched(name, label, body, extra)),
            )
            run(
                "INSERT INTO document_grams(document_grams, rowid, body) VALUES('delete',?,?)",
                (pk, composed(body)),
            )
        for table in (
            "document",
            "index_link",
            "capability",
            "instruction",
            "redaction",
            "listed",
        ):
            run(f"DELETE FROM {table} WHERE file=?", (file,))  # noqa: S608 - fixed names
        run("DELETE FROM file WHERE pk=?", (file,))

    def forget_corpus(self, project: int, path: str | None = None) -> None:
        """Delete what ``refresh_corpus`` took of a project, or of one of its files."""
        query = "SELECT pk FROM file WHERE project=? AND role IN ('source', 'document')"
        arguments: tuple[object, ...] = (project,)
        if path is not None:
            query, arguments = f"{query} AND path=?", (project, path)
        for (file,) in self.connection.execute(query, arguments).fetchall():
            self.forget(file)
            self.files_removed += 1

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
            self._resolve_links()
            self.connection.execute(_LISTED)
            self.connection.execute(_CONVENTIONS, (CONVENTION_TYPE,))
            self.connection.execute(_BARE_INDEX)
            self.connection.execute("DROP TABLE relisted")
        if self.changed:
            self.connection.execute(
                "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key='generation'"
            )

    def _resolve_links(self) -> None:
        """Point each link of an index at the file that it means.

        People and file systems spell one name in several ways: with other capitals, or in another
        Unicode form.
        """
        open_ends = self.connection.execute(_OPEN_LINKS).fetchall()
        for project in {row[1] for row in open_ends}:
            paths = self.connection.execute(_FACT_PATHS, (project,))
            means = {folded(path): path for (path,) in paths}
            self.connection.executemany(
                "UPDATE index_link SET target=? WHERE rowid=?",
                [
                    (means[folded(target)], link)
                    for link, owner, target in open_ends
                    if owner == project and folded(target) in means
                ],
            )


_OPEN_LINKS = """
SELECT link.rowid, link.project, link.target FROM relisted
JOIN index_link AS link ON link.project = relisted.project
WHERE NOT EXISTS(SELECT 1 FROM file WHERE file.project = link.project AND file.path = link.target)
"""
_FACT_PATHS = "SELECT path FROM file WHERE project=? AND role='fact' ORDER BY path DESC"

# What describes the convention counts once MEMORY.md lists it.
_CONVENTIONS = """
UPDATE document SET template = file NOT IN listed
WHERE kind = 'memory' AND type = ? AND project IN (SELECT project FROM relisted)
AND template = (file IN listed)
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


PARSED, UNREAD, PASSED_OVER = 0, 1, 2
"""What a problem is about: a file that was read; evidence that was not; no evidence at all."""


def problem_row(pk: int, diagnostic: Diagnostic, *, unread: int) -> tuple[object, ...]:
    """Return the row of what was noticed about a file."""
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


def _searched(*texts: str) -> tuple[str, ...]:
    """Return texts in the form that the word index holds; a deletion must give the same."""
    return tuple(map(composed, texts))
