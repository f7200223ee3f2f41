"""What the edges between projects were derived from, and whose have to be derived anew.

- Where a project came, went, moved, or has other file names or manifests, any other project
  can mean something else by an import: the edges of all are derived anew.
- Where only the content of files changed, the edges of that project are, and elsewhere those of
  the files that looked into it when theirs were derived, directly or through another.
"""

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentic_os.aggregate.graph.projects import GraphProject

RULES_VERSION = 4
"""Counts up when a rule, or what is kept of it, changes: stores of the former are derived anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """Whose edges are not what they would be now, by number of the project.

    Attributes:
        whole: projects of which every edge is derived anew.
        files: of others, the files whose edges are; what their manifests name is, too.
    """

    whole: frozenset[int]
    files: Mapping[int, frozenset[str]]


def outdated(connection: sqlite3.Connection, projects: Sequence[GraphProject]) -> Outdated | None:
    """Return whose edges are not what they would be now; ``None`` where all are current.

    Everything of all projects where any has to be, nothing where the last project went.
    """
    now = current(connection, projects)
    run = connection.execute
    then = {row[0]: row[1:] for row in run("SELECT rid, layout, content, reads FROM graph_derived")}
    layouts = {rid: layout for rid, (layout, _) in now.items()}
    if layouts != {rid: row[0] for rid, row in then.items()}:
        return Outdated(whole=frozenset(now), files={})
    whole = frozenset(rid for rid, (_, content) in now.items() if content != then[rid][1])
    if not whole:
        return None
    reads = {rid: _reads(row[2]) for rid, row in then.items()}
    # A source that reads a project may pass a name of it on to its own readers.
    passing, grown = set(whole), True
    while grown:
        found = {
            rid
            for rid, files in reads.items()
            if any(path and read & passing for path, read in files.items())
        }
        grown = not found <= passing
        passing |= found
    files: dict[int, frozenset[str]] = {}
    for rid, read in reads.items():
        stale = frozenset(path for path, seen in read.items() if seen & passing)
        if stale and rid not in whole:
            files[rid] = stale
    return Outdated(whole=whole, files=files)


def _reads(text: str) -> dict[str, frozenset[int]]:
    """Read what ``graph_derived.reads`` holds: by path of a source, the projects it looked into."""
    return {path: frozenset(seen) for path, seen in json.loads(text).items()}


def current(
    connection: sqlite3.Connection, projects: Sequence[GraphProject]
) -> dict[int, tuple[str, str]]:
    """Return what the edges depend on now: layout and content of each project, by number."""
    known = {item.id: item for item in projects}
    found: dict[int, tuple[str, str]] = {}
    for rid, project, layout, content in connection.execute(
        "SELECT rid, project, layout, content FROM graph_repo"
    ):
        if project in known:
            item = known[project]
            parts = (str(RULES_VERSION), project, layout, str(item.folder), item.remote or "")
            text = "\0".join(parts).encode("utf-8", "surrogateescape")
            found[rid] = (hashlib.sha256(text).hexdigest(), content)
    return found
