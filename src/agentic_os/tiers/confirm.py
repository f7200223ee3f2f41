"""Every hit is read again from its file before it is shown.

Rules:

- a snippet is cut from bytes read now, redacted now; never from the store;
- a file whose hash is the indexed one is quoted at its indexed lines;
- in a changed file the passage is looked for again: the very text that was embedded, then
  under its name, then anywhere;
- where no word of the query stands in what is near in meaning, its first lines are quoted;
- what is gone, or cannot be read, is dropped and counted, never shown; only a code graph may
  speak of a source that is not there, and then the hit says that it is not confirmed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from agentic_os.aggregate.surfaces.conventional import linked_instruction, role_at
from agentic_os.aggregate.surfaces.documents import CORPUS_ROLES, Document, Role
from agentic_os.aggregate.surfaces.parsing import parse_file
from agentic_os.aggregate.surfaces.sweep import LIMIT_BYTES
from agentic_os.errors import FilesError
from agentic_os.files.reading import FileRead, Folder
from agentic_os.registry.project import PersonalFolder, located
from agentic_os.results import Hit
from agentic_os.text.decoding import decode
from agentic_os.text.fencing import one_line, visible
from agentic_os.text.front_matter import split_front_matter
from agentic_os.text.secrets.redaction import Redactor
from agentic_os.tiers.interface import Candidate
from agentic_os.tiers.passage import SNIPPET_LINES, LineMatcher, Passage

SOURCE_LIMIT_BYTES = 1_048_576
"""A source file larger than this is not quoted."""
KEPT_ENTRIES = 128
KEPT_BYTES = 131_072
"""So many files, each of so many bytes at most, need not be redacted again while a process
lives: the same bytes come to the same text. They are read again all the same."""
UNCHANGED = "UNCHANGED"
"""Why a candidate is dropped that did not change since the time that was asked for."""
UNQUOTABLE = "UNQUOTABLE"
"""Why a candidate is dropped whose file nobody edited: no line of it says what was asked."""


def bare_name(label: str) -> str:
    """Return a node's label without its decoration: ``.load()`` is ``load``."""
    return label.removeprefix(".").partition("(")[0]


_NAME = re.compile(r"[\w$.#]+")


def _lines_with(word: str, lines: Sequence[str]) -> list[int]:
    """Return the numbers of the lines in which a name stands as a word."""
    holds = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    return [number for number, line in enumerate(lines, 1) if word and holds.search(line)]


