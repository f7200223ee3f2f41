"""Writes of the tool's own files: whole or not at all, private, one writer at a time.

Nothing here is ever pointed below a project (design section 1: pull-only).

Invariants:

- ``publish`` replaces a file by renaming a complete, synced sibling over it: a reader,
  or a machine that stops, sees the old bytes or the new ones.
- Modes are set on the handle, so the umask neither widens nor narrows them.
- One writer at a time is ``ExclusiveLock``, from ``locking``.
"""

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from agentic_os.errors import FilesError
from agentic_os.files.handles import CLOEXEC, DIRECTORY, NOFOLLOW
from agentic_os.files.locking import ExclusiveLock
from agentic_os.files.refusals import failed
from agentic_os.files.running import is_running

__all__ = [
    "PRIVATE_FILE_MODE",
    "PRIVATE_FOLDER_MODE",
    "ExclusiveLock",
    "private_folder",
    "publish",
    "remove_leftovers",
    "sync_folder",
]

PRIVATE_FILE_MODE = 0o600
PRIVATE_FOLDER_MODE = 0o700

_PARTIAL_SUFFIX = ".partial"


def publish(path: Path, data: bytes, mode: int = PRIVATE_FILE_MODE) -> None:
    """Replace ``path`` with ``data`` atomically and durably.

    The folder must exist. A link at ``path`` is itself replaced; resolve it first to
    write through it.

    Raises:
        FilesError: PUBLISH_FAILED; the old file is untouched, unless it was only the
            sync of the folder that failed.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(8)}{_PARTIAL_SUFFIX}")
    try:
        try:
            _write_synced(partial, data, mode)
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
    except (OSError, ValueError) as fault:
        raise failed(f"{path.name} could not be written", "PUBLISH_FAILED", fault) from fault


def remove_leftovers(folder: Path) -> int:
    """Delete what killed writers left beside the files of ``folder``; return how many.

    Only files named as ``publish`` names them, whose process no longer runs.

    Raises:
        FilesError: FILE_UNREADABLE, when the folder cannot be listed.
    """
    removed = 0
    try:
        paths = list(folder.iterdir())
    except OSError as fault:
        raise failed(f"{folder.name} could not be listed", "FILE_UNREADABLE", fault) from fault
    for path in paths:
        owner = _partial_owner(path.name)
        if owner is not None and not is_running(owner):
            with suppress(OSError):
                path.unlink()
                removed += 1
    return removed


def private_folder(path: Path) -> Path:
    """Make ``path`` a folder of mode 0700 and return it.

    Missing parents are made, private too. An existing folder of this user is narrowed
    to 0700.

    Raises:
        FilesError: NOT_A_FOLDER, FOLDER_NOT_OURS (another user owns it) or
            PUBLISH_FAILED.
    """
    try:
        for step in [*reversed(path.parents), path]:
            with suppress(FileExistsError):
                if not step.is_dir():
                    step.mkdir(mode=PRIVATE_FOLDER_MODE)
                    step.chmod(PRIVATE_FOLDER_MODE)  # mkdir's mode passes through the umask
        fd = os.open(path, os.O_RDONLY | DIRECTORY | CLOEXEC)
        try:
            found = os.fstat(fd)
            if found.st_uid != os.geteuid():
                raise FilesError(
                    f"the folder {path.name} belongs to another user",
                    code="FOLDER_NOT_OURS",
                    hint="choose another place with the AGENTIC_OS_*_DIR variables",
                )
            if stat.S_IMODE(found.st_mode) != PRIVATE_FOLDER_MODE:
                os.fchmod(fd, PRIVATE_FOLDER_MODE)
        finally:
            os.close(fd)
    except NotADirectoryError as fault:
        raise failed(f"{path.name} is not a folder", "NOT_A_FOLDER", fault) from fault
    except (OSError, ValueError) as fault:
        raise failed(f"{path.name} could not be made", "PUBLISH_FAILED", fault) from fault
    return path


def _write_synced(path: Path, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | CLOEXEC
    fd = os.open(path, flags, PRIVATE_FILE_MODE)
    try:
        os.fchmod(fd, mode)
        left = memoryview(data)
        while left:
            left = left[os.write(fd, left) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut.

    Raises:
        OSError: the folder cannot be opened or synced.
    """
    fd = os.open(folder, os.O_RDONLY | DIRECTORY | CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as fault:
        if fault.errno != errno.EINVAL:  # some network file systems sync no folders
            raise
    finally:
        os.close(fd)


def _partial_owner(name: str) -> int | None:
    """Return the process id in the name of a partial file, or nothing for other names."""
    if not (name.startswith(".") and name.endswith(_PARTIAL_SUFFIX)):
        return None
    pid, dash, _ = name.removesuffix(_PARTIAL_SUFFIX).rpartition(".")[2].partition("-")
    return int(pid) if dash and pid.isascii() and pid.isdigit() else None
