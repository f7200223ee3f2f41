"""An engine's passages, looked up in the project's files as they are now.

What an engine says is a hint: a path below the project, reached through no link, and a text that
stands in that file. A passage that moved is found again; one that is gone, or names a file that
is not to be read, is dropped and counted. What is quoted later comes from the file (``confirm``).
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice, pairwise
from pathlib import Path, PurePosixPath

from agentic_os.code.passages.admission import LeftOut, kind_of, name_left_out
from agentic_os.errors import FilesError
from agentic_os.files.reading import FileRead, Folder
from agentic_os.registry.descriptor.values import LAYOUTS
from agentic_os.registry.project import Project
from agentic_os.registry.walk.listing import GIT
from agentic_os.results import Kind
from agentic_os.text.decoding import decode
from agentic_os.tiers.engines.values import EngineHit
from agentic_os.tiers.interface import Candidate

ENGINE_TIER = 3
FILE_LIMIT_BYTES = 1_048_576
"""A larger file is not looked into; nor would it be quoted (``confirm``)."""
MAX_PLACES_ENTRIES = 1_000
"""Places of one text in one file that are looked at for the nearest."""
MAX_LINES_WITHOUT_TEXT = 200
"""Lines of a passage that an engine names without its text."""
_USUAL = frozenset((layout, name) for layout in LAYOUTS for name in ("memory", "vault"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Candidates in the engine's order, and how many passages were dropped, by code."""

    candidates: tuple[Candidate, ...] = ()
    dropped: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A file as it is now: its hash and its lines, their ends trimmed."""

    sha256: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The lines joined."""
        return "\n".join(self.lines)


@dataclass(slots=True)
class _Files:
    """The files of one project, read once each."""

    folder: Folder
    known: dict[str, _File | None] = field(default_factory=dict)

    def get(self, path: str) -> _File | None:
        """Return the file, or ``None`` if it cannot be read."""
        if path not in self.known:
            try:
                read = self.folder.read(path, limit_bytes=FILE_LIMIT_BYTES)
            except FilesError:
                self.known[path] = None
            else:
                self.known[path] = _trimmed(read)
        return self.known[path]


def place_hits(project: Project, hits: Sequence[EngineHit], kinds: frozenset[Kind]) -> Placed:
    """Turn an engine's passages into candidates.

    Args:
        project: whose engine was asked.
        hits: what it said, best first.
        kinds: kinds that are wanted; empty for all.
    """
    found: dict[tuple[str, int], Candidate] = {}
    dropped: Counter[str] = Counter()
    try:
        with Folder.open(project.folder) as folder:
            files = _Files(folder)
            for hit in hits:
                answer = _place(project, files, hit)
                if isinstance(answer, str):
                    dropped[answer] += 1
                elif not kinds or answer.kind in kinds:
                    found.setdefault((answer.path, answer.start), answer)
    except FilesError:
        return Placed(candidates=(), dropped={"HIT_UNREADABLE": len(hits)} if hits else {})
    return Placed(candidates=tuple(found.values()), dropped=dict(dropped))


def relative_path(text: str, folder: Path) -> str | None:
    """Return the path below a project that an engine's text means; ``None`` if it leaves it.

    An absolute path counts where it lies below the folder, or below where that really is, as
    text.
    """
    if not text or "\0" in text or "\\" in text:
        return None
    path = PurePosixPath(text)
    if path.is_absolute():
        bases = (folder, Path(os.path.realpath(folder)))
        base = next((one for one in bases if path.is_relative_to(one)), None)
        if base is None:
            return None
        path = path.relative_to(base)
    parts = path.parts
    if not parts or ".." in parts or any(part.casefold() == GIT for part in parts):
        return None
    return str(path)


def _place(project: Project, files: _Files, hit: EngineHit) -> Candidate | str:
    path = relative_path(hit.path, project.folder)
    if path is None:
        return "ENGINE_HIT_REFUSED"
    if _answered_elsewhere(project, path):
        return "ENGINE_HIT_COVERED"
    name = PurePosixPath(path).name
    if name_left_out(name, 0) is LeftOut.SECRET:
        return "ENGINE_HIT_REFUSED"
    file = files.get(path)
    if file is None:
        return "HIT_UNREADABLE"
    lines = _lines(file, hit)
    if lines is None:
        return "HIT_CHANGED"
    return Candidate(
        project=project.id,
        kind="document" if kind_of(name) == "document" else "code",
        tier=ENGINE_TIER,
        path=path,
        name=name,
        start=lines[0],
        end=lines[1],
        score=hit.score,
        sha256=file.sha256,
        indexed_at=datetime.now(UTC).isoformat(timespec="seconds"),
        lines=lines,
    )


def _answered_elsewhere(project: Project, path: str) -> bool:
    """Return whether a path lies in a memory or a vault: a question may be closed to these.

    Those of projects inside this one count too, at the places where they usually are.
    """
    parts = [part.casefold() for part in PurePosixPath(path).parts]
    if any(pair in _USUAL for pair in pairwise(parts)):
        return True
    declared = project.descriptor
    folders = [
        one.path
        for one in (declared.memory, declared.vault)
        if one is not None and one.path is not None
    ]
    lowered = PurePosixPath(path.casefold())
    return any(lowered.is_relative_to(folder.casefold()) for folder in folders)


def _trimmed(read: FileRead) -> _File:
    text = decode(read.data).text
    return _File(sha256=read.sha256, lines=tuple(line.rstrip() for line in text.split("\n")))


def _lines(file: _File, hit: EngineHit) -> tuple[int, int] | None:
    """Where the passage stands now, nearest to where the engine saw it; from 1, inclusive."""
    said = "\n".join(
        map(str.rstrip, decode(hit.content.encode("utf-8", "replace")).text.split("\n"))
    )
    said = said.strip()
    if not said:
        return _said_lines(file, hit)
    wanted = max(hit.start, 1)
    starts = islice(_places(file.text, said), MAX_PLACES_ENTRIES)
    start = min(starts, key=lambda line: abs(line - wanted), default=None)
    return None if start is None else (start, start + said.count("\n"))


def _said_lines(file: _File, hit: EngineHit) -> tuple[int, int] | None:
    if not 0 < hit.start <= len(file.lines):
        return None
    return hit.start, min(hit.end, len(file.lines), hit.start + MAX_LINES_WITHOUT_TEXT - 1)


def _places(text: str, said: str) -> Iterator[int]:
    """Yield the lines on which a text begins."""
    line, seen = 1, 0
    at = text.find(said)
    while at >= 0:
        line += text.count("\n", seen, at)
        seen = at
        yield line
        at = text.find(said, at + 1)
