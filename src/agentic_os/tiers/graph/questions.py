"""Tier 2: questions to the one code graph over all projects.

Every question takes a ``CodeGraph`` and the ids of the projects it is limited to, walks only
edges that are not AMBIGUOUS, and answers with places: project, file, line, and whether that
line still holds. A name that means several nodes is not guessed at: the answer lists them.
"""

from agentic_os.tiers.graph.analytics import analytics
from agentic_os.tiers.graph.context import CodeGraph, GraphFolder, code_graph
from agentic_os.tiers.graph.export import export, export_parts
from agentic_os.tiers.graph.links import links, stats
from agentic_os.tiers.graph.near import find, neighbors
from agentic_os.tiers.graph.paths import impact, path

__all__ = [
    "CodeGraph",
    "GraphFolder",
    "analytics",
    "code_graph",
    "export",
    "export_parts",
    "find",
    "impact",
    "links",
    "neighbors",
    "path",
    "stats",
]
