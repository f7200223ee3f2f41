"""Where transcripts lie, and reading one: streamed, bounded, while its agent may still write it."""

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.sessions.faults import session_fault
from agentic_os.aios.sessions.transcripts import AGENTS, READERS, Transcript, recognised
from agentic_os.files.harness_folders import harness_folder
from agentic_os.text.jsonl import MAX_NESTING_LEVELS, iterate_stream

TRANSCRIPT_BYTES: Final = 256 * 1024 * 1024
LINE_BYTES: Final = 16 * 1024 * 1024
OBJECT_BYTES: Final = 64 * 1024 * 1024
"""A transcript that is one JSON object is read whole; a larger one is refused."""
FOLDER_ENTRIES: Final = 100_000

_CHUNK_BYTES: Final = 1024 * 1024
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A transcript on disk: which agent's, where, and how old."""

    agent: str
    path: Path
    mtime: float


def sources_of(agent: str, environ: Mapping[str, str], home: Path) -> list[Source]:
    """List an agent's transcripts, oldest first.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID for an agent that is not known.
    """
    if agent not in AGENTS:
        raise argument_fault(f"the agent must be one of {', '.join(AGENTS)}")
    found = []
    for path in _paths(agent, environ, home):
        try:
            seen = path.lstat()
        except OSError:
            continue
        if stat.S_ISREG(seen.st_mode):
            found.append(Source(agent=agent, path=path, mtime=seen.st_mtime))
    return sorted(found, key=lambda source: (source.mtime, str(source.path)))


def read_transcript(path: Path, agent: str | None = None) -> Transcript:
    """Read a transcript, up to the size that it has now.

    Args:
        path: the file.
        agent: whose form it has; ``None`` finds out.

    Raises:
        AiosError: DOTAIOS_SESSION_SOURCE_UNAVAILABLE, _UNAUTHORIZED, _TOO_LARGE or _INVALID.
    """
    try:
        handle = os.open(path, _FLAGS)
    except OSError as error:
        linked = path.is_symlink()
        raise session_fault(
            "SOURCE_UNAUTHORIZED" if linked else "SOURCE_UNAVAILABLE", path.name
        ) from error
    try:
        seen = os.fstat(handle)
        if not stat.S_ISREG(seen.st_mode):
            raise session_fault("SOURCE_UNAUTHORIZED", path.name)
        if seen.st_size > TRANSCRIPT_BYTES:
            raise session_fault("SOURCE_TOO_LARGE", path.name)
        rows: Iterable[object]
        if path.suffix == ".json" and agent in (None, "gemini"):
            rows = [_whole(handle, seen.st_size)]
        else:
            lines = iterate_stream(_chunks(handle, seen.st_size), max_line_bytes=LINE_BYTES)
            rows = (value for _, value in lines)
        if agent is None:
            agent, rows = _sniffed(rows)
        found = READERS[agent](rows)
        found.cwd = found.cwd or _project_root(path)
        return found
    finally:
        os.close(handle)


def _paths(agent: str, environ: Mapping[str, str], home: Path) -> Iterator[Path]:
    if agent == "claude-code":
        top = harness_folder("claude-code", environ, home) / "projects"
        yield from (path for path in _glob(top, "*/*.jsonl") if not path.name.startswith("agent-"))
    elif agent == "codex":
        top = harness_folder("codex", environ, home) / "sessions"
        yield from _glob(top, "*/*/*/rollout-*.jsonl")
    else:
        yield from _glob(home / ".gemini/tmp", "*/chats/session-*.json*")


def _glob(top: Path, pattern: str) -> Iterator[Path]:
    for at, path in enumerate(top.glob(pattern)):
        if at >= FOLDER_ENTRIES:
            return
        yield path


def _chunks(handle: int, size: int) -> Iterator[bytes]:
    left = size
    while left > 0 and (data := os.read(handle, min(left, _CHUNK_BYTES))):
        left -= len(data)
        yield data


def _whole(handle: int, size: int) -> object:
    if size > OBJECT_BYTES:
        raise session_fault("SOURCE_TOO_LARGE")
    try:
        return json.loads(b"".join(_chunks(handle, size)))
    except (ValueError, RecursionError):
        raise session_fault("SOURCE_INVALID") from None


def _sniffed(rows: Iterable[object]) -> tuple[str, Iterable[object]]:
    seen: list[object] = []
    rest = iter(rows)
    for row in rest:
        seen.append(row)
        agent = recognised(row)
        if agent is not None:
            return agent, _joined(seen, rest)
        if len(seen) > MAX_NESTING_LEVELS:
            break
    raise session_fault("SOURCE_INVALID")


def _joined(first: list[object], rest: Iterator[object]) -> Iterator[object]:
    yield from first
    yield from rest


def _project_root(path: Path) -> str | None:
    """Read where a Gemini chat ran, from the file beside its folder."""
    marker = path.parent.parent / ".project_root"
    try:
        with marker.open("rb") as file:
            text = file.read(4096).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if text.startswith("/") else None
