"""Spaces: one folder of derived state for each set of roots (design section 4).

A space lives in the person's cache directory, is private (0700) and may be deleted at any time.
It is named by the hash of its roots' resolved paths, so the same roots in any order, or reached
through a link, share one.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agentic_os.files.publishing import private_folder, publish

SPACES_FOLDER = "spaces"
DATABASE_NAME = "fleet.db"
LOCK_NAME = "writer.lock"
ROOTS_NAME = "roots.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """One folder of derived state and the roots it was derived from."""

    folder: Path
    roots: tuple[str, ...]

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.folder / DATABASE_NAME

    @property
    def lock(self) -> Path:
        """The writer lock."""
        return self.folder / LOCK_NAME


def space_for(cache: Path, roots: Iterable[Path]) -> Space:
    """The space of a set of roots; nothing is created yet."""
    names = tuple(sorted({str(root.resolve()) for root in roots}))
    digest = hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return Space(folder=cache / SPACES_FOLDER / digest, roots=names)


def create_space(space: Space) -> None:
    """Make the folder of a space, 0700, and write down its roots."""
    private_folder(space.folder.parent.parent)
    private_folder(space.folder.parent)
    private_folder(space.folder)
    record = space.folder / ROOTS_NAME
    if not record.exists():
        publish(record, json.dumps(space.roots).encode("utf-8"))


def all_spaces(cache: Path) -> Iterator[Space]:
    """Every space of the cache directory; a folder without a readable record has no roots."""
    folder = cache / SPACES_FOLDER
    if not folder.is_dir():
        return
    for child in sorted(folder.iterdir()):
        if child.is_symlink() or not child.is_dir():
            continue
        try:
            roots = tuple(str(root) for root in json.loads((child / ROOTS_NAME).read_bytes()))
        except (OSError, ValueError, TypeError):
            roots = ()
        yield Space(folder=child, roots=roots)


def collect_spaces(cache: Path, *, keep: Space) -> tuple[str, ...]:
    """Delete the spaces all of whose roots have vanished; returns their names."""
    gone = []
    for space in all_spaces(cache):
        if space.folder == keep.folder or not space.roots:
            continue
        if not any(Path(root).is_dir() for root in space.roots):
            delete_space(space)
            gone.append(space.folder.name)
    return tuple(gone)


def delete_space(space: Space) -> int:
    """Delete one space; returns the bytes it held."""
    size = space_bytes(space)
    shutil.rmtree(space.folder, ignore_errors=False)
    return size


def space_bytes(space: Space) -> int:
    """Bytes of all files of a space."""
    return sum(path.stat().st_size for path in space.folder.rglob("*") if path.is_file())
