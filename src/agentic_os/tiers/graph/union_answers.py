"""The answers about the union as a whole: links between projects, statistics, export."""

from dataclasses import dataclass
from typing import Literal

from agentic_os.results import Diagnostic
from agentic_os.tiers.graph.node_answers import (
    FindData,
    GraphEdgeView,
    GraphNodeView,
    GraphPlace,
    NeighborsData,
)
from agentic_os.tiers.graph.path_answers import ImpactData, PathData

GraphStatus = Literal["current", "stale", "missing", "refused"]
ExportFormat = Literal["graphml", "node-link"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMissView:
    """Something that was nearly linked between projects, and why it was not."""

    rule: str
    code: str
    subject: str
    reason: str
    place: GraphPlace
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCount:
    """How many edges one rule made between two projects, by confidence."""

    source: str
    target: str
    rule: str
    relation: str
    confidence: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LinksData:
    """Answer of ``graph links``: edges between projects, and what was nearly one."""

    counts: tuple[LinkCount, ...]
    total: int
    nodes: tuple[GraphNodeView, ...]
    edges: tuple[GraphEdgeView, ...]
    near_total: int
    near: tuple[NearMissView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphProjectStats:
    """What the store holds of one project's graph.

    ``behind`` says whether the graph was built at another commit than the checkout's;
    ``None`` where either is unknown. ``refused`` counts by code what the file had that
    could not be taken.
    """

    project: str
    path: str
    status: GraphStatus
    nodes: int
    edges: int
    files: int
    external: int
    synthetic: int
    hyperedges: int
    graphify_version: str
    built_at_commit: str
    behind: bool | None
    refused: dict[str, int]
    diagnostic: Diagnostic | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralNode:
    """One of the nodes that most others reach."""

    node: GraphNodeView
    in_degree: int
    centrality: float
    core: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """One group of closely connected nodes over all projects."""

    size: int
    projects: dict[str, int]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyticsData:
    """Centrality and communities, by networkx."""

    components: int
    central: tuple[CentralNode, ...]
    communities: tuple[Community, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsData:
    """Answer of ``graph stats``."""

    projects: tuple[GraphProjectStats, ...]
    nodes: int
    edges: int
    cross_edges: int
    links: tuple[LinkCount, ...]
    near_misses: dict[str, int]
    relations: dict[str, int]
    analytics: AnalyticsData | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportData:
    """Answer of ``graph export --json``: the document as text."""

    format: ExportFormat
    nodes: int
    edges: int
    document: str


GRAPH_DOCUMENTS: dict[str, type] = {
    "graph-stats": StatsData,
    "graph-find": FindData,
    "graph-neighbors": NeighborsData,
    "graph-path": PathData,
    "graph-impact": ImpactData,
    "graph-links": LinksData,
    "graph-export": ExportData,
}
"""What ``data`` is in the document of each graph command, as ``results.DOCUMENTS``."""
