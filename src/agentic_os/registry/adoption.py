"""Folders without a descriptor: which of them are projects, and what lies in them.

Design decision 19. The rules are pure but for the survey, which looks at names alone:

- a checkout is a project of its own, unless it is a submodule, or a copy kept among third-party
  sources of another checkout;
- outside git it is the topmost folder that holds agents' files, and below one of these each that
  has a memory or a harness's folder of its own;
- below a folder with a descriptor nothing but checkouts is a project: what a descriptor says,
  an opt-out above all, holds for the folders below it;
- everything else that agents read belongs to the innermost project around it.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder
from agentic_os.registry.conventions.instructions import NESTED_NAMES
from agentic_os.registry.conventions.matching import ANY_DEPTH, Convention
from agentic_os.registry.conventions.tables import (
    ALL,
    GRAPH_FILE,
    GRAPH_FOLDER,
    PLAIN_TOPS,
    VAULT_FOLDER,
)
from agentic_os.registry.descriptor.fields import clean_name
from agentic_os.registry.descriptor.memory_block import GRAPH_TIER, VAULT_TIER
from agentic_os.registry.descriptor.values import LAYOUTS, Descriptor
from agentic_os.registry.project import Holds
from agentic_os.registry.walk.walking import Holding
from agentic_os.results import Surface, Surfaces

THIRD_PARTY_FOLDERS = frozenset(
    {"third_party", "third-party", "thirdparty", "3rdparty", "external"}
)
"""Folders of a checkout that hold copies of other people's work, their instructions too."""
_SHARED_FOLDERS = (".github/", ".vscode/")
_SHARED_TOPS = PLAIN_TOPS | {".github", ".vscode", VAULT_FOLDER, GRAPH_FOLDER}
"""Names that repositories have without any agent."""


@dataclass(slots=True)
class Standing:
    """A folder that is a project, and the instructions that lie below it."""

    holding: Holding
    described: bool
    nested: list[str] = field(default_factory=list)


def standings(
    holdings: Iterable[Holding],
    described: Collection[str],
    is_submodule: Callable[[Holding], bool],
) -> Iterator[Standing]:
    """Sort what one walk found into projects, each with what is nested in it.

    Args:
        holdings: parents before what lies below them.
        described: folders with a descriptor, an unreadable one too.
        is_submodule: whether a checkout is a part of another one's repository.
    """
    around: list[Standing] = []
    for holding in holdings:
        while around and not holding.folder.startswith(f"{around[-1].holding.folder}/"):
            yield around.pop()
        owner = around[-1] if around else None
        if holding.folder in described:
            around.append(Standing(holding, described=True))
        elif _stands_alone(holding, owner, is_submodule):
            around.append(Standing(holding, described=False))
        elif owner is not None:
            owner.nested.extend(_nested(holding, owner.holding))
    while around:
        yield around.pop()


def _stands_alone(
    holding: Holding, owner: Standing | None, is_submodule: Callable[[Holding], bool]
) -> bool:
    if holding.git is not None:
        if len(holding.checkouts) <= 1:
            return True
        names = holding.folder[len(holding.checkouts[1]) :].split("/")
        return THIRD_PARTY_FOLDERS.isdisjoint(names) and not is_submodule(holding)
    if owner is None:  # the checkout around a root, if any, is not looked through
        return holds_agents_files(holding)
    if holding.checkouts or owner.described:
        return False
    return not holding.held.keys() - _SHARED_TOPS <= NESTED_NAMES


def holds_agents_files(holding: Holding) -> bool:
    """Whether a folder holds what only agents and their users put there."""
    return bool(holding.held.keys() - _SHARED_TOPS) or VAULT_FOLDER in holding.held


def holds_shared_files(holding: Holding, exists: Callable[[str], bool] = os.path.lexists) -> bool:
    """Whether a folder that others use as well (``.github``) holds something for agents."""
    return any(
        place.partition("/")[0] in holding.held and exists(f"{holding.folder}/{place}")
        for place in _SHARED_PLACES
    )


_SHARED_PLACES = tuple(
    dict.fromkeys(
        row.pattern.partition("*")[0].rstrip("/")
        for row in ALL
        if row.pattern.startswith(_SHARED_FOLDERS)
    )
)


def _nested(holding: Holding, owner: Holding) -> Iterator[str]:
    """Paths of what governs a folder below a project, and of a vault there."""
    below = holding.folder[len(owner.folder) + 1 :]
    if not THIRD_PARTY_FOLDERS.isdisjoint(below.split("/")):
        return
    for name, kind in holding.held.items():
        if (name in NESTED_NAMES and kind in {"file", "link"}) or (
            name == VAULT_FOLDER and kind == "folder"
        ):
            yield f"{below}/{name}"


