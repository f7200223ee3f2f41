"""The answers of the graph: frozen, JSON-ready, every place with project, file and line.

Structs, not dataclasses: all of them are made in the time that a third of them took as those.
"""

from typing import Literal

import msgspec

from agentic_os.code.roles import PathRole
from agentic_os.results import Diagnostic

Direction = Literal["out", "in", "both"]
Outcome = Literal["found", "no-path", "budget-exhausted", "ambiguous", "unknown"]
FindHow = Literal["exact", "prefix", "substring", "path", "id"]


class GraphPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A file and line of a project.

    ``holds`` says whether the file's bytes are still those that the graph was built from;
    ``None`` where nothing is known to compare with, or the file was not looked at.
    """

    project: str
    path: str
    line: int | None
    holds: bool | None


class GraphNodeView(msgspec.Struct, frozen=True, kw_only=True):
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


class GraphEdgeView(msgspec.Struct, frozen=True, kw_only=True):
    """One edge in its true direction.

    ``rule`` is empty inside a project and the name of the rule (R1 to R3d) between projects;
    ``evidence`` is where it is seen, for an edge between projects on both sides; ``role`` says
    what the file is for that it is seen in.
    """

    source: str
    target: str
    relation: str
    confidence: str
    score: float
    rule: str
    evidence: tuple[GraphPlace, ...]
    role: PathRole = "product"
    context: str = ""
    detail: str = ""


class FindData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``graph find``: how the nodes were found, best first.

    ``near`` holds nodes with nearly that name, where nothing was found.
    """

    query: str
    how: FindHow | None
    total: int
    nodes: tuple[GraphNodeView, ...]
    near: tuple[GraphNodeView, ...] = ()


class NeighborsData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``graph neighbors``; ``truncated`` when the budget cut it off."""

    outcome: Outcome
    start: GraphNodeView | None
    candidates: tuple[GraphNodeView, ...]
    nodes: tuple[GraphNodeView, ...]
    edges: tuple[GraphEdgeView, ...]
    truncated: bool
    ambiguous_left_out: int


class PathData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``graph path``.

    ``outcome`` tells ``no-path`` (everything reachable was seen) apart from
    ``budget-exhausted``. ``candidates`` are those of the end in ``unsettled`` when a name
    means several nodes or none. ``refuted`` counts the hops that were passed over because the
    file that showed the edge is gone, or changed and no longer names where it led.
    """

    outcome: Outcome
    directed: bool
    hops: int
    explored: int
    nodes: tuple[GraphNodeView, ...]
    edges: tuple[GraphEdgeView, ...]
    unsettled: Literal["source", "target"] | None = None
    candidates: tuple[GraphNodeView, ...] = ()
    refuted: int = 0


class ImpactProject(msgspec.Struct, frozen=True, kw_only=True):
    """How much of one project depends on what was asked for, and how near."""

    project: str
    nodes: int
    nearest: int


class ImpactData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``graph impact``: who depends on it, over all projects.

    Other projects come first, since breaking them is what one does not see; then product code
    before tests, documents and vendored code (``roles`` counts them), then the nearest.
    """

    outcome: Outcome
    start: GraphNodeView | None
    candidates: tuple[GraphNodeView, ...]
    nodes: tuple[GraphNodeView, ...]
    edges: tuple[GraphEdgeView, ...]
    projects: tuple[ImpactProject, ...]
    roles: dict[PathRole, int]
    total: int
    truncated: bool


GraphStatus = Literal["current", "stale", "missing", "refused", "own"]
ExportFormat = Literal["graphml", "node-link"]


class NearMissView(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was nearly linked between projects, and why it was not."""

    rule: str
    code: str
    subject: str
    reason: str
    place: GraphPlace
    candidates: tuple[str, ...]


class LinkCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many edges one rule made between two projects, by confidence."""

    source: str
    target: str
    rule: str
    relation: str
    confidence: str
    count: int


class UnlinkedProject(msgspec.Struct, frozen=True, kw_only=True):
    """A project without an edge to another one, and why."""

    project: str
    reason: str


class LinksData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``graph links``: edges between projects, and what was nearly one.

    ``unlinked`` are the projects in scope that no edge reaches, with the reason.
    """

    counts: tuple[LinkCount, ...]
    roles: dict[PathRole, int]
    total: int
    nodes: tuple[GraphNodeView, ...]
    edges: tuple[GraphEdgeView, ...]
    near_total: int
    near: tuple[NearMissView, ...]
    unlinked: tuple[UnlinkedProject, ...] = ()


class GraphProjectStats(msgspec.Struct, frozen=True, kw_only=True):
    """What the store holds of one project's graph.

    ``behind`` says whether the graph was built at another commit than the checkout's;
    ``None`` where either is unknown. ``refused`` counts by code what the file had that
    could not be taken. ``origin`` says who made it: we, or the project's own tool; ``None`` where
    there is none.
    """

    project: str
    path: str
    status: GraphStatus
    origin: Literal["own", "graphify"] | None
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


class GraphBuilt(msgspec.Struct, frozen=True, kw_only=True):
    """A graph of our own: what it was made from and what it holds."""

    project: str
    sources: int
    nodes: int
    edges: int


class GraphBuildData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``graph build``."""

    projects: tuple[GraphBuilt, ...]


class CentralNode(msgspec.Struct, frozen=True, kw_only=True):
    """One of the nodes that most others reach."""

    node: GraphNodeView
    in_degree: int
    centrality: float
    core: int


class Community(msgspec.Struct, frozen=True, kw_only=True):
    """One group of closely connected nodes over all projects."""

    size: int
    projects: dict[str, int]
    labels: tuple[str, ...]


class AnalyticsData(msgspec.Struct, frozen=True, kw_only=True):
    """Centrality and communities, by networkx."""

    components: int
    central: tuple[CentralNode, ...]
    communities: tuple[Community, ...]


class StatsData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``graph stats``."""

    projects: tuple[GraphProjectStats, ...]
    nodes: int
    edges: int
    cross_edges: int
    links: tuple[LinkCount, ...]
    near_misses: dict[str, int]
    relations: dict[str, int]
    analytics: AnalyticsData | None = None


class ExportData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``graph export --json``: the document as text."""

    format: ExportFormat
    nodes: int
    edges: int
    document: str


GRAPH_DOCUMENTS: dict[str, type] = {
    "graph-build": GraphBuildData,
    "graph-stats": StatsData,
    "graph-find": FindData,
    "graph-neighbors": NeighborsData,
    "graph-path": PathData,
    "graph-impact": ImpactData,
    "graph-links": LinksData,
    "graph-export": ExportData,
}
"""What ``data`` is in the document of each graph command, as ``results.DOCUMENTS``."""
