"""What a memory choice closes in an answer that was not asked for memory.

``off`` closes the memory and vault kinds, wherever they show: a code graph may hold a memory
file as a node, and a health check may be about one. ``project`` closes what belongs to other
projects, which a walk over the graph of all of them would reach (design section 6). An item is
left out whole, and counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agentic_os.aggregate.surfaces.documents import Role
from agentic_os.aggregate.workspace import Workspace
from agentic_os.results import Omission
from agentic_os.server.arguments import Memory

MEMORY_ROLES = (Role.FACT, Role.INDEX, Role.NOTE)
CLOSED_CODE = "MEMORY_CLOSED"
_FILES = """
SELECT project.id, file.path FROM file JOIN project ON project.pk = file.project
WHERE file.role IN (?, ?, ?)
"""

Item = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """What must not show: some files, and every project but some."""

    files: frozenset[tuple[str, str]] = frozenset()
    projects: frozenset[str] | None = None

    def item(self, item: Item) -> bool:
        """Whether an item names a closed file, or a project that is not open."""
        return any(self._place(place) for place in _places(item))

    def _place(self, place: Item) -> bool:
        project, path = place.get("project"), place.get("path")
        if not isinstance(project, str):
            return False
        if self.projects is not None and project not in self.projects:
            return True
        return isinstance(path, str) and (project, path) in self.files

    def keep(self, items: list[Item]) -> tuple[list[Item], int]:
        """The items that may show, and how many may not."""
        kept = [item for item in items if not self.item(item)]
        return kept, len(items) - len(kept)


OPEN = Closed()


def closed_by(memory: Memory, workspace: Workspace, projects: frozenset[str] | None) -> Closed:
    """What a memory choice closes; ``projects`` are those that project memory opens."""
    if memory == "project":
        return Closed(projects=projects)
    if memory == "shared":
        return OPEN
    rows = workspace.store.connection.execute(_FILES, MEMORY_ROLES).fetchall()
    return Closed(files=frozenset((str(project), str(path)) for project, path in rows))


def closed_omission(memory: Memory, count: int) -> tuple[Omission, ...]:
    """Say how many items the memory choice left out."""
    if not count:
        return ()
    reason = f"memory `{memory}` closes them"
    return (Omission(code=CLOSED_CODE, scope="memory", reason=reason, count=count),)


def _places(value: object) -> Iterator[Item]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _places(item)
    elif isinstance(value, list):
        for item in value:
            yield from _places(item)
