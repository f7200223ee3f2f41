"""Spaces: one folder of derived state for each set of roots (design section 4).

A space lives in the person's cache directory, is private (0700) and may be deleted at any time.
It is named by the hash of its roots' resolved paths, so the same roots in any order, or reached
through a link, share one.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agentic_os.errors import FilesError
from agentic_os.files.publishing import ExclusiveLock, private_folder, publish

SPACES_FOLDER = "spaces"
DATABASE_NAME = "fleet.db"
LOCK_NAME = "writer.lock"
INDEX_LOCK_NAME = "index.lock"
ROOTS_NAME = "roots.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """One folder of derived state, the roots it was derived from, and by which rules.

    ``rules`` are what the person's settings say about texts: a store that was made by other
    ones is made anew, so that a secret which is no longer allowed leaves no byte behind.
    """

    folder: Path
    roots: tuple[str, ...]
    rules: str = ""

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.folder / DATABASE_NAME

    @property
    def lock(self) -> Path:
        """The writer lock."""
        return self.folder / LOCK_NAME

    @property
    def index_lock(self) -> Path:
        """The lock of who builds the semantic index, which takes longer than writing the store."""
        return self.folder / INDEX_LOCK_NAME


def space_for(
    cache: Path, roots: Iterable[Path], *, rules: str = "", adopted: Iterable[Path] = ()
) -> Space:
    """Return the space of a set of roots; nothing is created yet.

    Roots that take in repositories without a descriptor make another space: two ways to ask must
    not take turns in throwing projects out of the store.
    """
    names = tuple(sorted({str(root.resolve()) for root in roots}))
    marks = (f"\0adopted\0{name}" for name in sorted({str(root.resolve()) for root in adopted}))
    spelled = "\0".join(names) + "".join(marks)
    digest = hashlib.sha256(spelled.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return Space(folder=cache / SPACES_FOLDER / digest, roots=names, rules=rules)


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
    """Delete the spaces all of whose roots have vanished; returns their names.

    A space that another process writes, or deletes, at this moment is left to it.
    """
    gone = []
    for space in all_spaces(cache):
        if space.folder == keep.folder or not space.roots:
            continue
        if any(Path(root).is_dir() for root in space.roots):
            continue
        lock = ExclusiveLock(space.lock)
        with suppress(FilesError):
            if not lock.try_acquire():
                continue
            try:
                delete_space(space)
            finally:
                lock.release()
            gone.append(space.folder.name)
    return tuple(gone)


def delete_space(space: Space) -> int:
    """Delete one space; returns the bytes it held.

    Raises:
        FilesError: SPACE_NOT_DELETED, when a file of it cannot be deleted.
    """
    size = space_bytes(space)
    try:
        shutil.rmtree(space.folder)
    except FileNotFoundError:
        # Another process deleted it, or a reader's last file of it, meanwhile.
        shutil.rmtree(space.folder, ignore_errors=True)
    except OSError as fault:
        raise FilesError(
            f"the space {space.folder.name} could not be deleted: {fault.strerror}",
            code="SPACE_NOT_DELETED",
            hint="Look at the cache folder: `agentic-os paths` names it.",
        ) from fault
    return size


def space_bytes(space: Space) -> int:
    """Bytes of all files of a space; those that vanish meanwhile, as logs do, count nothing."""
    total = 0
    for folder, _, names in os.walk(space.folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(f"{folder}/{name}").st_size
    return total
