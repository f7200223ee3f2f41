"""Writes of the tool's own files: whole or not at all, private, one writer at a time.

Nothing here is ever pointed below a project (design section 1: pull-only).

Invariants:

- ``publish`` replaces a file by renaming a complete, synced sibling over it: a reader,
  or a machine that stops, sees the old bytes or the new ones.
- Modes are set on the handle, so the umask neither widens nor narrows them.
- A lock belongs to the process that took it and vanishes with it.
"""

import errno
import os
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from agentic_os.errors import FilesError

PRIVATE_FILE_MODE = 0o600
PRIVATE_FOLDER_MODE = 0o700

_PARTIAL_SUFFIX = ".partial"
_FIRST_WAIT_SECONDS = 0.005
_LONGEST_WAIT_SECONDS = 0.1
_PID_BYTES = 20
_LOCK_ATTEMPTS = 5  # a deleted lock file is made anew; more is a fight
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)
_DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)


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
        _sync_folder(path.parent)
    except (OSError, ValueError) as fault:
        raise _refused(f"{path.name} could not be written", "PUBLISH_FAILED", fault) from fault


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
        raise _refused(f"{folder.name} could not be listed", "FILE_UNREADABLE", fault) from fault
    for path in paths:
        owner = _partial_owner(path.name)
        if owner is not None and not _alive(owner):
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
        fd = os.open(path, os.O_RDONLY | _DIRECTORY | _CLOEXEC)
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
        raise _refused(f"{path.name} is not a folder", "NOT_A_FOLDER", fault) from fault
    except (OSError, ValueError) as fault:
        raise _refused(f"{path.name} could not be made", "PUBLISH_FAILED", fault) from fault
    return path


class ExclusiveLock:
    """One writer among processes and threads: ``flock`` on a file that records its pid.

    The file stays when the lock is released. As a context manager the lock is acquired
    (unless it is already held) and released. Not reentrant.
    """

    __slots__ = ("_fd", "_owner", "_path", "_timeout_s")

    def __init__(self, path: Path, *, timeout_s: float = 10.0) -> None:
        """Name the lock file; ``timeout_s`` is how long ``with`` waits."""
        self._path = path
        self._timeout_s = timeout_s
        self._fd = -1
        self._owner = -1

    @property
    def held(self) -> bool:
        """Whether this object holds the lock in this process."""
        return self._fd >= 0 and self._owner == os.getpid()

    def holder(self) -> int | None:
        """Return the process id written in the lock file, if any (it may be stale)."""
        try:
            fd = os.open(self._path, os.O_RDONLY | _NOFOLLOW | _CLOEXEC)
        except OSError:
            return None
        try:
            text = os.read(fd, _PID_BYTES)
        finally:
            os.close(fd)
        return int(text) if text.strip().isdigit() else None

    def try_acquire(self) -> bool:
        """Take the lock if nobody holds it, without waiting.

        Raises:
            FilesError: LOCK_UNUSABLE, when the lock file cannot be opened, or
                PLATFORM_UNSUPPORTED.
        """
        if self.held:
            return False
        try:
            for _ in range(_LOCK_ATTEMPTS):
                taken = self._try()
                if taken is not None:
                    return taken
        except (OSError, ValueError) as fault:
            raise _refused(
                f"the lock {self._path.name} cannot be used", "LOCK_UNUSABLE", fault
            ) from fault
        return False

    def acquire(self, timeout_s: float) -> None:
        """Take the lock, waiting at most ``timeout_s`` seconds.

        Raises:
            FilesError: LOCK_BUSY, naming the process that holds it, and as
                ``try_acquire``.
        """
        deadline = time.monotonic() + timeout_s
        wait = _FIRST_WAIT_SECONDS
        while not self.try_acquire():
            left = deadline - time.monotonic()
            if left <= 0:
                holder = self.holder()
                owner = f"process {holder}" if holder else "another process"
                raise FilesError(
                    f"{self._path.name} is held by {owner}",
                    code="LOCK_BUSY",
                    hint="wait until it has finished, then try again",
                )
            time.sleep(min(wait, left))
            wait = min(wait * 2, _LONGEST_WAIT_SECONDS)

    def release(self) -> None:
        """Give the lock back; a forked child only lets go of its copy."""
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        try:
            if self._owner == os.getpid():
                os.ftruncate(fd, 0)
                _flock_release(fd)
        finally:
            os.close(fd)

    def __enter__(self) -> Self:
        """Acquire the lock within the time-out given to the constructor."""
        if not self.held:
            self.acquire(self._timeout_s)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the lock."""
        self.release()

    def _try(self) -> bool | None:
        """Return whether the lock was taken, or nothing when its file was deleted."""
        flags = os.O_RDWR | os.O_CREAT | _NOFOLLOW | _CLOEXEC
        fd = os.open(self._path, flags, PRIVATE_FILE_MODE)
        try:
            if not _flock_take(fd):
                os.close(fd)
                return False
            if not self._still_named(fd):
                os.close(fd)
                return None
            os.fchmod(fd, PRIVATE_FILE_MODE)
            os.ftruncate(fd, 0)
            os.pwrite(fd, str(os.getpid()).encode(), 0)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        self._owner = os.getpid()
        return True

    def _still_named(self, fd: int) -> bool:
        """Whether the locked file is the one at the path: it may have been deleted."""
        try:
            named = self._path.lstat()
        except FileNotFoundError:
            return False
        opened = os.fstat(fd)
        return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)


def _flock_take(fd: int) -> bool:
    try:
        import fcntl
    except ImportError as fault:
        raise FilesError(
            "this platform has no file locks",
            code="PLATFORM_UNSUPPORTED",
            hint="run on Linux or macOS",
        ) from fault
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as fault:
        if fault.errno in {errno.EWOULDBLOCK, errno.EACCES}:
            return False
        raise
    return True


def _flock_release(fd: int) -> None:
    import fcntl

    fcntl.flock(fd, fcntl.LOCK_UN)


def _write_synced(path: Path, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC
    fd = os.open(path, flags, PRIVATE_FILE_MODE)
    try:
        os.fchmod(fd, mode)
        left = memoryview(data)
        while left:
            left = left[os.write(fd, left) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | _DIRECTORY | _CLOEXEC)
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


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _refused(message: str, code: str, fault: Exception) -> FilesError:
    number = fault.errno if isinstance(fault, OSError) else None
    reason = os.strerror(number) if number else "the name is not valid"
    return FilesError(f"{message}: {reason}", code=code)
