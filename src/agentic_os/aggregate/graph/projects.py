"""The projects that contribute a code graph."""

from dataclasses import dataclass
from pathlib import Path

from agentic_os.registry.descriptor.memory_block import GRAPH_TIER
from agentic_os.registry.fleet import Fleet


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphProject:
    """What the graph needs to know of a project; ``graph_path`` is relative to ``folder``."""

    id: str
    name: str
    folder: Path
    graph_path: str
    remote: str | None = None


def graph_projects(fleet: Fleet) -> list[GraphProject]:
    """Return the projects of a fleet whose stack has a graph (tier 2 and above)."""
    return [
        GraphProject(
            id=project.id,
            name=project.name,
            folder=project.folder,
            graph_path=project.surfaces.graph.path,
            remote=project.remote,
        )
        for project in fleet.projects
        if project.retrieval
        and (project.tier or 0) >= GRAPH_TIER
        and project.surfaces.graph is not None
        and project.surfaces.graph.path
    ]
