"""What a memory choice hides in an answer that was not asked for memory.

``off`` hides the memory and vault kinds wherever they appear: a code graph may hold a memory
file as a node, and a health check may be about one. ``project`` hides what belongs to other
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

MEMORY_ROLES = (Role.FACT, Role.BANK, Role.INDEX, Role.NOTE)
HIDDEN_CODE = "MEMORY_CLOSED"
_FILES = """
SELECT project.id, file.path FROM file JOIN project ON project.pk = file.project
WHERE file.role IN (?, ?, ?, ?)
"""

Item = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """What must not be shown: some files, and every project but those that are open."""

    files: frozenset[tuple[str, str]] = frozenset()
    projects: frozenset[str] | None = None

    def hides(self, item: Item) -> bool:
        """Tell whether an item names a hidden file, or a project that is not open."""
        return any(self._place(place) for place in _places(item))

    def _place(self, place: Item) -> bool:
        project, path = place.get("project"), place.get("path")
        if not isinstance(project, str):
            return False
        if self.projects is not None and project not in self.projects:
            return True
        return isinstance(path, str) and (project, path) in self.files

    def keep(self, items: list[Item]) -> tuple[list[Item], int]:
        """Return the items that may be shown, and how many may not."""
        kept = [item for item in items if not self.hides(item)]
        return kept, len(items) - len(kept)


NOTHING_HIDDEN = Hidden()


def hidden_by(memory: Memory, workspace: Workspace, projects: frozenset[str] | None) -> Hidden:
    """Return what a memory choice hides; ``projects`` are those that project memory opens."""
    if memory == "project":
        return Hidden(projects=projects)
    if memory == "shared":
        return NOTHING_HIDDEN
    rows = workspace.store.connection.execute(_FILES, MEMORY_ROLES).fetchall()
    return Hidden(files=frozenset((str(project), str(path)) for project, path in rows))


def hidden_omission(memory: Memory, count: int) -> tuple[Omission, ...]:
    """Say how many items the memory choice left out."""
    if not count:
        return ()
    reason = f"memory `{memory}` closes them"
    return (Omission(code=HIDDEN_CODE, scope="memory", reason=reason, count=count),)


def _places(value: object) -> Iterator[Item]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _places(item)
    elif isinstance(value, list):
        for item in value:
            yield from _places(item)
