"""Chunks: what one project contributes to the semantic index, read from the store.

A passage of the store is embedded as one chunk, or as several where it is longer than an
embedder takes in: whole lines, cut at blank lines where there are some (``code.passages``). The
front matter of a fact or a note is left out, its description is embedded with the first chunk.
Everything was redacted before it was stored; names of files are redacted here.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from agentic_os.aggregate.surfaces.sources import SYMBOL_TYPE, Passage, chunk_ids, text_hash
from agentic_os.code.passages.windows import embedded_text, room, windows
from agentic_os.results import Kind
from agentic_os.text.front_matter import split_front_matter
from agentic_os.text.secrets.redaction import Redactor

CHUNK_KINDS: tuple[Kind, ...] = ("memory", "index", "vault", "code", "document")
"""Kinds that are embedded; an inventory is looked up by name, a graph has its own surface."""

_MARKDOWN = frozenset({"memory", "index", "vault"})
_PASSAGES = """
SELECT file.path, file.sha256, file.read_at_ns, document.kind, document.name, document.label,
    document.type, document.line_start, document.body
FROM document JOIN file ON file.pk = document.file
WHERE document.project = :project AND NOT document.template AND document.kind IN ('memory', 'index',
    'vault', 'code', 'document')
    AND (:paths IS NULL OR file.path IN (SELECT value FROM json_each(:paths)))
ORDER BY file.path, document.line_start, document.pk
"""
_PROJECTS = "SELECT pk, id FROM project WHERE retrieval ORDER BY id"
# Whether a fact or an index is a template may change without a change of its bytes.
_FILES = """
SELECT file.path, file.sha256, file.pk IN (SELECT file FROM document WHERE template) FROM file
WHERE file.project = ? AND file.role IN ('fact', 'index', 'note', 'source', 'document')
"""
_TEMPLATE_MARK = "-"
SHORT_HASH_CHARS = 24
"""How much of a file's hash is kept to tell that it changed."""


class Chunk(NamedTuple):
    """One row of the index, its vector apart; lines count from 1, inclusive.

    ``document`` is the first line of the passage that the chunk is cut from.
    """

    id: str
    kind: str
    path: str
    name: str
    symbol: str
    document: int
    start: int
    end: int
    sha256: str
    text_hash: str
    indexed_at: int
    text: str


class Window(NamedTuple):
    """A stretch of a passage: its lines, and the text that is embedded for it."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectChunks:
    """Chunks of one project: all of them, or those of some files."""

    project: str
    chunks: tuple[Chunk, ...]


def windows_of(kind: str, path: str, name: str, label: str, start: int, body: str) -> list[Window]:
    """Cut a passage into what is embedded; pure.

    Args:
        kind: the passage's kind; facts and notes may begin with front matter.
        path: its file.
        name: what it is called.
        label: a line about it, embedded with the first window of a fact or a note.
        start: the line of its first line.
        body: its whole lines.
    """
    lines = body.split("\n")
    first = 1
    described = ""
    if kind in _MARKDOWN:
        described = label.strip()
        if start == 1:
            front = split_front_matter(body)
            first = front.body_line if front.present else 1
    space = room(path, name)
    head = f"{described}\n" if described and len(described) * 2 < space else ""
    found = []
    for low, high in windows(lines, first, len(lines), space - len(head)):
        text = "\n".join(lines[low - 1 : high])
        found.append(Window(start + low - 1, start + high - 1, f"{head}{text}"))
        head = ""
    if not found and described:
        found.append(Window(start, start + len(lines) - 1, described))
    return found


def read_projects(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    """List the store's projects with retrieval: row number and id."""
    return connection.execute(_PROJECTS).fetchall()


def read_files(connection: sqlite3.Connection, pk: int) -> dict[str, str]:
    """List the files of a project that chunks may come from, each with a mark.

    The mark is the start of the file's hash; of a file that holds a template it is another one.
    """
    return {
        path: sha256[:SHORT_HASH_CHARS] + (_TEMPLATE_MARK if template else "")
        for path, sha256, template in connection.execute(_FILES, (pk,))
    }


def read_chunks(
    connection: sqlite3.Connection,
    pk: int,
    project: str,
    redactor: Redactor,
    *,
    paths: Collection[str] | None = None,
) -> ProjectChunks:
    """Read the chunks of one project from the store.

    Args:
        connection: the store.
        pk: the project's row.
        project: its id.
        redactor: takes secrets out of the names of files, which are embedded too.
        paths: of which files; ``None`` for all.
    """
    rows = list(_rows(connection, pk, redactor, paths))
    ids = chunk_ids(
        project,
        [Passage(path=row.path, name=row.name, text_hash=row.text_hash) for row in rows],
    )
    chunks = tuple(row._replace(id=key) for row, key in zip(rows, ids, strict=True))
    return ProjectChunks(project=project, chunks=chunks)


def _rows(
    connection: sqlite3.Connection, pk: int, redactor: Redactor, paths: Collection[str] | None
) -> Iterator[Chunk]:
    shown: dict[str, str] = {}
    asked = {"project": pk, "paths": None if paths is None else json.dumps(sorted(paths))}
    for row in connection.execute(_PASSAGES, asked):
        path, sha256, read_at, kind, name, label, type_, start, body = row
        symbol = name if type_ == SYMBOL_TYPE and kind == "code" else ""
        if path not in shown:
            shown = {path: redactor.redact(path).text}
        for window in windows_of(kind, shown[path], name, label, start, body):
            yield Chunk(
                id="",
                kind=kind,
                path=path,
                name=name,
                symbol=symbol,
                document=start,
                start=window.start,
                end=window.end,
                sha256=sha256,
                text_hash=text_hash(shown[path], name, window.text),
                indexed_at=read_at,
                text=embedded_text(shown[path], name, window.text),
            )
