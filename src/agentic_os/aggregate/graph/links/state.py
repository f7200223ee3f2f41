"""What the edges between projects were derived from, and whose have to be derived anew.

- Where a project came, went, moved, or has other file names or manifests, any other project
  can mean something else by an import: the edges of all are derived anew.
- Where only the content of files changed, the edges of that project are, and of those that
  looked into it when theirs were derived, directly or through another.
"""

import hashlib
import json
import sqlite3
from collections.abc import Sequence

from agentic_os.aggregate.graph.projects import GraphProject

RULES_VERSION = 3
"""Counts up when a rule changes, so that stores derived by the former are derived anew."""


def outdated(connection: sqlite3.Connection, projects: Sequence[GraphProject]) -> set[int] | None:
    """Return the projects (by number) whose edges are not what they would be now.

    Returns:
        ``None`` where all edges are current. All projects where everything has to be derived
        anew, none of them where the last project went.
    """
    now = current(connection, projects)
    run = connection.execute
    then = {row[0]: row[1:] for row in run("SELECT rid, layout, content, reads FROM graph_derived")}
    layouts = {rid: layout for rid, (layout, _) in now.items()}
    if layouts != {rid: row[0] for rid, row in then.items()}:
        return set(now)
    changed = {rid for rid, (_, content) in now.items() if content != then[rid][1]}
    if not changed:
        return None
    readers = {rid: frozenset(json.loads(row[2])) for rid, row in then.items()}
    # Whoever reads a project may pass a name of it on to its own readers.
    grown = True
    while grown:
        found = {rid for rid, reads in readers.items() if reads & changed}
        grown = not found <= changed
        changed |= found
    return changed


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
