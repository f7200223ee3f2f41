"""The code graph as a search surface: names of code that answer a query.

Asked before full text wherever a project has a graph (design section 5), within a time bound: a
graph that cannot answer in time is left out and said. A hit is the place where a name is
defined; it is shown when the file still says so. Where the source is not there, the graph's own
word is shown, marked as not confirmed.
"""

import re
import sqlite3
import time
from dataclasses import dataclass
from typing import NamedTuple

from agentic_os.aggregate.graph.codes import GRAPH_CODES, TIME_OUT_CODE
from agentic_os.aggregate.graph.tables import FLAG_SYNTHETIC, PROJECT_SHIFT
from agentic_os.aggregate.store.database import Store
from agentic_os.registry.descriptor.memory_block import GRAPH_TIER
from agentic_os.results import Omission
from agentic_os.text.tokens import index_extra
from agentic_os.tiers.confirm import bare_name
from agentic_os.tiers.graph.names import spellings
from agentic_os.tiers.interface import Candidate, Found, ProjectScore, Query
from agentic_os.tiers.lexical import SPARE_CANDIDATES, iso_time

TIME_LIMIT_SECONDS = 0.25
MAX_MATCHES_ENTRIES = 2_000
_STEPS = 5_000
"""Virtual machine steps of SQLite between two looks at the clock."""

_TOKEN = re.compile(r"[^\W_]+")
_NODES = """
SELECT node.label, node.line, file.path, file.sha256, repo.read_at_ns, repo.project,
       repo.graph_path, repo.sha256
FROM {source} JOIN graph_file AS file ON file.fid = node.fid
JOIN graph_repo AS repo ON repo.rid = node.nid >> {shift}
WHERE {condition} AND node.line > 0 AND NOT node.flags & {synthetic}{inside}
LIMIT {limit}
"""
_BY_WORDS = "graph_words JOIN graph_node AS node ON node.nid = graph_words.rowid"


class _Row(NamedTuple):
    label: str
    line: int
    path: str
    sha256: str
    read_at_ns: int
    project: str
    graph_path: str
    graph_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFound:
    """What the graph found, and whether it ran out of time."""

    found: Found
    omissions: tuple[Omission, ...] = ()


class GraphSurface:
    """The graph of one open store, asked by words."""

    def __init__(self, store: Store, *, seconds: float = TIME_LIMIT_SECONDS) -> None:
        """Search ``store`` for at most ``seconds``."""
        self._connection = store.connection
        self._seconds = seconds

    def find(self, query: Query) -> GraphFound:
        """Rank the names that hold every word of the query: exact ones first, then the shortest."""
        started = time.perf_counter()
        rows: dict[_Row, None] = {}
        omissions: list[Omission] = []
        try:
            cut = self._bounded(query, rows, started + self._seconds)
        except sqlite3.OperationalError as fault:
            if "interrupted" not in str(fault):
                raise
            omissions.append(
                GRAPH_CODES.omission(
                    TIME_OUT_CODE, "graph", "the code graph did not answer in time"
                )
            )
        else:
            if cut:
                omissions.append(
                    GRAPH_CODES.omission(
                        "GRAPH_MATCHES_CUT",
                        "graph",
                        f"more than {MAX_MATCHES_ENTRIES} names hold these words",
                    )
                )
        wanted = bare_name(query.text.strip()).casefold()
        ordered = sorted(
            rows,
            key=lambda row: (
                bare_name(row.label).casefold() != wanted,
                len(row.label),
                row.project,
                row.path,
                row.line,
            ),
        )
        found = Found(
            surface="graph",
            candidates=[_candidate(row) for row in ordered[: query.limit + SPARE_CANDIDATES]],
            total=len(ordered),
            by_project=_by_project(ordered),
            milliseconds=(time.perf_counter() - started) * 1_000,
        )
        return GraphFound(found=found, omissions=tuple(omissions))

    def _bounded(self, query: Query, rows: dict[_Row, None], deadline: float) -> bool:
        """Collect the names until the deadline; tell whether there are more than are taken."""
        match = _match(query.text)
        if not match:
            return False
        inside = self._inside(query.projects)
        names = spellings(query.text.strip())
        marks = ",".join("?" * len(names))
        self._connection.set_progress_handler(lambda: int(time.perf_counter() > deadline), _STEPS)
        try:
            # Names that are the query come first: a bound on the others must not lose them.
            for source, condition, values in (
                ("graph_node AS node", f"node.label COLLATE NOCASE IN ({marks})", names),
                (_BY_WORDS, "graph_words MATCH ?", (match,)),
            ):
                asked = _NODES.format(
                    source=source,
                    condition=condition,
                    shift=PROJECT_SHIFT,
                    synthetic=FLAG_SYNTHETIC,
                    inside=inside,
                    limit=MAX_MATCHES_ENTRIES + 1,
                )
                for row in self._connection.execute(asked, values):
                    if len(rows) >= MAX_MATCHES_ENTRIES:
                        return True
                    rows[_Row._make(row)] = None
        finally:
            self._connection.set_progress_handler(None, 0)
        return False

    def _inside(self, projects: frozenset[str] | None) -> str:
        if projects is None:
            return ""
        known = self._connection.execute("SELECT rid, project FROM graph_repo")
        numbers = ",".join(str(int(rid)) for rid, project in known if project in projects)
        return f" AND node.nid >> {PROJECT_SHIFT} IN ({numbers})"


def _match(text: str) -> str:
    """Every word must be in the label; the index keeps no positions, so each stands alone."""
    words: dict[str, None] = {}
    for word in _TOKEN.findall(text):
        for part in index_extra(word).split() or [word]:
            words[part] = None
    return " AND ".join(f'"{word}"' for word in words)


def _candidate(row: _Row) -> Candidate:
    return Candidate(
        project=row.project,
        kind="graph",
        tier=GRAPH_TIER,
        path=row.path,
        name=row.label,
        start=row.line,
        end=row.line,
        score=0.0,
        sha256=row.sha256,
        indexed_at=iso_time(row.read_at_ns),
        symbol=row.label,
        stated_in=(row.graph_path, row.graph_sha256),
    )


def _by_project(
    rows: list[_Row],
) -> dict[str, ProjectScore]:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.project] = counts.get(row.project, 0) + 1
    return {
        project: ProjectScore(counts={"graph": count}, best=0.0)
        for project, count in counts.items()
    }
