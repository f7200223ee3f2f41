"""The projects that contribute a code graph."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from agentic_os.registry.descriptor.memory_block import CONVENTIONAL_GRAPH_PATH, GRAPH_TIER
from agentic_os.registry.fleet import Fleet


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphProject:
    """What the graph needs to know of a project; ``graph_path`` is relative to ``folder``."""

    id: str
    name: str
    folder: Path
    graph_path: str
    remote: str | None = None


def graph_projects(fleet: Fleet, own: Collection[str] = ()) -> list[GraphProject]:
    """Return the projects of a fleet that have a graph: by their stack, or made by us.

    Args:
        fleet: all projects.
        own: ids of the projects whose graph is made by us whatever their stack.
    """
    found = []
    for project in fleet.projects:
        graph = project.surfaces.graph
        declared = graph is not None and graph.path and (project.tier or 0) >= GRAPH_TIER
        if project.retrieval and (declared or project.id in own):
            path = graph.path if graph is not None and declared else CONVENTIONAL_GRAPH_PATH
            found.append(
                GraphProject(
                    id=project.id,
                    name=project.name,
                    folder=project.folder,
                    graph_path=path,
                    remote=project.remote,
                )
            )
    return found
