"""Whether the surfaces that a descriptor declares are there, without opening a file.

No link is followed (``files.reading``). Where a project has opted out, or nothing is
recorded, no surface exists; that a MEMORY.md was left behind is said, and it is not read
(producer contract, section 3).
"""

from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder
from agentic_os.registry.codes import SURFACE_UNREADABLE, diagnostic
from agentic_os.registry.descriptor.memory_block import (
    GRAPH_TIER,
    RAG_TIER,
    VAULT_TIER,
    DeclaredPath,
)
from agentic_os.registry.descriptor.values import Descriptor
from agentic_os.results import Diagnostic, Surface, Surfaces

MEMORY_INDEX = "MEMORY.md"
_INDEX_LIMIT_ENTRIES = 10_000
_REFUSED = frozenset({"LINK_REFUSED", "NOT_REGULAR", "NOT_A_FOLDER", "OUTSIDE_ROOT"})


def survey(folder: Folder, descriptor: Descriptor) -> tuple[Surfaces, tuple[Diagnostic, ...]]:
    """Look at the surfaces of a project.

    A graph that is missing is the normal state of a fresh clone and is not reported. An
    endpoint is ``present`` when the descriptor names one: nobody asks it here.

    Args:
        folder: the project's open folder.
        descriptor: what it declares.
    """
    look = _Look(folder)
    if not descriptor.retrieval or descriptor.tier is None:
        if not descriptor.degraded:
            look.left_behind(f"{descriptor.layout}/memory/{MEMORY_INDEX}")
        return Surfaces(), tuple(look.problems)
    tier = descriptor.tier
    surfaces = Surfaces(
        memory=look.memory(descriptor.memory),
        vault=look.vault(descriptor.vault) if tier >= VAULT_TIER else None,
        graph=look.graph(descriptor.graph) if tier >= GRAPH_TIER else None,
        rag=_rag(descriptor.rag_endpoint) if tier >= RAG_TIER else None,
    )
    return surfaces, tuple(look.problems)


def _rag(endpoint: str | None) -> Surface:
    if endpoint is None:
        return Surface(path="", state="unset")
    return Surface(path=endpoint, state="present")


class _Look:
    """Looks at one project's surfaces and keeps what is wrong with them."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self.problems: list[Diagnostic] = []

    def memory(self, declared: DeclaredPath | None) -> Surface | None:
        """Look for the memory folder and its index."""
        if declared is None or declared.path is None:
            return _without_path(declared)
        path = declared.path
        index = f"{path}/{MEMORY_INDEX}"
        fault = self._stat(index)
        if fault is None:
            return Surface(path=path, state="present")
        folder_fault = self._descend(path)
        if folder_fault is not None:
            return self._absent(path, folder_fault, "MEMORY_MISSING", "memory folder")
        if fault.code == "FILE_MISSING":
            if self._has_index(path):
                return Surface(path=path, state="present")
            message = f"{path} has no {MEMORY_INDEX}"
            self.problems.append(diagnostic("MEMORY_INDEX_MISSING", message, path=path))
        else:
            self._refuse(index, fault)
        return Surface(path=path, state="present")

    def _has_index(self, path: str) -> bool:
        """Whether the index is there under a name in other capitals."""
        try:
            with self._folder.descend(path) as memory:
                entries, _ = memory.entries(limit_entries=_INDEX_LIMIT_ENTRIES)
        except FilesError:
            return False
        return any(entry.name.lower() == MEMORY_INDEX.lower() for entry in entries)

    def vault(self, declared: DeclaredPath | None) -> Surface | None:
        """Look for the vault folder."""
        if declared is None or declared.path is None:
            return _without_path(declared)
        fault = self._descend(declared.path)
        if fault is None:
            return Surface(path=declared.path, state="present")
        return self._absent(declared.path, fault, "VAULT_MISSING", "vault folder")

    def graph(self, declared: DeclaredPath | None) -> Surface | None:
        """Look for the graph file."""
        if declared is None or declared.path is None:
            return _without_path(declared)
        fault = self._stat(declared.path)
        if fault is None:
            return Surface(path=declared.path, state="present")
        if fault.code == "FILE_MISSING":
            if declared.conventional:
                return None
            return Surface(path=declared.path, state="missing")
        self._refuse(declared.path, fault)
        return Surface(path=declared.path, state="refused")

    def left_behind(self, index: str) -> None:
        """Say when a memory lies where none is recorded."""
        if self._stat(index) is None:
            message = f"{index} exists, but the project records no memory; it is not read"
            self.problems.append(diagnostic("MEMORY_LEFT_BEHIND", message, path=index))

    def _absent(self, path: str, fault: FilesError, code: str, what: str) -> Surface:
        if fault.code == "FILE_MISSING":
            message = f"the {what} {path} does not exist"
            self.problems.append(diagnostic(code, message, path=path))
            return Surface(path=path, state="missing")
        self._refuse(path, fault)
        return Surface(path=path, state="refused")

    def _refuse(self, path: str, fault: FilesError) -> None:
        code = "SURFACE_REFUSED" if fault.code in _REFUSED else SURFACE_UNREADABLE
        self.problems.append(diagnostic(code, fault.message, path=path))

    def _stat(self, path: str) -> FilesError | None:
        try:
            self._folder.stat(path)
        except FilesError as fault:
            return fault
        return None

    def _descend(self, path: str) -> FilesError | None:
        try:
            self._folder.descend(path).close()
        except FilesError as fault:
            return fault
        return None


def _without_path(declared: DeclaredPath | None) -> Surface:
    """Return the surface whose path was refused by its text, or is not declared."""
    if declared is None:
        return Surface(path="", state="unset")
    return Surface(path=declared.shown, state="refused")
