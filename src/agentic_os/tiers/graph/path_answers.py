"""The answers about paths, and about who depends on a node."""

from dataclasses import dataclass
from typing import Literal

from agentic_os.tiers.graph.node_answers import GraphEdgeView, GraphNodeView, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class PathData:
    """Answer of ``graph path``.

    ``outcome`` tells ``no-path`` (everything reachable was seen) apart from
    ``budget-exhausted``. ``candidates`` are those of the end in ``unsettled`` when a name
    means several nodes or none.
    """

    outcome: Outcome
    directed: bool
    hops: int
    explored: int
    nodes: tuple[GraphNodeView, ...]
    edges: tuple[GraphEdgeView, ...]
    unsettled: Literal["source", "target"] | None = None
    candidates: tuple[GraphNodeView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactProject:
    """How much of one project depends on what was asked for, and how near."""

    project: str
    nodes: int
    nearest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactData:
    """Answer of ``graph impact``: who depends on it, by distance, over all projects."""

    outcome: Outcome
    start: GraphNodeView | None
    candidates: tuple[GraphNodeView, ...]
    nodes: tuple[GraphNodeView, ...]
    edges: tuple[GraphEdgeView, ...]
    projects: tuple[ImpactProject, ...]
    total: int
    truncated: bool
