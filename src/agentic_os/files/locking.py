"""One writer among processes: a lock that vanishes with the process that took it."""

import errno
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from agentic_os.errors import FilesError
from agentic_os.files.handles import CLOEXEC, NOFOLLOW
from agentic_os.files.refusals import failed

_LOCK_FILE_MODE = 0o600
_FIRST_WAIT_SECONDS = 0.005
_LONGEST_WAIT_SECONDS = 0.1
_PID_BYTES = 20
_LOCK_ATTEMPTS = 5  # a deleted lock file is made anew; more is a fight


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
            fd = os.open(self._path, os.O_RDONLY | NOFOLLOW | CLOEXEC)
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
            raise failed(
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
        """Return whether the lock was taken, or ``None`` if its file was deleted."""
        flags = os.O_RDWR | os.O_CREAT | NOFOLLOW | CLOEXEC
        fd = os.open(self._path, flags, _LOCK_FILE_MODE)
        try:
            if not take_flock(fd):
                os.close(fd)
                return False
            if not is_named(fd, self._path):
                os.close(fd)
                return None
            os.fchmod(fd, _LOCK_FILE_MODE)
            os.ftruncate(fd, 0)
            os.pwrite(fd, str(os.getpid()).encode(), 0)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        self._owner = os.getpid()
        return True


def is_named(fd: int, path: Path) -> bool:
    """Return whether an open file is the one at a path: that may have been deleted or moved."""
    try:
        named = path.lstat()
    except FileNotFoundError:
        return False
    opened = os.fstat(fd)
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)


def take_flock(fd: int) -> bool:
    """Lock an open file or folder for this handle alone, without waiting.

    Raises:
        FilesError: PLATFORM_UNSUPPORTED; OSError.
    """
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
