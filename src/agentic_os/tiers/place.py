"""The lines around a place that an answer named: read now, redacted now, bounded.

Only files that answers may cite are opened: what the store took in, and of what a code graph names
sources and Markdown alone, so that a graph that was made to name a file of keys opens nothing.
"""

from dataclasses import dataclass
from typing import Final

from agentic_os.aggregate.surfaces.documents import Role
from agentic_os.aggregate.surfaces.sweep import LIMIT_BYTES
from agentic_os.aggregate.workspace import Workspace
from agentic_os.code.reading import language_of
from agentic_os.errors import RegistryError
from agentic_os.files.reading import Folder
from agentic_os.registry.descriptor.containment import Escape, contained
from agentic_os.registry.project import Project, located
from agentic_os.text.decoding import decode
from agentic_os.text.fencing import visible

DEFAULT_LINES: Final = 80
MAX_LINES: Final = 2_000
MAX_LINE_CHARS: Final = 2_000
"""A longer line is cut, and says so with an ellipsis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceData:
    """Lines ``first`` and following of a file as it is now; ``total`` is how many it has.

    ``sha256`` is of the whole file's bytes. ``redactions`` counts the secrets of the whole file
    that were replaced before its lines were counted.
    """

    project: str
    path: str
    first: int
    lines: tuple[str, ...]
    total: int
    redactions: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedText:
    """A whole file as it is now: its text without secrets, and the hash of its bytes."""

    text: str
    redactions: int
    sha256: str


def read_place(
    workspace: Workspace, project: str, path: str, *, line: int = 1, lines: int = DEFAULT_LINES
) -> PlaceData:
    """Read the lines around a line of a project's file.

    Args:
        workspace: the fleet.
        project: a project's id.
        path: relative to the project, POSIX.
        line: which line is wanted, from 1; beyond the end means the last.
        lines: how many are wanted around it, at most 2,000.

    Raises:
        RegistryError: ``PLACE_UNKNOWN``: no answer may cite such a file.
        FilesError: it cannot be read any more.
    """
    found = read_text(workspace, project, path)
    every = found.text.split("\n")
    if every and not every[-1]:
        every.pop()
    wanted = min(lines, MAX_LINES)
    first = min(max(line - wanted // 2, 1), max(len(every) - wanted + 1, 1))
    return PlaceData(
        project=project,
        path=path,
        first=first,
        lines=tuple(map(_bounded, every[first - 1 : first - 1 + wanted])),
        total=len(every),
        redactions=found.redactions,
        sha256=found.sha256,
    )


def read_text(workspace: Workspace, project: str, path: str) -> CitedText:
    """Read a file that answers may cite, whole.

    Raises:
        As ``read_place``.
    """
    own = next((one for one in workspace.fleet.projects if one.id == project), None)
    role = None if own is None else _role(workspace, project, path)
    if own is None or role is None:
        raise RegistryError(
            "no answer names such a file",
            code="PLACE_UNKNOWN",
            hint="A place is a project's id, a path in it, and a line, as search gives it.",
        )
    return read_redacted(workspace, own, path, limit_bytes=LIMIT_BYTES[role])


def read_redacted(
    workspace: Workspace, project: Project, path: str, *, limit_bytes: int
) -> CitedText:
    """Read a file of a project now: bounded, contained, redacted, hidden characters spelt out.

    Raises:
        FilesError: it cannot be read.
    """
    where, below = located(project.folder, project.personal, path)
    with Folder.open(where) as folder:
        read = folder.read(below, limit_bytes=limit_bytes)
    # Redacted before it is made visible: rules look for the characters that were written.
    redacted = workspace.redactor.redact(decode(read.data).text)
    return CitedText(
        text=visible(redacted.text), redactions=len(redacted.findings), sha256=read.sha256
    )


def _role(workspace: Workspace, project: str, path: str) -> Role | None:
    """Return what a file is to the answers that may cite it; None if none may."""
    if isinstance(contained(path), Escape):
        return None
    connection = workspace.store.connection
    row = connection.execute(_CITABLE, (project, path)).fetchone()
    if row is not None:
        role = Role(row[0])
        # Of the harnesses' own files only those that are prose: settings may hold keys.
        return None if role is Role.TOOLING and not path.endswith(".md") else role
    if not path.endswith(".md") and language_of(path) is None:
        return None
    named = connection.execute(_NAMED_BY_GRAPH, (project, path)).fetchone()
    return None if named is None else Role.SOURCE


def _bounded(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}…"


_CITABLE = """
SELECT file.role FROM file JOIN project ON project.pk = file.project
WHERE project.id = ? AND file.path = ?
"""
_NAMED_BY_GRAPH = """
SELECT 1 FROM graph_file JOIN graph_repo USING (rid)
WHERE graph_repo.project = ? AND graph_file.path = ? AND graph_file.size >= 0
"""
