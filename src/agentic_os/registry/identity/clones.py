"""Whether the checkouts that fold into one project say the same.

Clones fold by their remote (design decision 3), and any folder may write any remote into
its ``.git/config``. One that claims the remote of another project, and whose path comes
first, would be read in its place without a word. Linked worktrees are made by the
repository's owner alone, but a fact on one branch is not found where another one speaks. So:

- clones with a git folder of their own are compared, and the worktrees of the one that is read;
- a checkout that the person lists by its path is their choice, and nothing is compared;
- where one has a descriptor, checkouts without one are not looked into: they are not read;
- what is compared is what would be read: descriptor, inventory, memory, vault and graph;
- clones that are equal in all of it are named too: the second one is a copy to know of.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder
from agentic_os.registry.codes import diagnostic
from agentic_os.registry.identity.folding import Sighting, preference
from agentic_os.registry.identity.ids import ProjectKey
from agentic_os.results import Diagnostic
from agentic_os.text.fencing import one_line

MAX_COMPARED_ENTRIES = 500
MAX_COMPARED_FILE_BYTES = 1_048_576
"""A larger file is compared by its size alone."""
MAX_COMPARED_DEPTH = 8
MAX_COMPARED_CHECKOUTS_ENTRIES = 16
"""Clones, or worktrees, of one project beside the one that is read; agents may make hundreds."""


def compare_checkouts(
    sightings: Sequence[Sighting],
) -> Mapping[ProjectKey, tuple[Diagnostic, ...]]:
    """Say how the clones and worktrees of each project compare while none of them is listed."""
    groups: defaultdict[ProjectKey, list[Sighting]] = defaultdict(list)
    for sighting in sightings:
        groups[sighting.location.key].append(sighting)
    found: dict[ProjectKey, tuple[Diagnostic, ...]] = {}
    for key, group in groups.items():
        if len(group) > 1 and not any(sighting.candidate.listed for sighting in group):
            described = [sighting for sighting in group if sighting.descriptor.described]
            found[key] = tuple(_compared(sorted(described or group, key=preference)))
    return found


def _compared(group: Sequence[Sighting]) -> Iterator[Diagnostic]:
    """Compare the checkouts of one project, of which the first is read."""
    first = group[0]
    clones = _one_per_repository(group)
    of_first = [one for one in group if one.location.repository == first.location.repository]
    said = _says(first) if len(group) > 1 else {}
    place = one_line(first.candidate.relative) or "the root"
    if len(clones) > 1:
        differing, extent = _differing_parts(said, clones[1:])
        yield (
            diagnostic(
                "CLONES_DIFFER",
                f"{len(clones)} clones of it differ in their {differing};"
                f" {place} is read because it comes first{extent}",
            )
            if differing
            else diagnostic(
                "CLONES_EQUAL",
                f"{len(clones)} clones of it are equal in all that is compared;"
                f" {place} is read{extent}",
            )
        )
    if len(of_first) > 1:
        differing, extent = _differing_parts(said, of_first[1:])
        if differing:
            yield diagnostic(
                "WORKTREES_DIFFER",
                f"{len(of_first)} checkouts of one repository differ in their {differing};"
                f" {place} is read{extent}",
            )


def _differing_parts(said: Mapping[str, object], others: Sequence[Sighting]) -> tuple[str, str]:
    """Return in what others differ from the first, and how many were looked at if not all."""
    looked_at = others[:MAX_COMPARED_CHECKOUTS_ENTRIES]
    parts = sorted({name for other in looked_at for name in _differing(said, _says(other))})
    cut = len(looked_at) < len(others)
    return " and ".join(parts), f"; {len(looked_at)} others were compared" if cut else ""


def _one_per_repository(group: Sequence[Sighting]) -> list[Sighting]:
    """Return the checkout of each git folder that would be read, the one that is read first."""
    chosen: dict[str, Sighting] = {}
    for sighting in group:
        chosen.setdefault(sighting.location.repository, sighting)
    return list(chosen.values())


def _differing(one: Mapping[str, object], other: Mapping[str, object]) -> set[str]:
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def _says(sighting: Sighting) -> Mapping[str, object]:
    """Return what a checkout would be read for, each part as a value that can be compared."""
    descriptor, surfaces = sighting.descriptor, sighting.surfaces
    says: dict[str, object] = {"descriptor": replace(descriptor, diagnostics=())}
    parts = {"inventory": f"{descriptor.layout}/CAPABILITIES.md", "servers": ".mcp.json"}
    if descriptor.retrieval:
        for name in ("memory", "vault", "graph"):
            surface = getattr(surfaces, name)
            if surface is not None and surface.state == "present":
                parts[name] = surface.path
    try:
        with Folder.open(Path(sighting.candidate.folder)) as folder:
            for name, path in parts.items():
                says[name] = _content(folder, path)
    except FilesError as fault:
        says["folder"] = fault.code
    return says


def _content(folder: Folder, path: str) -> str:
    """Hash a file, or a folder's files with their names; a fault counts as the content."""
    try:
        with folder.descend(path) as below:
            digest = hashlib.sha256()
            _take_in(below, digest, MAX_COMPARED_ENTRIES, MAX_COMPARED_DEPTH)
            return digest.hexdigest()
    except FilesError as fault:
        return fault.code if fault.code != "NOT_A_FOLDER" else _file(folder, path)


def _file(folder: Folder, name: str) -> str:
    try:
        return folder.read(name, limit_bytes=MAX_COMPARED_FILE_BYTES).sha256
    except FilesError as fault:
        if fault.code != "FILE_TOO_LARGE":
            return fault.code
    try:
        return str(folder.stat(name).size)
    except FilesError as fault:
        return fault.code


def _take_in(folder: Folder, digest: "hashlib._Hash", entries: int, depth: int) -> int:
    """Hash the entries of a folder, and return how many more may be looked at."""
    listed, cut = folder.entries(limit_entries=entries)
    entries -= len(listed)
    digest.update(b"cut" if cut else b"whole")
    for entry in listed:
        digest.update(f"\0{entry.kind}\0{entry.name}\0".encode("utf-8", "surrogateescape"))
        if entry.kind == "file":
            digest.update(_file(folder, entry.name).encode())
        elif entry.kind == "folder" and depth and entries:
            try:
                with folder.descend(entry.name) as below:
                    entries = _take_in(below, digest, entries, depth - 1)
            except FilesError as fault:
                digest.update(fault.code.encode())
    return entries
