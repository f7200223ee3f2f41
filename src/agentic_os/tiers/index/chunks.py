"""Chunks: what one project contributes to the semantic index, read from the store.

A passage of the store is embedded as one chunk, or as several where it is longer than an
embedder takes in: whole lines, cut at blank lines where there are some (``code.passages``). The
front matter of a fact or a note is left out, its description is embedded with the first chunk.
Everything was redacted before it was stored; names of files are redacted here.
"""

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
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
WHERE document.project = ? AND NOT document.template AND document.kind IN ('memory', 'index',
    'vault', 'code', 'document')
ORDER BY file.path, document.line_start, document.pk
"""
_PROJECTS = "SELECT pk, id FROM project WHERE retrieval ORDER BY id"
_FILES = """
SELECT file.path, file.sha256 FROM file
WHERE file.project = ? AND file.role IN ('fact', 'index', 'note', 'source', 'document')
"""
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
    """All chunks of one project, a digest over them, and the files they were read from."""

    project: str
    chunks: tuple[Chunk, ...]
    digest: str
    files: dict[str, str]


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
    """List the files of a project that chunks may come from, each with the start of its hash."""
    return {path: sha256[:SHORT_HASH_CHARS] for path, sha256 in connection.execute(_FILES, (pk,))}


def read_chunks(
    connection: sqlite3.Connection, pk: int, project: str, redactor: Redactor
) -> ProjectChunks:
    """Read the chunks of one project from the store.

    Args:
        connection: the store.
        pk: the project's row.
        project: its id.
        redactor: takes secrets out of the names of files, which are embedded too.
    """
    rows = list(_rows(connection, pk, redactor))
    ids = chunk_ids(
        project,
        [Passage(path=row.path, name=row.name, text_hash=row.text_hash) for row in rows],
    )
    chunks = tuple(row._replace(id=key) for row, key in zip(rows, ids, strict=True))
    return ProjectChunks(
        project=project,
        chunks=chunks,
        digest=digest_of(chunks),
        files=read_files(connection, pk),
    )


def digest_of(chunks: Sequence[Chunk]) -> str:
    """Digest rows: equal if the index would hold the same for them."""
    made = hashlib.blake2b(digest_size=16)
    for chunk in chunks:
        row = (chunk.id, chunk.kind, chunk.symbol, chunk.document, chunk.start, chunk.end)
        made.update(f"{row}{chunk.sha256}\n".encode("utf-8", "replace"))
    return made.hexdigest()


def _rows(connection: sqlite3.Connection, pk: int, redactor: Redactor) -> Iterator[Chunk]:
    shown: dict[str, str] = {}
    for row in connection.execute(_PASSAGES, (pk,)):
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
