"""One folder listed once: its special names, agents' files, markers and the folders below it."""

import os
import stat
from dataclasses import dataclass, field

from agentic_os.files.reading import EntryKind
from agentic_os.registry.conventions.instructions import NESTED_NAMES
from agentic_os.registry.conventions.tables import ALL_TOPS
from agentic_os.registry.descriptor.values import LAYOUTS
from agentic_os.registry.walk.pruning import MARKER_FILES, PRUNED_NAMES

GIT = ".git"
SPECIAL = frozenset({GIT, *LAYOUTS})
_PROJECT_MARKS = (GIT, *(f"{layout}/config.yaml" for layout in LAYOUTS))
"""What makes a folder a project of its own, even one called ``build`` or ``vendor``."""
_HELD = ALL_TOPS | NESTED_NAMES
FOLDER_FLAGS = (
    os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
)


@dataclass(slots=True)
class Listing:
    """One folder: its special names, marker files, folders that may be entered.

    ``pruned`` counts the folders that are passed over for their names.
    ``held`` are the names by which agents' files go, and what each of them is.
    """

    special: dict[str, EntryKind]
    markers: set[str]
    below: list[str]
    cut: bool = False
    pruned: int = 0
    held: dict[str, EntryKind] = field(default_factory=dict)


def scan(fd: int, limit: int) -> Listing:
    """Look at no more than ``limit`` entries of an open folder."""
    listing = Listing({}, set(), [])
    with os.scandir(fd) as entries:
        for count, entry in enumerate(entries):
            if count >= limit:
                listing.cut = True
                for name in SPECIAL | _HELD:
                    kind = kind_at(fd, name)
                    if kind is None:
                        continue
                    if name in SPECIAL:
                        listing.special[name] = kind
                    if name in _HELD:
                        listing.held[name] = kind
                break
            try:
                _file_under(fd, entry, listing)
            except OSError:
                continue  # its kind needs a stat here, and it vanished or may not be looked at
    return listing


def _file_under(fd: int, entry: os.DirEntry[str], listing: Listing) -> None:
    name = entry.name
    if name in _HELD:
        listing.held[name] = _kind(entry)
    if name[0] == ".":
        if name in SPECIAL:
            listing.special[name] = _kind(entry)
    elif entry.is_dir(follow_symlinks=False):
        if name not in PRUNED_NAMES or _is_project(fd, name):
            listing.below.append(name)
        else:
            listing.pruned += 1
    elif name in MARKER_FILES:
        listing.markers.add(name)


def _is_project(fd: int, name: str) -> bool:
    return any(kind_at(fd, f"{name}/{mark}") is not None for mark in _PROJECT_MARKS)


def _kind(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    if entry.is_symlink():
        return "link"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def kind_at(fd: int, name: str) -> EntryKind | None:
    """Return the kind of a name in an open folder; ``None`` if there is no such name."""
    try:
        mode = os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode
    except OSError:
        return None
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISLNK(mode):
        return "link"
    return "file" if stat.S_ISREG(mode) else "other"