def excludes_remote(patterns: Iterable[str], remote: str | None) -> bool:
    """Whether a remote is one that the person leaves out.

    A pattern is a glob over the normalised remote (``github.com/owner/*``); one without a
    wildcard also means everything below it (``github.com/owner``).
    """
    return remote is not None and any(
        fnmatchcase(remote.casefold(), pattern)
        or remote.casefold().startswith(pattern.rstrip("/") + "/")
        for pattern in (one.casefold() for one in patterns)
    )


def holds_of(standing: Standing) -> Holds:
    """Return what lies in a project for agents; a vault is no instruction."""
    return Holds(
        tops=tuple(sorted(standing.holding.held)),
        nested=tuple(
            sorted(path for path in standing.nested if not path.endswith(f"/{VAULT_FOLDER}"))
        ),
    )


def survey_undescribed(folder: Folder, standing: Standing) -> tuple[Descriptor, Surfaces, Holds]:
    """Look at what a folder without a descriptor holds, by name, and derive its tier.

    0 for memory or instructions, 1 for a vault, 2 for a graph file, none for a bare repository.
    """
    holds = holds_of(standing)
    look = _Look(folder, standing.holding.held)
    found = look.found()
    memory = next((path for path in found if path in _MEMORIES), None)
    vault = look.vault(standing)
    graph = look.graph()
    tier = GRAPH_TIER if graph else VAULT_TIER if vault else 0 if found or holds.nested else None
    name = clean_name(standing.holding.folder.rpartition("/")[2]) or "project"
    descriptor = Descriptor(
        layout=LAYOUTS[0], name=name, choice="recorded", tier=tier, described=False
    )
    shown = (*found, *holds.nested, *(surface.path for surface in (vault, graph) if surface))
    return (
        descriptor,
        Surfaces(
            memory=Surface(path=memory, state="present") if memory else None,
            vault=vault,
            graph=graph,
        ),
        Holds(tops=holds.tops, nested=holds.nested, found=tuple(dict.fromkeys(shown))),
    )


class _Look:
    """Looks at the names in one folder."""

    def __init__(self, folder: Folder, held: Mapping[str, str]) -> None:
        self._folder = folder
        self._held = held

    def found(self) -> tuple[str, ...]:
        """Return the files, and folders of files, of every convention that are there."""
        return tuple(place for place, top, wanted in _PLACES if self._is_there(place, top, wanted))

    def _is_there(self, place: str, top: str, wanted: str) -> bool:
        held = self._held.get(top)
        if held is None or place == top:
            return held == wanted
        return held == "folder" and (
            self._is_file(place) if wanted == "file" else self._is_folder(place)
        )

    def vault(self, standing: Standing) -> Surface | None:
        """Return the vault nearest the top; the folder itself is ``.``."""
        if self._held.get(VAULT_FOLDER) == "folder":
            return Surface(path=".", state="present")
        suffix = f"/{VAULT_FOLDER}"
        places = [path.removesuffix(suffix) for path in standing.nested if path.endswith(suffix)]
        if not places:
            return None
        return Surface(path=min(places, key=lambda path: (path.count("/"), path)), state="present")

    def graph(self) -> Surface | None:
        """Return graphify's graph, where it is."""
        if self._held.get(GRAPH_FOLDER) != "folder" or not self._is_file(GRAPH_FILE):
            return None
        return Surface(path=GRAPH_FILE, state="present")

    def _is_file(self, path: str) -> bool:
        try:
            self._folder.stat(path)
        except FilesError:
            return False
        return True

    def _is_folder(self, path: str) -> bool:
        try:
            self._folder.descend(path).close()
        except FilesError:
            return False
        return True


def place_of(row: Convention) -> str:
    """Return the file that a row names, or the folder that its files lie in."""
    names = row.pattern.split("/")
    return "/".join(names[: _first_glob(names)])


def _first_glob(names: list[str]) -> int:
    return next(
        (at for at, name in enumerate(names) if name == ANY_DEPTH or "*" in name), len(names)
    )


def _looked_at() -> Iterator[tuple[str, str, str]]:
    """Yield the places of instructions and memories, each with its first name and its kind."""
    for row in ALL:
        if row.surface != "capabilities" and row.reads != "index":
            place = place_of(row)
            yield place, place.partition("/")[0], "file" if place == row.pattern else "folder"


_PLACES = tuple(dict.fromkeys(_looked_at()))
_MEMORIES = frozenset(place_of(row) for row in ALL if row.surface == "memory")
