"""Walking the graph in the store: neighbours, shortest paths, who depends on what.

Rules of every walk:

- AMBIGUOUS edges are never followed;
- external stubs are never entered, unless the question asks for it: a path through ``json``
  says nothing;
- a walk ends at a bound on the nodes it looks at, and says so: that is not "no path".

Frontiers are fetched in batches, in the order of node numbers, so that equal stores give equal
answers.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from agentic_os.aggregate.graph.tables import AMBIGUOUS_CODE, PROJECT_SHIFT
from agentic_os.tiers.graph.answers import Direction
from agentic_os.tiers.graph.views import QUERY_BATCH_ENTRIES

MAX_EXPLORED_NODES = 200_000

CONTAINMENT = ("contains", "method", "defines")
"""Relations that say where something is written, not what it needs."""
NOT_DEPENDENCE = (
    *CONTAINMENT,
    "rationale_for",
    "semantically_similar_to",
    "same_type_as",
    "same_file_as",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a walk may enter.

    Attributes:
        projects: project numbers it stays in; ``None`` for all.
        relations: relation numbers it follows; ``None`` for all.
        refused: relation numbers it does not follow.
        externals: whether it may pass through external stubs.
    """

    projects: frozenset[int] | None = None
    relations: frozenset[int] | None = None
    refused: frozenset[int] = frozenset()
    externals: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """A path's nodes in order, or why there is none."""

    nodes: tuple[int, ...]
    explored: int
    exhausted: bool


class Walker:
    """Walks one store within one scope."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope) -> None:
        """Walk ``connection`` within ``scope``."""
        self._connection = connection
        self._scope = scope
        terms = ""
        if scope.relations is not None:
            terms = f" AND rel IN ({_numbers(scope.relations)})"
        elif scope.refused:
            terms = f" AND rel NOT IN ({_numbers(scope.refused)})"
        self._terms = terms

    def step(self, nodes: Sequence[int], direction: Direction) -> Iterator[tuple[int, int]]:
        """Yield ``(from, to)`` for every edge that leaves a set of nodes in a direction."""
        if direction in {"out", "both"}:
            yield from self._one_way(nodes, "src", "dst", "graph_out")
        if direction in {"in", "both"}:
            yield from self._one_way(nodes, "dst", "src", "graph_in")

    def _one_way(
        self, nodes: Sequence[int], near: str, far: str, table: str
    ) -> Iterator[tuple[int, int]]:
        inner = "" if self._scope.externals else f" AND {far} > 0"
        for start in range(0, len(nodes), QUERY_BATCH_ENTRIES):
            batch = nodes[start : start + QUERY_BATCH_ENTRIES]
            listed = _numbers(batch)
            query = (
                f"SELECT DISTINCT {near}, {far} FROM {table}"  # noqa: S608 - numbers and fixed names
                f" WHERE {near} IN ({listed}) AND conf < {AMBIGUOUS_CODE}{inner}{self._terms}"
                f" UNION SELECT {near}, {far} FROM graph_cross"
                f" WHERE {near} IN ({listed}) AND conf < {AMBIGUOUS_CODE}{self._terms}"
                " ORDER BY 1, 2"
            )
            for source, target in self._connection.execute(query):
                if self._within(target):
                    yield source, target

    def _within(self, nid: int) -> bool:
        projects = self._scope.projects
        return nid < 0 or projects is None or nid >> PROJECT_SHIFT in projects

    # -- breadth first -------------------------------------------------------------------

    def around(
        self, starts: Sequence[int], direction: Direction, *, depth: int, budget: int
    ) -> tuple[dict[int, int], bool]:
        """Return the nodes within ``depth`` hops with their distance, and whether cut off.

        Args:
            starts: where to begin; they have distance 0.
            direction: along, against, or both.
            depth: hops at most.
            budget: nodes at most beside the starts.
        """
        distance = dict.fromkeys(starts, 0)
        frontier = sorted(distance)
        limit = len(distance) + budget
        for hop in range(1, depth + 1):
            following: dict[int, None] = {}
            for _, target in self.step(frontier, direction):
                if target not in distance and target not in following:
                    if len(distance) + len(following) >= limit:
                        distance.update(dict.fromkeys(following, hop))
                        return distance, True
                    following[target] = None
            distance.update(dict.fromkeys(following, hop))
            frontier = sorted(following)
            if not frontier:
                break
        return distance, False

    def path(
        self,
        source: int,
        target: int,
        *,
        directed: bool,
        budget: int = MAX_EXPLORED_NODES,
        avoided: AbstractSet[frozenset[int]] = frozenset(),
    ) -> Walked:
        """Find a shortest path from both ends at once.

        Args:
            source: where it begins.
            target: where it ends.
            directed: follow edges along their direction only.
            budget: nodes looked at before giving up.
            avoided: pairs of nodes that no hop may join.
        """
        if source == target:
            return Walked(nodes=(source,), explored=1, exhausted=False)
        ahead = _Front("out" if directed else "both", source)
        behind = _Front("in" if directed else "both", target)
        while ahead.frontier and behind.frontier:
            if ahead.size + behind.size > budget:
                return Walked(nodes=(), explored=ahead.size + behind.size, exhausted=True)
            front, other = (
                (ahead, behind) if len(ahead.frontier) <= len(behind.frontier) else (behind, ahead)
            )
            meeting = self._advance(front, other, avoided)
            if meeting is not None:
                first = ahead.trace(meeting)
                nodes = (*reversed(first), *behind.trace(meeting)[1:])
                return Walked(nodes=nodes, explored=ahead.size + behind.size, exhausted=False)
        return Walked(nodes=(), explored=ahead.size + behind.size, exhausted=False)

    def _advance(
        self, front: "_Front", other: "_Front", avoided: AbstractSet[frozenset[int]]
    ) -> int | None:
        """Move one front a whole hop; the meeting node with the shortest path, if any."""
        following: list[int] = []
        best: tuple[int, int] | None = None
        for source, target in self.step(front.frontier, front.direction):
            if target in front.parent or (avoided and frozenset((source, target)) in avoided):
                continue
            front.parent[target] = source
            front.depth[target] = front.depth[source] + 1
            following.append(target)
            if target in other.parent:
                whole = (other.depth[target], target)
                best = whole if best is None or whole < best else best
        front.frontier = sorted(following)
        return None if best is None else best[1]


@dataclass(slots=True)
class _Front:
    """One end of a search from both ends."""

    direction: Direction
    start: int
    parent: dict[int, int] = field(default_factory=dict)
    depth: dict[int, int] = field(default_factory=dict)
    frontier: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin at the start."""
        self.parent[self.start] = self.start
        self.depth[self.start] = 0
        self.frontier = [self.start]

    @property
    def size(self) -> int:
        """How many nodes this front has seen."""
        return len(self.parent)

    def trace(self, node: int) -> list[int]:
        """Return the nodes from ``node`` back to the start."""
        found = [node]
        while node != self.start:
            node = self.parent[node]
            found.append(node)
        return found


def relation_numbers(connection: sqlite3.Connection, names: Iterable[str]) -> frozenset[int]:
    """Return the numbers of relations; a name that no graph has stands for none."""
    found = set()
    for name in names:
        row = connection.execute("SELECT tid FROM graph_term WHERE text=?", (name,)).fetchone()
        if row is not None:
            found.add(int(row[0]))
    return frozenset(found)


def _numbers(values: Iterable[int]) -> str:
    return ",".join(str(int(value)) for value in sorted(values))
