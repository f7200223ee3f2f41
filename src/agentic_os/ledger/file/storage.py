"""The bytes of a ledger file behind a narrow interface, and its lines in bounded memory.

``FileStorage`` is the file; tests put in its place one that forgets what was not synced.
Nothing here knows what a line means.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol, Self

from agentic_os.errors import LedgerError
from agentic_os.files.publishing import sync_folder
from agentic_os.ledger.line.entry import LINE_BYTES

LEDGER_NAME: Final = "ledger.jsonl"
BLOCK_BYTES: Final = 1024 * 1024

_MODE: Final = 0o600
_FLAGS: Final = os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Storage(Protocol):
    """An append-only file of bytes. Every method may raise ``OSError``."""

    def size(self) -> int:
        """Return the number of bytes."""
        ...

    def read(self, offset: int, count: int) -> bytes:
        """At most ``count`` bytes from ``offset``; fewer only at the end."""
        ...

    def append(self, data: bytes) -> None:
        """Write all of ``data`` at the end; durable only after ``sync``."""
        ...

    def sync(self) -> None:
        """Return when everything written survives a power cut."""
        ...

    def truncate(self, size: int) -> None:
        """Cut to ``size`` bytes."""
        ...

    def is_in_place(self) -> bool:
        """Whether the name still stands for these bytes and not for another file."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


class FileStorage:
    """A ledger file on disk, opened without following links."""

    __slots__ = ("_fd", "_path")

    def __init__(self, path: Path, fd: int) -> None:
        """Own ``fd`` (use ``open`` or ``create``)."""
        self._path = path
        self._fd = fd

    @classmethod
    def open(cls, path: Path, *, writable: bool = False) -> Self:
        """Open an existing ledger.

        Raises:
            LedgerError: ``LEDGER_MISSING``, ``LEDGER_UNREADABLE``.
        """
        mode = os.O_RDWR | os.O_APPEND if writable else os.O_RDONLY
        try:
            fd = os.open(path, mode | _FLAGS)
        except FileNotFoundError:
            raise no_ledger() from None
        except OSError as error:
            raise _unreadable(path, error.strerror) from None
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise _unreadable(path, "not a regular file")
        return cls(path, fd)

    @classmethod
    def create(cls, path: Path) -> Self:
        """Make an empty ledger, mode 0600.

        Raises:
            LedgerError: ``LEDGER_EXISTS``, ``LEDGER_UNREADABLE``.
        """
        try:
            fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | _FLAGS, _MODE)
        except FileExistsError:
            raise LedgerError(f"{path.name} exists already", code="LEDGER_EXISTS") from None
        except OSError as error:
            raise _unreadable(path, error.strerror) from None
        return cls(path, fd)

    def size(self) -> int:
        """Return the number of bytes."""
        return os.fstat(self._fd).st_size

    def read(self, offset: int, count: int) -> bytes:
        """At most ``count`` bytes from ``offset``."""
        return os.pread(self._fd, count, offset)

    def append(self, data: bytes) -> None:
        """Write all of ``data`` at the end."""
        left = memoryview(data)
        while left:
            left = left[os.write(self._fd, left) :]

    def sync(self) -> None:
        """Flush file and, for a new file, its name."""
        os.fsync(self._fd)
        sync_folder(self._path.parent)

    def truncate(self, size: int) -> None:
        """Cut to ``size`` bytes."""
        os.ftruncate(self._fd, size)

    def is_in_place(self) -> bool:
        """Whether the path still names the opened file."""
        try:
            named = self._path.lstat()
        except FileNotFoundError:
            return False
        opened = os.fstat(self._fd)
        return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)

    def close(self) -> None:
        """Close the file; twice is fine."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


class LineReader:
    """The lines of a storage from its start, one block of memory at a time.

    After the iteration ``torn`` holds the bytes of an unterminated final line (empty when
    the last line is whole) and ``offset`` the place where it starts. A line longer than
    ``line_bytes`` is yielded cut to one byte more, for the reader of lines to refuse, and ends
    the iteration.
    """

    __slots__ = ("_line_bytes", "_start", "_storage", "offset", "torn")

    def __init__(self, storage: Storage, *, start: int = 0, line_bytes: int = LINE_BYTES) -> None:
        """Read ``storage``, which stays the caller's, from the byte ``start`` on."""
        self._storage = storage
        self._line_bytes = line_bytes
        self._start = start
        self.offset = start
        self.torn = b""

    def __iter__(self) -> Iterator[bytes]:
        """Yield every terminated line without its LF."""
        for lines in self.blocks():
            yield from lines

    def blocks(self) -> Iterator[list[bytes]]:
        """Yield the lines that end in each block; ``offset`` lies behind those yielded."""
        read, at, rest = self._storage.read, self._start, b""
        while block := read(at, BLOCK_BYTES):
            at += len(block)
            lines = block.split(b"\n")
            lines[0] = rest + lines[0]
            rest = lines.pop()
            self.offset = at - len(rest)
            if lines:
                yield lines
            if len(rest) > self._line_bytes:
                yield [rest[: self._line_bytes + 1]]
                return
        self.torn = rest


def no_ledger() -> LedgerError:
    """Make the error that says that there is no ledger."""
    return LedgerError(
        "there is no ledger here",
        code="LEDGER_MISSING",
        hint="agentic-os ledger init makes one; ledger repair restores one.",
    )


def _unreadable(path: Path, reason: str | None) -> LedgerError:
    return LedgerError(f"cannot use {path.name}: {reason}", code="LEDGER_UNREADABLE")
