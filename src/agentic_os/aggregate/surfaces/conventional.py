"""Files that speak to agents, found by the tables of ``registry.conventions``.

Only names that the walk saw in a project's own folder are looked at, and only folders that some
pattern leads into are listed. A link is never followed; one by which an instruction file goes
under another name, inside the project, stands for the file that it names, which is opened by its
own path.
"""

import os
import posixpath
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from agentic_os.aggregate.surfaces.documents import Role
from agentic_os.aggregate.surfaces.memory import is_fact_name
from agentic_os.errors import FilesError
from agentic_os.files.handles import components
from agentic_os.files.reading import EntryKind, Folder
from agentic_os.registry.conventions.instructions import NESTED_NAMES
from agentic_os.registry.conventions.matching import (
    MAX_DEPTH_FOLDERS,
    Convention,
    Matcher,
    State,
    Surface,
)
from agentic_os.registry.conventions.tables import convention_of, matcher
from agentic_os.registry.project import Project
from agentic_os.results import Kind

MAX_LISTED_ENTRIES = 5_000
"""Names of one project that are looked at for conventions, all its folders together."""

ROLE_OF_READS: dict[str, Role] = {
    "instructions": Role.INSTRUCTION,
    "index": Role.INDEX,
    "fact": Role.FACT,
    "agent-fact": Role.FACT,
    "serena": Role.FACT,
    "bank": Role.BANK,
}
"""The role of each way of reading; the others are tooling."""
_ROLE_OF_KIND: dict[Kind, Role] = {
    "memory": Role.FACT,
    "index": Role.INDEX,
    "vault": Role.NOTE,
    "capability": Role.CAPABILITIES,
    "instruction": Role.INSTRUCTION,
    "code": Role.SOURCE,
    "document": Role.DOCUMENT,
}


class Spotted(NamedTuple):
    """A file that some row names, and what it is: a link is still to be looked at."""

    path: str
    row: Convention
    kind: EntryKind


class Lister(Protocol):
    """Lists the folder at a path, and keeps what it saw."""

    def __call__(
        self, folder: Folder, here: str, *, tools: bool
    ) -> Sequence[tuple[str, EntryKind]]:
        """Return names and kinds; ``tools`` where nothing but capabilities may lie in it."""


def role_of(row: Convention) -> Role:
    """Return the role of the files of a row."""
    return ROLE_OF_READS.get(row.reads, Role.TOOLING)


def role_at(kind: Kind, path: str) -> Role | None:
    """Return the role in which a passage of a kind was read from a path; none for the graph."""
    role = _ROLE_OF_KIND.get(kind)
    if role in {Role.FACT, Role.CAPABILITIES}:
        row = convention_of(path)
        if row is not None and (row.surface == "capabilities") == (role is Role.CAPABILITIES):
            return role_of(row)
    return role


def surfaces_of(project: Project) -> frozenset[Surface]:
    """Return the surfaces that may be taken of a project: an opt-out leaves its capabilities."""
    wanted: set[Surface] = {"capabilities"} if project.wants("capabilities") else set()
    if project.retrieval:
        wanted |= {name for name in _RETRIEVED if project.wants(name)}
    return frozenset(wanted)


_RETRIEVED: tuple[Surface, ...] = ("instructions", "memory")


def spotted(project: Project, folder: Folder, listed: Lister) -> Iterator[Spotted]:
    """Yield the files that the conventions name, in an order that depends on names alone.

    Raises:
        FilesError: a folder cannot be listed, or holds more than is looked at.
    """
    surfaces = surfaces_of(project)
    rows = matcher(surfaces, layouts=not project.described)
    for top in project.holds.tops:
        row = rows.matched(rows.start, top)
        below = rows.below(rows.start, top)
        if row is not None and (not below or not _is_folder(folder, top)):
            yield Spotted(top, row, "file")
        elif below:
            yield from _below(rows, folder, top, below, listed)
    if "instructions" in surfaces:
        for path in project.holds.nested:
            row = convention_of(path)
            if row is not None:
                yield Spotted(path, row, "file")


def _is_folder(folder: Folder, top: str) -> bool:
    try:
        folder.descend(top).close()
    except FilesError:
        return False
    return True


def _below(
    rows: Matcher, folder: Folder, top: str, state: State, listed: Lister
) -> Iterator[Spotted]:
    pending = [(top, state)]
    while pending:
        here, state = pending.pop()
        deeper: list[tuple[str, State]] = []
        tools = rows.surfaces(state) == {"capabilities"}
        for name, kind in listed(folder, here, tools=tools):
            path = f"{here}/{name}"
            row = rows.matched(state, name)
            if kind == "folder":
                inner = rows.below(state, name)
                if inner and path.count("/") < MAX_DEPTH_FOLDERS:
                    deeper.append((path, inner))
            elif row is not None and _counts(row, name):
                yield Spotted(path, row, kind)
        pending.extend(reversed(deeper))


def _counts(row: Convention, name: str) -> bool:
    """Whether a name that matches is one of the row's: a memory's own manual is no fact."""
    return row.reads not in {"fact", "agent-fact"} or is_fact_name(name)


def linked_instruction(folder: Folder, path: str) -> str | None:
    """Return the file that a linked instruction stands for, by the link's own words.

    That is another name of an instruction in the same project, and no link itself; everything else
    is refused where it is read.
    """
    above, _, name = path.rpartition("/")
    if name not in NESTED_NAMES and convention_of(path) is None:
        return None
    try:
        with folder.descend(above) as opened:
            target = os.readlink(name, dir_fd=opened.fd)
    except (FilesError, OSError, ValueError):
        return None
    if target.startswith("/"):
        return None
    named = posixpath.normpath(posixpath.join(above, target))
    try:
        inside = components(named)
    except (FilesError, OSError, ValueError):
        return None
    row = convention_of(named) if inside and not named.startswith("..") else None
    return named if row is not None and row.surface == "instructions" and named != path else None
