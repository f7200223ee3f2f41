"""The three tables together: what a project of each standing is looked through for."""

from functools import cache

from agentic_os.registry.conventions.capabilities import CAPABILITIES
from agentic_os.registry.conventions.instructions import INSTRUCTIONS, NESTED_NAMES
from agentic_os.registry.conventions.matching import Convention, Matcher, Surface
from agentic_os.registry.conventions.memories import LAYOUT_MEMORIES, OTHER_MEMORIES
from agentic_os.registry.conventions.personal import PERSONAL

VAULT_FOLDER = ".obsidian"
GRAPH_FOLDER = "graphify-out"
GRAPH_FILE = f"{GRAPH_FOLDER}/graph.json"
ALL: tuple[Convention, ...] = (
    *INSTRUCTIONS,
    *LAYOUT_MEMORIES,
    *OTHER_MEMORIES,
    *CAPABILITIES,
)
ALL_TOPS = frozenset(row.pattern.partition("/")[0] for row in ALL) | {VAULT_FOLDER, GRAPH_FOLDER}
"""Names in a project's own folder that a walk keeps."""
PLAIN_TOPS = frozenset({"skills", "CONVENTIONS.md"})
"""Names that say nothing alone of whether agents work in a folder."""
_OF_ALL = Matcher((*ALL, *PERSONAL))


@cache
def matcher(surfaces: frozenset[Surface], *, layouts: bool) -> Matcher:
    """Return the rows of some surfaces.

    Args:
        surfaces: which.
        layouts: also the two folders that a descriptor speaks for.
    """
    rows = (*INSTRUCTIONS, *(LAYOUT_MEMORIES if layouts else ()), *OTHER_MEMORIES, *CAPABILITIES)
    return Matcher(row for row in rows if row.surface in surfaces)


def convention_of(path: str) -> Convention | None:
    """Return the row that a file of a project belongs to, nested instructions included."""
    found = _OF_ALL.of_path(path)
    name = path.rpartition("/")[2]
    if found is None and name in NESTED_NAMES:
        return _OF_ALL.of_path(name)
    return found
