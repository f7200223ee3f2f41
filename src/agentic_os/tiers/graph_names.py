"""Which nodes a person means by what they typed.

In this order, the first that finds anything:

1. an id, ``project::local``;
2. a path, ``src/app.py``, or a name in a file, ``src/app.py:load``;
3. a label, exactly as written; with Graphify's decoration it is the same name
   (``load``, ``load()``, ``.load()``);
4. the same without regard to case.

``find`` goes on to beginnings and then to any part of a label.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentic_os.aggregate.graph_store import node_range
from agentic_os.aggregate.graph_tables import FLAG_FILE, PROJECT_SHIFT
from agentic_os.tiers.graph_answers import FindHow
from agentic_os.tiers.graph_views import NODE_QUERY, NodeRow, node_row

MAX_NAME_CHARS = 1_000
MAX_MATCHES_ENTRIES = 10_000
_MIN_GRAM_CHARS = 3
_SPECIAL = re.compile(r"([\\%_])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """The nodes that a name means, and how they were found."""

    how: FindHow | None
    rows: tuple[NodeRow, ...]


class NameFinder:
    """Finds nodes by name in the given projects."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        projects: Mapping[int, str],
        scope: frozenset[int] | None,
    ) -> None:
        """Find in ``scope`` (project numbers), or everywhere."""
        self._connection = connection
        self._projects = projects
        self._scope = scope

    def exact(self, name: str) -> Matches:
        """Return the nodes that a name means, without guessing."""
        name = name.strip()[:MAX_NAME_CHARS]
        if not name:
            return Matches(how=None, rows=())
        rows = self._by_id(name)
        if rows:
            return Matches(how="id", rows=tuple(rows))
        rows = self._by_path(name)
        if rows:
            return Matches(how="path", rows=tuple(rows))
        rows = self._by_label(name)
        return Matches(how="exact" if rows else None, rows=tuple(rows))

    def search(self, name: str) -> Matches:
        """Return the nodes that a name means, else begins, else is part of."""
        found = self.exact(name)
        name = name.strip()[:MAX_NAME_CHARS]
        if found.rows or not name:
            return found
        rows = self._by_prefix(name)
        if rows:
            return Matches(how="prefix", rows=tuple(rows))
        rows = self._by_part(name)
        return Matches(how="substring" if rows else None, rows=tuple(rows))

    # -- the ways ------------------------------------------------------------------------

    def _by_id(self, name: str) -> list[NodeRow]:
        project, separator, local = name.partition("::")
        if not separator:
            return []
        numbers = [number for number, known in self._projects.items() if known == project]
        found: list[NodeRow] = []
        for number in numbers:
            low, high = node_range(number)
            found += self._rows("node.lid = ? AND node.nid BETWEEN ? AND ?", (local, low, high))
            if not found:
                inner = NameFinder(self._connection, self._projects, frozenset({number}))
                found += inner.exact(local).rows
        return found

    def _by_path(self, name: str) -> list[NodeRow]:
        path, _, symbol = name.partition(":") if "/" in name else (name, "", "")
        if "/" not in path and "." not in path:
            return []
        files = self._connection.execute(
            "SELECT fid FROM graph_file WHERE path = ?1 OR path LIKE ?2 ESCAPE '\\'",
            (path, f"%/{_SPECIAL.sub(_ESCAPED, path)}"),
        ).fetchall()
        found: list[NodeRow] = []
        for (fid,) in files[:MAX_MATCHES_ENTRIES]:
            rows = self._rows(
                "node.fid = ? AND node.nid BETWEEN ? AND ?", (fid, *self._range_of(fid))
            )
            if symbol:
                found += [row for row in rows if bare(row.label) == bare(symbol)]
            else:
                found += [row for row in rows if row.flags & FLAG_FILE]
        return found

    def _range_of(self, fid: int) -> tuple[int, int]:
        row = self._connection.execute("SELECT rid FROM graph_file WHERE fid=?", (fid,)).fetchone()
        return node_range(row[0])

    def _by_label(self, name: str) -> list[NodeRow]:
        plain = bare(name)
        wanted = {name, plain, f"{plain}()", f".{plain}()", f".{plain}"}
        marks = ",".join("?" * len(wanted))
        found = self._rows(f"node.label COLLATE NOCASE IN ({marks})", tuple(sorted(wanted)))
        same_case = [row for row in found if row.label in wanted]
        as_written = [row for row in same_case if row.label == name]
        return as_written or same_case or found

    def _by_prefix(self, name: str) -> list[NodeRow]:
        pattern = _SPECIAL.sub(_ESCAPED, name) + "%"
        return self._rows(
            "node.label LIKE ? ESCAPE '\\' OR node.label LIKE ? ESCAPE '\\'",
            (pattern, f".{pattern}"),
        )

    def _by_part(self, name: str) -> list[NodeRow]:
        folded = name.casefold()
        if len(name) < _MIN_GRAM_CHARS:
            return self._rows("instr(lower(node.label), ?)", (folded,))
        grams = sorted({folded[i : i + 3] for i in range(len(folded) - 2)})
        match = " AND ".join('"' + gram.replace('"', '""') + '"' for gram in grams)
        rows = self._rows(
            "node.nid IN (SELECT rowid FROM graph_grams WHERE graph_grams MATCH ?)", (match,)
        )
        return [row for row in rows if folded in row.label.casefold()]

    def _rows(self, condition: str, values: tuple[object, ...]) -> list[NodeRow]:
        query = f"{NODE_QUERY} WHERE {condition} LIMIT {MAX_MATCHES_ENTRIES}"
        return sorted(self._inside(query, values), key=self._order)

    def _inside(self, query: str, values: tuple[object, ...]) -> Iterator[NodeRow]:
        for row in self._connection.execute(query, values):
            typed = node_row(row)
            number = typed.nid >> PROJECT_SHIFT
            if self._scope is None or number in self._scope:
                yield typed

    def _order(self, row: NodeRow) -> tuple[object, ...]:
        project = self._projects.get(row.nid >> PROJECT_SHIFT, "")
        return (len(row.label), row.label, project, row.path, row.line, row.lid)


_ESCAPED = r"\\\1"


def bare(label: str) -> str:
    """Return a label without Graphify's decoration: ``.load()`` is ``load``."""
    return label.removeprefix(".").partition("(")[0]
