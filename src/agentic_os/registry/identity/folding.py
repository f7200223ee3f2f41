"""Sightings to projects: checkouts of one project fold, ids are given. Pure.

Design decision 3. Equal keys are one project. Which checkout is read: one with a descriptor
before one that was only taken in, whose word then counts for all; one that the person lists by
its own path, else the main checkout, else the worktree with the branch that the repository's HEAD
names, else the first path; the others are listed with branch and commit. Paths that projects.toml
pins to one id are one project. Aliases and a pinned id of any checkout hold for all.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import msgspec

from agentic_os.registry.codes import diagnostic
from agentic_os.registry.descriptor.values import Descriptor
from agentic_os.registry.identity.checkouts import Location, LocationKind
from agentic_os.registry.identity.ids import ProjectKey, assign_ids, is_long
from agentic_os.registry.project import Holds, Project
from agentic_os.registry.walk.walking import Candidate
from agentic_os.results import Checkout, Diagnostic, Surfaces
from agentic_os.settings.values import ListedProject
from agentic_os.text.fencing import one_line
from agentic_os.text.unicode_form import folded

_ORDER_OF_KIND: Mapping[LocationKind, int] = {
    "main": 0,
    "plain": 0,
    "submodule": 1,
    "worktree": 2,
}

_NOTHING_TO_SAY: Mapping[ProjectKey, tuple[Diagnostic, ...]] = MappingProxyType({})


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that is a project, before checkouts are folded.

    ``holds`` is what lies in it for agents.
    """

    candidate: Candidate
    descriptor: Descriptor
    surfaces: Surfaces
    location: Location
    diagnostics: tuple[Diagnostic, ...] = ()
    holds: Holds = Holds()


def fold(
    sightings: Sequence[Sighting],
    listed: Mapping[str, ListedProject],
    compared: Mapping[ProjectKey, tuple[Diagnostic, ...]] = _NOTHING_TO_SAY,
) -> tuple[Project, ...]:
    """Fold the checkouts of each project and give it its id.

    Args:
        sightings: one for every folder with a descriptor.
        listed: what projects.toml says about a folder, by its real path.
        compared: what is to be said of projects that have several checkouts.

    Returns:
        the projects, by name, then id.
    """
    groups: defaultdict[ProjectKey, list[Sighting]] = defaultdict(list)
    joined = _joined_by_pins(sightings, listed)
    for sighting in sightings:
        key = sighting.location.key
        groups[joined.get(key, key)].append(sighting)
    ids = assign_ids(groups)
    pins = _pins(groups, ids, listed)
    projects = [
        _project(
            sorted(group, key=preference), ids[key], pins.get(key), listed, compared.get(key, ())
        )
        for key, group in groups.items()
    ]
    return tuple(sorted(_shared_names(projects), key=lambda one: (one.name.casefold(), one.id)))


def _joined_by_pins(
    sightings: Sequence[Sighting], listed: Mapping[str, ListedProject]
) -> Mapping[ProjectKey, ProjectKey]:
    """Return the key that stands for another one, where the person pins both to one id."""
    key_of = {sighting.candidate.folder: sighting.location.key for sighting in sightings}
    first: dict[str, ProjectKey] = {}
    joined: dict[ProjectKey, ProjectKey] = {}
    for folder, entry in listed.items():
        key = key_of.get(folder)
        if key is not None and entry.id is not None and key not in joined:
            joined[key] = first.setdefault(entry.id, key)
    return joined


class _Pin(msgspec.Struct, frozen=True, kw_only=True):
    """The id that a project gets, or why it does not get the one that was pinned."""

    id: str
    refused: str = ""


def preference(sighting: Sighting) -> tuple[bool, bool, int, bool, str]:
    """Order the checkouts of one project: the first is the one that is read."""
    candidate, location = sighting.candidate, sighting.location
    order = _ORDER_OF_KIND[location.kind]
    described = sighting.descriptor.described
    return not described, not candidate.listed, order, not location.is_default, candidate.folder


