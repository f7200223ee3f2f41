"""What every answer of the graph is made of, and those of finding and of neighbours.

Frozen, JSON-ready, every place with project, file and line. Answers of other questions have
modules of their own, so that a question loads its own only.
"""

from dataclasses import dataclass
from typing import Literal

Direction = Literal["out", "in", "both"]
Outcome = Literal["found", "no-path", "budget-exhausted", "ambiguous", "unknown"]
FindHow = Literal["exact", "prefix", "substring", "path", "id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPlace:
    """A file and line of a project.

    ``holds`` says whether the file's bytes are still those that the graph was built from;
    ``None`` where nothing is known to compare with, or the file was not looked at.
    """

    project: str
    path: str
    line: int | None
    holds: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNodeView:
    """One node. ``id`` is ``project::local`` (``external::name`` for an external stub).

    ``distance`` counts the hops from what was asked for. ``synthetic`` marks a file or
    package that has no node in the project's own graph.
    """

    id: str
    label: str
    kind: str
    project: str | None
    place: GraphPlace | None
    external: bool = False
    synthetic: bool = False
    community: int | None = None
    distance: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdgeView:
    """One edge in its true direction.

    ``rule`` is empty inside a project and the name of the rule (R1 to R3d) between projects;
    ``evidence`` is where it is seen, for an edge between projects on both sides.
    """

    source: str
    target: str
    relation: str
    confidence: str
    score: float
    rule: str
    evidence: tuple[GraphPlace, ...]
    context: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindData:
    """Answer of ``graph find``: how the nodes were found, best first.

    ``near`` holds nodes with nearly that name, where nothing was found.
    """

    query: str
    how: FindHow | None
    total: int
    nodes: tuple[GraphNodeView, ...]
    near: tuple[GraphNodeView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighborsData:
    """Answer of ``graph neighbors``; ``truncated`` when the budget cut it off."""

    outcome: Outcome
    start: GraphNodeView | None
    candidates: tuple[GraphNodeView, ...]
    nodes: tuple[GraphNodeView, ...]
    edges: tuple[GraphEdgeView, ...]
    truncated: bool
    ambiguous_left_out: int
