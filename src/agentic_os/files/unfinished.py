"""Folders that are made beside their place and take its name when they are complete.

- A reader sees the old state or the whole folder; a machine that stops keeps one of the two:
  every folder in it is synced before the name, and the parents after it.
- One process at a time makes a folder: it holds a lock on the unfinished one, which vanishes
  with the process. What a killed one left is recognised by its name and the missing lock, and
  deleted by the next that makes a folder in that place, or by whoever asks for it.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from agentic_os.errors import FilesError
from agentic_os.files.handles import CLOEXEC, DIRECTORY, NOFOLLOW
from agentic_os.files.locking import is_named, take_flock
from agentic_os.files.publishing import private_folder, sync_folder
from agentic_os.files.refusals import failed, link_refused

_SUFFIX: Final = ".unfinished"
_ATTEMPTS: Final = 5  # the name is given away between making and locking; more is a fight


@contextmanager
def folder_made_whole(folder: Path) -> Iterator[Path]:
    """Yield a new private folder; it takes the name of ``folder`` when the block ends well.

    ``folder`` is missing or empty. A block that raises leaves nothing behind.

    Raises:
        FilesError: FOLDER_BUSY, when another process is making it; as ``private_folder``;
            PUBLISH_FAILED, also for what the block meets.
    """
    made = _missing(folder.parent)
    unfinished, fd = _taken(folder)
    try:
        _empty(unfinished)
        yield unfinished
        for inner, _, _ in os.walk(unfinished, topdown=False):
            sync_folder(Path(inner))
        unfinished.replace(folder)  # over an empty folder, or where none stands
        for parent in (folder.parent, *(step.parent for step in made)):
            sync_folder(parent)
    except BaseException as fault:
        if is_named(fd, unfinished):
            shutil.rmtree(unfinished, ignore_errors=True)
        if isinstance(fault, OSError):
            raise failed(f"{folder.name} could not be made", "PUBLISH_FAILED", fault) from fault
        raise
    finally:
        os.close(fd)


def left_unfinished(folder: Path) -> bool:
    """Return whether a process that no longer runs left a folder for this place."""
    try:
        fd = os.open(_beside(folder), os.O_RDONLY | DIRECTORY | NOFOLLOW | CLOEXEC)
    except OSError:
        return False
    try:
        return take_flock(fd)
    finally:
        os.close(fd)


def forget_unfinished(folder: Path) -> None:
    """Delete what a process that no longer runs left for this place, as far as that can be done."""
    path = _beside(folder)
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY | DIRECTORY | NOFOLLOW | CLOEXEC)
        try:
            if take_flock(fd) and is_named(fd, path):
                shutil.rmtree(path)
                sync_folder(path.parent)
        finally:
            os.close(fd)


def _beside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}{_SUFFIX}")


def _taken(folder: Path) -> tuple[Path, int]:
    """Make or find the unfinished folder and lock it; return its path and the locked handle."""
    path = _beside(folder)
    if path.is_symlink():
        raise link_refused(path.name)
    for _ in range(_ATTEMPTS):
        private_folder(path)
        with suppress(FileNotFoundError):  # whoever made it before us has just finished
            fd = os.open(path, os.O_RDONLY | DIRECTORY | NOFOLLOW | CLOEXEC)
            if take_flock(fd) and is_named(fd, path):
                return path, fd
            os.close(fd)
    raise FilesError(
        f"another process is making {folder.name}",
        code="FOLDER_BUSY",
        hint="wait until it has finished, then try again",
    )


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _missing(folder: Path) -> list[Path]:
    """Return the folders that are to be made, the innermost first."""
    return [step for step in (folder, *folder.parents) if not step.exists()]
