"""What the edges between projects were derived from: equal states need no new derivation."""

import hashlib
import sqlite3
from collections.abc import Sequence

from agentic_os.aggregate.graph.projects import GraphProject

RULES_VERSION = 2
"""Counts up when a rule changes, so that stores derived by the former are derived anew."""


def derivation_state(connection: sqlite3.Connection, projects: Sequence[GraphProject]) -> str:
    """Hash everything that edges depend on: contents, places and remotes."""
    numbers = {
        row[0]: (row[1], row[2])
        for row in connection.execute("SELECT project, rid, content FROM graph_repo")
    }
    digest = hashlib.sha256(f"rules {RULES_VERSION}\n".encode())
    for item in sorted(projects, key=lambda item: item.id):
        if item.id not in numbers:
            continue
        parts = (
            item.id,
            str(numbers[item.id][0]),
            numbers[item.id][1],
            str(item.folder),
            item.remote or "",
        )
        digest.update(("\0".join(parts) + "\n").encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def stored_state(connection: sqlite3.Connection) -> str:
    """Return what the stored edges were derived from; empty when they never were."""
    row = connection.execute("SELECT value FROM graph_meta WHERE key='derived'").fetchone()
    return str(row[0]) if row else ""


def keep_state(connection: sqlite3.Connection, state: str) -> None:
    """Remember what the stored edges are derived from."""
    connection.execute("INSERT OR REPLACE INTO graph_meta VALUES('derived', ?)", (state,))