def is_file_name(label: str, path: str) -> bool:
    """Return whether a node stands for its whole file."""
    return label == path or path.endswith(f"/{label}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a project's files are read from, and what its hits carry."""

    folder: Path
    branch: str | None
    commit: str | None
    personal: tuple[PersonalFolder, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A candidate that was not confirmed.

    ``HIT_CHANGED`` and ``HIT_UNREADABLE`` are told; ``UNCHANGED`` and ``UNQUOTABLE`` are not.
    """

    code: str
    candidate: Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A file as it is now: passages of memory, vault and inventory, or lines of a source.

    ``data`` are the bytes of a source, for the case that its passages must be found again.
    """

    sha256: str
    mtime_ns: int
    documents: tuple[Document, ...] = ()
    lines: tuple[str, ...] = ()
    data: bytes = b""


class _Quoted(NamedTuple):
    """What is quoted of a passage: its name, the lines, and all of its text."""

    name: str
    passage: Passage
    text: str


def _is_edited(candidate: Candidate, file: _File) -> bool:
    """Return whether a file is another than was indexed; of one never read, nobody knows."""
    return candidate.sha256 not in ("", file.sha256)


def _quoted(document: Document, passage: Passage) -> _Quoted:
    return _Quoted(document.name, passage, f"{document.label}\n{document.body}")


@dataclass(slots=True)
class Confirmer:
    """Confirms the candidates of one query; files are read once each.

    ``judge`` says how relevant a candidate is, of which the text as it is now holds a share of
    the question's words. ``changed_since_ns`` drops what did not change at that time or later.
    """

    matcher: LineMatcher
    judge: Callable[[Candidate, float], float]
    redactor: Redactor
    sources: dict[str, Source]
    stale: bool
    weights: Mapping[str, float] = field(default_factory=dict)
    changed_since_ns: int | None = None
    _files: dict[tuple[str, str, bool], _File | None] = field(default_factory=dict)
    _passages: dict[tuple[str, str, str], tuple[Document, ...]] = field(default_factory=dict)

    def confirm(self, candidate: Candidate) -> Hit | Dropped:
        """Read the candidate's file and quote it, or say why it is dropped."""
        file = self._file(candidate)
        if file is None:
            stated = self._stated(candidate)
            return stated or Dropped(code="HIT_UNREADABLE", candidate=candidate)
        if self.changed_since_ns is not None and file.mtime_ns < self.changed_since_ns:
            return Dropped(code=UNCHANGED, candidate=candidate)
        found = (
            self._definition(candidate, file)
            if candidate.kind == "graph"
            else self._meant(candidate, file)
            if candidate.lines is not None
            else self._quote(candidate, file)
        )
        if found is None:
            # Nobody may have edited the file: a graph has names that do not stand in it.
            code = "HIT_CHANGED" if _is_edited(candidate, file) else UNQUOTABLE
            return Dropped(code=code, candidate=candidate)
        name, passage, text = found
        words = self.matcher.share(f"{name}\n{text}", self.weights)
        source = self.sources[candidate.project]
        return Hit(
            project=candidate.project,
            name=one_line(name),
            kind=candidate.kind,
            tier=candidate.tier,
            path=one_line(self.redactor.redact(candidate.path).text),
            lines=(passage.start, passage.end),
            snippet=visible(passage.text),
            score=round(candidate.score, 4),
            sha256=file.sha256,
            confirmed=True,
            indexed_at=candidate.indexed_at,
            stale=self.stale or _is_edited(candidate, file),
            symbol=candidate.symbol,
            branch=source.branch,
            commit=source.commit,
            relevance=self.judge(candidate, words),
        )

    def _stated(self, candidate: Candidate) -> Hit | None:
        """Return an unconfirmed hit for a name of the code graph whose source is missing."""
        source = self.sources.get(candidate.project)
        if candidate.stated_in is None or source is None:
            return None
        path, sha256 = candidate.stated_in
        return Hit(
            project=candidate.project,
            name=one_line(candidate.name),
            kind=candidate.kind,
            tier=candidate.tier,
            path=one_line(self.redactor.redact(path).text),
            lines=(1, 1),
            snippet=one_line(self.redactor.redact(candidate.name).text),
            score=round(candidate.score, 4),
            sha256=sha256,
            confirmed=False,
            indexed_at=candidate.indexed_at,
            stale=True,
            symbol=candidate.symbol,
            branch=source.branch,
            commit=source.commit,
            relevance=self.judge(candidate, self.matcher.share(candidate.name, self.weights)),
        )

    def _file(self, candidate: Candidate) -> _File | None:
        key = (candidate.project, candidate.path, _by_lines(candidate))
        if key not in self._files:
            self._files[key] = self._read(candidate)
        return self._files[key]

    def _read(self, candidate: Candidate) -> _File | None:
        role = role_at(candidate.kind, candidate.path)
        source = self.sources.get(candidate.project)
        if source is None:
            return None
        try:
            where, path = located(source.folder, source.personal, candidate.path)
            with Folder.open(where) as folder:
                limit = SOURCE_LIMIT_BYTES if role is None else LIMIT_BYTES[role]
                read = _read_linked(folder, candidate, path, limit)
        except FilesError:
            return None
        if role is None or _by_lines(candidate):
            split = _lines_of if len(read.data) <= KEPT_BYTES else _lines_of.__wrapped__
            lines = split(read.data, self.redactor)
            return _File(
                sha256=read.sha256,
                mtime_ns=read.fingerprint.mtime_ns,
                lines=lines,
                data=read.data,
            )
        parse = _documents_of if len(read.data) <= KEPT_BYTES else _documents_of.__wrapped__
        documents = parse(read.data, self.redactor, role, candidate.path)
        return _File(sha256=read.sha256, mtime_ns=read.fingerprint.mtime_ns, documents=documents)

    def _definition(self, candidate: Candidate, file: _File) -> _Quoted | None:
        """Find the line that names a node of the code graph, nearest to its place."""
        word = bare_name(candidate.name)
        places = _lines_with(word, file.lines)
        if not places:
            # Some graphs call a member by its class (``Client.send``), as no source does.
            places = _lines_with(word.rpartition(".")[2], file.lines)
        if is_file_name(candidate.name, candidate.path):
            # The file's name answers; a line that holds what was asked for shows more.
            asked = self.matcher.best(list(file.lines), first_line=1)
            if asked is not None:
                return _Quoted(candidate.name, asked, asked.text)
            places = [candidate.start]
        elif word and not places and not _NAME.fullmatch(word) and not _is_edited(candidate, file):
            # Words about a place, not a name that could stand there: the file is as it was.
            places = [candidate.start]
        places = [number for number in places if number <= len(file.lines)]
        if not places:
            return None
        at = min(places, key=lambda number: (abs(number - candidate.start), number)) - 1
        passage = self.matcher.quote(file.lines, at, at, first_line=1)
        return _Quoted(candidate.name, passage, passage.text)

    def _meant(self, candidate: Candidate, file: _File) -> _Quoted | None:
        """Lines that are near in meaning, wherever in the file they stand now."""
        # Not loaded for answers of other surfaces.
        from agentic_os.aggregate.surfaces.sources import text_hash
        from agentic_os.tiers.index.chunks import windows_of

        unchanged = file.sha256 == candidate.sha256
        documents = self._documents(candidate, file, unchanged=unchanged)
        if candidate.lines is not None and unchanged:
            first, last = candidate.lines
            for document in documents:
                if document.start <= first <= document.end:
                    return _quoted(document, self._nearest(document, first, last))
        path = self.redactor.redact(candidate.path).text
        for document in documents:
            for window in windows_of(
                candidate.kind,
                path,
                document.name,
                document.label,
                document.start,
                document.body,
            ):
                if candidate.text_hash == text_hash(path, document.name, window.text):
                    return _quoted(document, self._nearest(document, window.start, window.end))
        # Other words under the same name: only if they answer the question themselves.
        return self._quote(candidate, file, named=True)

    def _nearest(self, document: Document, first: int, last: int) -> Passage:
        """Quote the best of lines ``first..last``, or the first of them."""
        lines = document.body.split("\n")[first - document.start : last - document.start + 1]
        passage = self.matcher.best(lines, first_line=first)
        if passage is not None:
            return passage
        start = next((at for at, line in enumerate(lines) if line.strip()), 0)
        end = min(start + SNIPPET_LINES, len(lines)) - 1
        return self.matcher.quote(lines, start, end, first_line=first)

    def _quote(self, candidate: Candidate, file: _File, *, named: bool = False) -> _Quoted | None:
        unchanged = file.sha256 == candidate.sha256
        ranked = sorted(
            self._documents(candidate, file, unchanged=unchanged),
            key=lambda document: (
                document.start != candidate.start if unchanged else False,
                document.name != candidate.name,
                abs(document.start - candidate.start),
            ),
        )
        for document in ranked[:1] if unchanged else ranked:
            if named and document.name != candidate.name:
                continue
            passage = self._passage(document)
            if passage is not None:
                return _quoted(document, passage)
        return None

    def _documents(
        self, candidate: Candidate, file: _File, *, unchanged: bool
    ) -> tuple[Document, ...]:
        """Return the passages that may be quoted; an unchanged source is not cut again."""
        if not _by_lines(candidate):
            return file.documents
        if unchanged:
            return (_as_indexed(candidate, file.lines),)
        key = (candidate.project, candidate.path, candidate.kind)
        if key not in self._passages:
            role = role_at(candidate.kind, candidate.path) or Role.DOCUMENT
            parsed = parse_file(role, candidate.path, file.data, self.redactor)
            self._passages[key] = parsed.documents
        return self._passages[key]

    def _passage(self, document: Document) -> Passage | None:
        """Choose the lines to quote, from the body first: front matter only repeats the name."""
        lines = document.body.split("\n")
        front = split_front_matter(document.body)
        head = front.body_line - 1 if front.present and document.start == 1 else 0
        passage = self.matcher.best(lines[head:], first_line=document.start + head)
        named = passage is None and self._named(document)
        if passage is None and (head or named):
            passage = self.matcher.best(lines, first_line=document.start)
        if passage is None and named:
            passage = self._beginning(document)
        return passage

    def _beginning(self, document: Document) -> Passage:
        lines = document.body.split("\n")
        first = next((at for at, line in enumerate(lines) if line.strip()), 0)
        return self.matcher.quote(lines, first, first, first_line=document.start)

    def _named(self, document: Document) -> bool:
        return self.matcher.matches(f"{document.name} {document.label} {document.extra}")


def _read_linked(folder: Folder, candidate: Candidate, path: str, limit: int) -> FileRead:
    """Read a candidate's file; an instruction under another name is read where it lies."""
    try:
        return folder.read(path, limit_bytes=limit)
    except FilesError as fault:
        if candidate.kind != "instruction" or fault.code != "LINK_REFUSED":
            raise
        target = linked_instruction(folder, path)
        if target is None:
            raise
        return folder.read(target, limit_bytes=limit)


@lru_cache(maxsize=KEPT_ENTRIES)
def _lines_of(data: bytes, redactor: Redactor) -> tuple[str, ...]:
    return tuple(redactor.redact(decode(data).text).text.split("\n"))


@lru_cache(maxsize=KEPT_ENTRIES)
def _documents_of(data: bytes, redactor: Redactor, role: Role, path: str) -> tuple[Document, ...]:
    return parse_file(role, path, data, redactor).documents


def _by_lines(candidate: Candidate) -> bool:
    """Return whether a candidate speaks of lines of a source: no parser decides what they are."""
    role = role_at(candidate.kind, candidate.path)
    return role is None or role in CORPUS_ROLES


def _as_indexed(candidate: Candidate, lines: Sequence[str]) -> Document:
    """Cut the passage that was indexed out of a file that has not changed since."""
    from agentic_os.aggregate.surfaces.sources import passage_document
    from agentic_os.code.passages.windows import Chunk

    file_name = candidate.path.rpartition("/")[2]
    chunk = Chunk(
        start=candidate.start,
        end=candidate.end,
        symbol="" if candidate.name == file_name else candidate.name,
        text="\n".join(lines[candidate.start - 1 : candidate.end]),
    )
    return passage_document(candidate.kind, candidate.path, chunk)
