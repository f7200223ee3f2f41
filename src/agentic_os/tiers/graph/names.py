"""Which nodes a person means by what they typed.

In this order, the first that finds anything:

1. an id, ``project::local``;
2. a path, ``src/app.py``, or a name in a file, ``src/app.py:load``;
3. a label, exactly as written; with Graphify's decoration it is the same name
   (``load``, ``load()``, ``.load()``);
4. the same without regard to case.

``find`` goes on to beginnings and then to any part of a label. Where that finds nothing either,
names that are spelled nearly so are offered, never taken for an answer.
"""

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from agentic_os.aggregate.graph.tables import FLAG_FILE, PROJECT_SHIFT, node_range
from agentic_os.tiers.graph.answers import FindHow
from agentic_os.tiers.graph.views import NODE_QUERY, NodeRow, node_row
from agentic_os.tiers.graph.walk import CONTAINMENT
from agentic_os.tiers.wording import MIN_GRAM_CHARS

MAX_NAME_CHARS = 1_000
MAX_MATCHES_ENTRIES = 10_000
MAX_NEAR_NODES = 5
_MAX_NEAR_CANDIDATES_ENTRIES = 2_000
_NEAR_RATIO = 0.7
_MIN_HALF_CHARS = 3
_MAX_HOLDERS = 8
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
        self.cut = False
        """Whether a name had more nodes than ``MAX_MATCHES_ENTRIES``."""

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
        rows = self._by_label(name) or self._by_dotted(name)
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

    def near(self, name: str) -> tuple[NodeRow, ...]:
        """Return nodes whose names are spelled nearly like a name, the nearest first.

        One slip leaves the first or the second half of a name whole: only names with such a
        half are compared.
        """
        from difflib import SequenceMatcher

        wanted = bare(name.strip()[:MAX_NAME_CHARS].rpartition(":")[2]).casefold()
        middle = len(wanted) // 2
        halves = [
            half for half in (wanted[:middle], wanted[middle:]) if len(half) >= _MIN_HALF_CHARS
        ]
        found: dict[int, tuple[float, NodeRow]] = {}
        matcher = SequenceMatcher(b=wanted, autojunk=False)
        for half in halves:
            for row in self._by_part(half, limit=_MAX_NEAR_CANDIDATES_ENTRIES):
                matcher.set_seq1(bare(row.label).casefold())
                if matcher.quick_ratio() >= _NEAR_RATIO and matcher.ratio() >= _NEAR_RATIO:
                    found[row.nid] = (matcher.ratio(), row)
        ordered = sorted(found.values(), key=lambda item: (-item[0], self._order(item[1])))
        return tuple(row for _, row in ordered[:MAX_NEAR_NODES])

    # -- the ways ------------------------------------------------------------------------

    def _by_id(self, name: str) -> list[NodeRow]:
        project, separator, local = name.partition("::")
        if not separator:
            return []
        found: list[NodeRow] = []
        for number, known in self._projects.items():
            if known != project or (self._scope is not None and number not in self._scope):
                continue
            low, high = node_range(number)
            found += self._rows("node.lid = ? AND node.nid BETWEEN ? AND ?", (local, low, high))
            if not found:
                inner = NameFinder(self._connection, self._projects, frozenset({number}))
                found += inner.exact(local).rows
        return found

    def _by_path(self, name: str) -> list[NodeRow]:
        path, _, symbol = name.partition(":")
        if "/" not in path and "." not in path:
            return []
        files: dict[int, list[int]] = {}
        for rid, fid in self._connection.execute(
            "SELECT rid, fid FROM graph_file WHERE path = ? OR path LIKE ? ESCAPE '\\'",
            (path, f"%/{_SPECIAL.sub(_ESCAPED, path)}"),
        ):
            if self._scope is None or rid in self._scope:
                files.setdefault(rid, []).append(fid)
        found: list[NodeRow] = []
        for rid, fids in sorted(files.items()):
            # One pass over a project, however many of its files have that name.
            listed = ",".join(map(str, fids))
            found += self._rows(
                f"node.nid BETWEEN ? AND ? AND node.fid IN ({listed})", node_range(rid)
            )
        if symbol:
            return [row for row in found if bare(row.label) == bare(symbol)]
        return [row for row in found if row.flags & FLAG_FILE]

    def _by_label(self, name: str) -> list[NodeRow]:
        wanted = spellings(name)
        marks = ",".join("?" * len(wanted))
        found = self._rows(f"node.label COLLATE NOCASE IN ({marks})", wanted)
        same_case = [row for row in found if row.label in wanted]
        as_written = [row for row in same_case if row.label == name]
        return as_written or same_case or found

    def _by_dotted(self, name: str) -> list[NodeRow]:
        """Find ``package.module.Class.member`` by its last part and what stands around it.

        Before a member stand its class and, before that, any of the folders and the file it lies
        in, in their order; ``httpx.Client.send`` means the one in ``httpx/_client.py``.
        """
        parts = [part for part in bare(name).split(".") if part]
        for count in range(1, len(parts)):
            rows = [
                row
                for row in self._by_label(".".join(parts[-count:]))
                if self._stands_in(row, parts[:-count])
            ]
            if rows:
                return rows
        return []

    def _stands_in(self, row: NodeRow, qualifiers: list[str]) -> bool:
        """Whether a node stands in what qualifies its name: folders and file, then classes."""
        project = self._projects.get(row.nid >> PROJECT_SHIFT, "").rpartition("-")[0]
        folder, _, file = row.path.rpartition("/")
        around = [project, *folder.split("/"), file.partition(".")[0]]
        holders = self._holders(row.nid)
        if holders and qualifiers[-1] != holders[-1]:
            return False
        pool = iter([*around, *holders])
        return all(part in pool for part in qualifiers)

    def _holders(self, nid: int) -> list[str]:
        """Return the names of the definitions that contain a node, the outermost first."""
        found: list[str] = []
        for _ in range(_MAX_HOLDERS):
            row = self._connection.execute(_HOLDER, (nid, FLAG_FILE)).fetchone()
            if row is None:
                break
            nid, label = row
            found.insert(0, bare(label))
        return found

    def _by_prefix(self, name: str) -> list[NodeRow]:
        pattern = _SPECIAL.sub(_ESCAPED, name) + "%"
        return self._rows(
            "node.label LIKE ? ESCAPE '\\' OR node.label LIKE ? ESCAPE '\\'",
            (pattern, f".{pattern}"),
        )

    def _by_part(self, name: str, *, limit: int | None = None) -> list[NodeRow]:
        folded = name.casefold()
        if len(name) < MIN_GRAM_CHARS:
            return self._rows("instr(lower(node.label), ?)", (folded,), limit=limit)
        grams = sorted({folded[i : i + 3] for i in range(len(folded) - 2)})
        match = " AND ".join('"' + gram.replace('"', '""') + '"' for gram in grams)
        condition = "node.nid IN (SELECT rowid FROM graph_grams WHERE graph_grams MATCH ?)"
        values: tuple[str, ...] = (match,)
        if folded.isascii():
            # Before the bound, so that it never cuts a name for others that only share its grams.
            condition += " AND instr(lower(node.label), ?)"
            values = (match, folded)
        rows = self._rows(condition, values, limit=limit)
        return [row for row in rows if folded in row.label.casefold()]

    def _rows(
        self, condition: str, values: tuple[object, ...], *, limit: int | None = None
    ) -> list[NodeRow]:
        most = MAX_MATCHES_ENTRIES if limit is None else limit
        inside = ""
        if self._scope is not None:
            numbers = ",".join(str(number) for number in sorted(self._scope))
            inside = f" AND node.nid >> {PROJECT_SHIFT} IN ({numbers})"
        query = f"{NODE_QUERY} WHERE ({condition}){inside} LIMIT {most + 1}"
        rows = [node_row(row) for row in self._connection.execute(query, values)]
        if len(rows) > most:
            self.cut = True
            rows.pop()
        return sorted(rows, key=self._order)

    def _order(self, row: NodeRow) -> tuple[object, ...]:
        project = self._projects.get(row.nid >> PROJECT_SHIFT, "")
        return (len(row.label), row.label, project, row.path, row.line, row.lid)


_HOLDER = f"""
SELECT holder.nid, holder.label FROM graph_in AS edge
JOIN graph_node AS holder ON holder.nid = edge.src JOIN graph_term AS term ON term.tid = edge.rel
WHERE edge.dst = ? AND NOT holder.flags & ? AND term.text IN ({", ".join(map(repr, CONTAINMENT))})
LIMIT 1
"""  # noqa: S608 - fixed names
_ESCAPED = r"\\\1"


def spellings(name: str) -> tuple[str, ...]:
    """Return a name with and without the decorations that Graphify gives labels."""
    plain = bare(name)
    return tuple(sorted({name, plain, f"{plain}()", f".{plain}()", f".{plain}"}))


def bare(label: str) -> str:
    """Return a label without Graphify's decoration: ``.load()`` is ``load``."""
    return label.removeprefix(".").partition("(")[0]
