"""A project's code graph as one typed value, whatever variant its file has."""

import msgspec

EXTRACTED = "EXTRACTED"
INFERRED = "INFERRED"
AMBIGUOUS = "AMBIGUOUS"
CONFIDENCES = (EXTRACTED, INFERRED, AMBIGUOUS)
DEFAULT_SCORES = {EXTRACTED: 1.0, INFERRED: 0.55, AMBIGUOUS: 0.2}
"""Graphify's own defaults where a file carries no ``confidence_score``."""


class GraphNode(msgspec.Struct, frozen=True, gc=False):
    """One node: ``key`` is its id inside the project, ``path`` relative or empty.

    ``external`` marks a stub: something the project's own files do not define.
    ``kind`` is Graphify's ``file_type``; ``package`` the ecosystem of a package node.
    """

    key: str
    label: str
    kind: str
    path: str
    line: int
    community: int
    external: bool
    package: str


class GraphEdge(msgspec.Struct, frozen=True, gc=False):
    """One edge between two nodes of the file, by position in ``Graph.nodes``."""

    source: int
    target: int
    relation: str
    context: str
    confidence: str
    score: float
    path: str
    line: int


class GraphHyperedge(msgspec.Struct, frozen=True, gc=False):
    """One edge among several nodes."""

    key: str
    label: str
    relation: str
    confidence: str
    score: float
    path: str
    line: int
    members: tuple[int, ...]


class Graph(msgspec.Struct, frozen=True):
    """One project's graph.

    ``counts`` says how many items of each kind were refused or repaired, by code:
    ``GRAPH_NODE_INVALID``, ``GRAPH_NODE_ID``, ``GRAPH_NODE_DUPLICATE``,
    ``GRAPH_PATH_REFUSED``, ``GRAPH_EDGE_INVALID``, ``GRAPH_EDGE_DANGLING``,
    ``GRAPH_HYPEREDGE_INVALID``, ``GRAPH_MEMBER_UNKNOWN``, ``GRAPH_EDGES_MISSING``.
    """

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    hyperedges: list[GraphHyperedge]
    counts: dict[str, int]
    graphify_version: str = ""
    schema_version: int = 0
    built_at_commit: str = ""
