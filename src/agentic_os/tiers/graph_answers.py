"""The answers of the graph: frozen, JSON-ready, every place with project, file and line."""

from dataclasses import dataclass
from typing import Literal

from agentic_os.results import Diagnostic

GraphStatus = Literal["current", "stale", "missing", "refused"]
Direction = Literal["out", "in", "both"]
Outcome = Literal["found", "no-path", "budget-exhausted", "ambiguous", "unknown"]
FindHow = Literal["exact", "prefix", "substring", "path", "id"]
ExportFormat = Literal["graphml", "node-link"]


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

    ``rule`` is empty inside a project and the name of the rule (R1 to R7) between projects;
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
    """Answer of ``graph find``: how the nodes were found, best first."""

    query: str
    how: FindHow | None
    total: int
    nodes: tuple[GraphNodeView, ...]


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