def _pins(
    groups: Mapping[ProjectKey, Sequence[Sighting]],
    ids: Mapping[ProjectKey, str],
    listed: Mapping[str, ListedProject],
) -> Mapping[ProjectKey, _Pin]:
    """Give pinned ids out, in the order of projects.toml; one id, one project."""
    owner = {identifier: key for key, identifier in ids.items()}
    key_of = {sighting.candidate.folder: key for key, group in groups.items() for sighting in group}
    pins: dict[ProjectKey, _Pin] = {}
    for folder, entry in listed.items():
        key = key_of.get(folder)
        if key is None or entry.id is None or (key in pins and not pins[key].refused):
            continue
        if owner.setdefault(entry.id, key) == key:
            pins[key] = _Pin(id=entry.id)
        else:
            pins[key] = _Pin(id=ids[key], refused=entry.id)
    return pins


def _project(
    group: Sequence[Sighting],
    identifier: str,
    pin: _Pin | None,
    listed: Mapping[str, ListedProject],
    compared: tuple[Diagnostic, ...],
) -> Project:
    """Make one project of its checkouts, of which the first is read."""
    chosen = group[0]
    candidate, descriptor, location = chosen.candidate, chosen.descriptor, chosen.location
    noted = [*descriptor.diagnostics, *chosen.diagnostics, *compared]
    if pin is not None and pin.refused:
        message = f"the pinned id {pin.refused} is the id of another project"
        noted.append(diagnostic("ID_PIN_COLLIDES", message))
    if pin is None and is_long(identifier, location.key):
        message = f"another project has the short form of {identifier}"
        noted.append(diagnostic("ID_COLLIDES", message))
    entries = [
        listed[sighting.candidate.folder]
        for sighting in group
        if sighting.candidate.folder in listed
    ]
    return Project(
        id=pin.id if pin else identifier,
        name=descriptor.name,
        root=candidate.root,
        folder=Path(candidate.folder),
        relative=candidate.relative,
        descriptor=descriptor,
        surfaces=chosen.surfaces,
        checkouts=tuple(_checkouts(group)),
        remote=location.remote,
        subpath=location.key.subpath,
        branch=location.branch,
        commit=location.commit,
        aliases=tuple(dict.fromkeys(alias for entry in entries for alias in entry.aliases)),
        holds=chosen.holds,
        only=_only(entries),
        diagnostics=tuple(noted),
    )


def _only(entries: Sequence[ListedProject]) -> frozenset[str] | None:
    """Return the surfaces that the person limits a project to; the first entry that does counts."""
    return next((entry.surfaces for entry in entries if entry.surfaces is not None), None)


def _checkouts(group: Sequence[Sighting]) -> list[Checkout]:
    """List the working copies of one project, the chosen one first."""
    checkouts: list[Checkout] = []
    mains = 0
    for position, sighting in enumerate(group):
        kind: Literal["main", "worktree", "clone", "plain"] = "plain"
        if sighting.location.kind == "worktree":
            kind = "worktree"
        elif sighting.location.kind != "plain":
            kind = "clone" if mains else "main"
            mains += 1
        checkouts.append(
            Checkout(
                path=one_line(sighting.candidate.folder),
                kind=kind,
                chosen=position == 0,
                branch=sighting.location.branch,
                commit=sighting.location.commit,
            )
        )
    return checkouts


def _shared_names(projects: Sequence[Project]) -> list[Project]:
    """Warn every project whose name another one has too."""
    counts = Counter(folded(project.name) for project in projects)
    marked: list[Project] = []
    for project in projects:
        count = counts[folded(project.name)]
        if count > 1:
            message = f"{count} projects are called {project.name}; this one is {project.id}"
            noted = diagnostic("NAME_SHARED", message)
            marked.append(
                msgspec.structs.replace(project, diagnostics=(*project.diagnostics, noted))
            )
        else:
            marked.append(project)
    return marked
