"""Reads of untrusted folders: bounded, never through a link, checked on the handle.

Invariants (design section 6):

- A path is walked one component at a time from an open folder handle. A link in any
  component is refused, so nothing outside the opened folder is ever reached.
- Only regular files are opened for reading. The name is looked at first (a FIFO or a
  device is never opened), then the opened handle is checked again, and the handle is
  opened non-blocking: no read of this module can hang.
- At most ``limit_bytes`` bytes are returned; a larger file is refused, never cut.
- The bytes belong to the fingerprint: size, times and inode are compared before and
  after the read, and a file that changed meanwhile is read once more, then refused.
- Errors name the path relative to the folder, made safe for a terminal.

Linux and macOS. Where the platform lacks handle-relative opens, ``Folder.open`` refuses
with ``PLATFORM_UNSUPPORTED``; a checked path form for fleet reads may come later (design
decision 17).
"""

import errno
import hashlib
import os
import stat
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple, Self

from agentic_os.errors import FilesError
from agentic_os.text.fencing import one_line

EntryKind = Literal["file", "folder", "link", "other"]

MAX_DEPTH_ENTRIES = 128
"""Components of one relative path; deeper paths are refused as ``NAME_INVALID``."""

_CHUNK_BYTES = 64 * 1024 * 1024  # one read(2) asks for no more than this
_ATTEMPTS = 2
_SHOWN_CHARS = 200

# Absent on some platforms, where Folder.open refuses before they are used.
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)
_CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)
_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
_FILE_FLAGS = os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _CLOEXEC
_FOLDER_FLAGS = os.O_RDONLY | _DIRECTORY | _NOFOLLOW | _CLOEXEC
_ROOT_FLAGS = os.O_RDONLY | _DIRECTORY | _CLOEXEC
_REGULAR = stat.S_IFREG


class Fingerprint(NamedTuple):
    """What identifies a file's content without reading it (design section 4).

    The device is implied by the folder. Times are nanoseconds since the epoch. A tuple,
    like ``Entry``: a sweep makes one of each for every file of the fleet.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """The whole bytes of a file and the fingerprint they had when read."""

    data: bytes
    fingerprint: Fingerprint
    _sha256: str | None = field(default=None, repr=False, compare=False)

    @property
    def sha256(self) -> str:
        """Lower-case hex SHA-256 of the bytes, computed at the first use."""
        digest = self._sha256
        if digest is None:
            digest = hashlib.sha256(self.data).hexdigest()
            object.__setattr__(self, "_sha256", digest)
        return digest


class Entry(NamedTuple):
    """One name in a folder; links are never followed to tell their kind.

    ``fingerprint`` is there only when it was asked for and the name still existed.
    """

    name: str
    kind: EntryKind
    fingerprint: Fingerprint | None = None


class _ChangedWhileReadingError(Exception):
    """The file did not hold still; never leaves this module."""


class Folder:
    """An open folder handle, and everything below it that can be reached without a link.

    Use it as a context manager or call ``close``. Relative paths are POSIX; empty and
    ``.`` components are ignored, except that a file may not end in one.
    """

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        """Own ``fd``, an open directory handle (use ``open`` or ``descend``)."""
        self._fd = fd

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a root that the person named; links above it and itself are theirs.

        Raises:
            FilesError: FILE_MISSING, NOT_A_FOLDER, LINK_REFUSED (a circle of links),
                NAME_INVALID, FILE_UNREADABLE or PLATFORM_UNSUPPORTED.
        """
        if not (_NOFOLLOW and _DIRECTORY and os.open in os.supports_dir_fd):
            raise FilesError(
                "this platform has no handle-relative opens",
                code="PLATFORM_UNSUPPORTED",
                hint="run on Linux or macOS",
            )
        try:
            return cls(os.open(path, _ROOT_FLAGS))
        except (OSError, ValueError) as fault:
            raise _mapped(fault, path.name) from fault

    @property
    def fd(self) -> int:
        """The directory handle; -1 after ``close``."""
        return self._fd

    def close(self) -> None:
        """Close the handle; closing twice is fine."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> Self:
        """Return the folder itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the handle."""
        self.close()

    def __del__(self) -> None:
        """Close a forgotten handle, and say so."""
        if self._fd >= 0:
            self.close()
            warnings.warn("a Folder was never closed", ResourceWarning, stacklevel=2)

    def descend(self, relative: str) -> "Folder":
        """Open a folder below this one; the empty path opens this one once more.

        Raises:
            FilesError: FILE_MISSING, NOT_A_FOLDER, LINK_REFUSED, OUTSIDE_ROOT,
                NAME_INVALID or FILE_UNREADABLE.
        """
        try:
            return Folder(self._walk(_components(relative), relative))
        except (OSError, ValueError) as fault:
            raise _mapped(fault, relative) from fault

    def read(self, relative: str, *, limit_bytes: int) -> FileRead:
        """Read a whole regular file of at most ``limit_bytes`` bytes.

        Raises:
            FilesError: FILE_MISSING, LINK_REFUSED, NOT_REGULAR, NOT_A_FOLDER,
                FILE_TOO_LARGE, OUTSIDE_ROOT, NAME_INVALID, FILE_CHANGED (it changed
                during two attempts) or FILE_UNREADABLE.
        """
        try:
            if _is_plain(relative):
                return _read_steady(self._fd, relative, limit_bytes, relative)
            folder, name = self._parent(relative)
            try:
                return _read_steady(folder, name, limit_bytes, relative)
            finally:
                os.close(folder)
        except (OSError, ValueError) as fault:
            raise _mapped(fault, relative) from fault

    def stat(self, relative: str) -> Fingerprint:
        """Return the fingerprint of a regular file without opening it.

        Raises:
            FilesError: as ``read``, without FILE_TOO_LARGE and FILE_CHANGED.
        """
        try:
            if _is_plain(relative):
                return _stat_regular(self._fd, relative, relative)
            folder, name = self._parent(relative)
            try:
                return _stat_regular(folder, name, relative)
            finally:
                os.close(folder)
        except (OSError, ValueError) as fault:
            raise _mapped(fault, relative) from fault

    def entries(self, *, limit_entries: int, stat: bool = False) -> tuple[list[Entry], bool]:
        """List this folder: entries sorted by name, and whether there were more.

        Beyond ``limit_entries`` the rest is not looked at, so which names are kept then
        depends on the folder's own order. Names that are not UTF-8 come
        surrogate-escaped.

        Args:
            limit_entries: how many names are looked at.
            stat: also take every entry's fingerprint.

        Raises:
            FilesError: FILE_UNREADABLE.
        """
        found: list[Entry] = []
        truncated = False
        if self._fd < 0:  # scandir(-1) would list the current folder
            raise FilesError("the folder is closed")
        try:
            with os.scandir(self._fd) as scan:
                for item in scan:
                    if len(found) >= limit_entries:
                        truncated = True
                        break
                    fingerprint = _entry_fingerprint(item) if stat else None
                    found.append(Entry(item.name, _kind(item), fingerprint))
        except OSError as fault:
            raise _mapped(fault, ".") from fault
        found.sort(key=_by_name)
        return found, truncated

    def _parent(self, relative: str) -> tuple[int, str]:
        """Open the folder that holds ``relative``; the caller closes the handle."""
        *above, name = _components(relative) or [""]
        if not name or relative.endswith(("/", "/.")):
            raise FilesError(f"{_shown(relative)} names a folder", code="NAME_INVALID")
        return self._walk(above, relative), name

    def _walk(self, parts: list[str], relative: str) -> int:
        """Open the folder at the end of ``parts``; the caller closes the handle."""
        fd = os.dup(self._fd)
        try:
            for part in parts:
                below = _open_folder(fd, part, relative)
                os.close(fd)
                fd = below
        except BaseException:
            os.close(fd)
            raise
        return fd


def _by_name(entry: Entry) -> str:
    return entry.name


def _is_plain(relative: str) -> bool:
    """Whether the path is one ordinary name (the common case, kept cheap)."""
    return "/" not in relative and relative not in {"", ".", ".."}


def _components(relative: str) -> list[str]:
    """Split a relative path and refuse what could leave the folder."""
    if relative.startswith("/"):
        raise FilesError(f"{_shown(relative)} is an absolute path", code="OUTSIDE_ROOT")
    parts = [part for part in relative.split("/") if part not in {"", "."}]
    if ".." in parts:
        raise FilesError(f"{_shown(relative)} leaves the folder", code="OUTSIDE_ROOT")
    if len(parts) > MAX_DEPTH_ENTRIES:
        raise FilesError(f"{_shown(relative)} is too deep", code="NAME_INVALID")
    return parts


def _open_folder(parent: int, name: str, relative: str) -> int:
    """Open one component; tell a link from a file, which the system does not."""
    try:
        return os.open(name, _FOLDER_FLAGS, dir_fd=parent)
    except OSError as fault:
        if fault.errno in {errno.ENOTDIR, errno.ELOOP}:
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                raise _link_refused(relative) from fault
        raise


def _stat_regular(folder: int, name: str, relative: str) -> Fingerprint:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    _require_regular(found.st_mode, relative)
    return _fingerprint(found)


def _read_steady(folder: int, name: str, limit_bytes: int, relative: str) -> FileRead:
    """Read a file that holds still, trying again when it did not."""
    for _ in range(_ATTEMPTS):
        with suppress(_ChangedWhileReadingError):
            return _read_once(folder, name, limit_bytes, relative)
    raise FilesError(f"{_shown(relative)} changed while it was read", code="FILE_CHANGED")


def _read_once(folder: int, name: str, limit_bytes: int, relative: str) -> FileRead:
    named = os.stat(name, dir_fd=folder, follow_symlinks=False)
    _require_regular(named.st_mode, relative)
    fd = os.open(name, _FILE_FLAGS, dir_fd=folder)
    try:
        opened = os.fstat(fd)
        _require_regular(opened.st_mode, relative)
        if (opened.st_dev, opened.st_ino) != (named.st_dev, named.st_ino):
            raise _ChangedWhileReadingError
        size = opened.st_size
        if size > limit_bytes:
            raise FilesError(
                f"{_shown(relative)} has {size} bytes, more than {limit_bytes}",
                code="FILE_TOO_LARGE",
            )
        data = _read_handle(fd, size + 1)
        after = os.fstat(fd)
    finally:
        os.close(fd)
    # A rename over the file or a write into it moves ctime, so this covers both.
    if len(data) != size or (after.st_size, after.st_mtime_ns, after.st_ctime_ns) != (
        size,
        opened.st_mtime_ns,
        opened.st_ctime_ns,
    ):
        raise _ChangedWhileReadingError
    return FileRead(data=data, fingerprint=_fingerprint(opened))


def _read_handle(fd: int, wanted: int) -> bytes:
    """Read at most ``wanted`` bytes; asking for one more than the size proves the end."""
    data = os.read(fd, min(wanted, _CHUNK_BYTES))
    if not data or len(data) == wanted - 1:
        return data
    chunks = [data]
    got = len(data)
    while got < wanted:
        data = os.read(fd, min(wanted - got, _CHUNK_BYTES))
        if not data:
            break
        chunks.append(data)
        got += len(data)
    return b"".join(chunks)


def _require_regular(mode: int, relative: str) -> None:
    kind = stat.S_IFMT(mode)
    if kind == _REGULAR:
        return
    if kind == stat.S_IFLNK:
        raise _link_refused(relative)
    raise FilesError(f"{_shown(relative)} is not a regular file", code="NOT_REGULAR")


def _link_refused(relative: str) -> FilesError:
    return FilesError(
        f"{_shown(relative)} is, or passes through, a link",
        code="LINK_REFUSED",
        hint="links inside a project are never followed; put the file itself there",
    )


def _fingerprint(found: os.stat_result) -> Fingerprint:
    return Fingerprint(
        size=found.st_size,
        mtime_ns=found.st_mtime_ns,
        ctime_ns=found.st_ctime_ns,
        inode=found.st_ino,
    )


def _kind(item: os.DirEntry[str]) -> EntryKind:
    # Each question may need a stat where the file system gives no type; a name that
    # vanished meanwhile, or that may not be looked at, is "other".
    try:
        if item.is_file(follow_symlinks=False):
            return "file"
        if item.is_dir(follow_symlinks=False):
            return "folder"
        if item.is_symlink():
            return "link"
    except OSError:
        pass
    return "other"


def _entry_fingerprint(item: os.DirEntry[str]) -> Fingerprint | None:
    try:
        found = item.stat(follow_symlinks=False)
    except OSError:
        return None
    return Fingerprint(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _shown(relative: str) -> str:
    """Make a name from an untrusted folder fit for a message."""
    cut = relative if len(relative) <= _SHOWN_CHARS else relative[:_SHOWN_CHARS] + "…"
    return one_line(cut) or "."


_CODES: dict[int, str] = {
    errno.ENOENT: "FILE_MISSING",
    errno.ELOOP: "LINK_REFUSED",
    errno.ENOTDIR: "NOT_A_FOLDER",
    errno.ENAMETOOLONG: "NAME_INVALID",
    errno.EILSEQ: "NAME_INVALID",
    errno.EINVAL: "NAME_INVALID",
    errno.ENXIO: "NOT_REGULAR",
}


def _mapped(fault: OSError | ValueError, relative: str) -> FilesError:
    """Turn the system's error into one of the room's, without its absolute path."""
    if isinstance(fault, ValueError):  # a NUL, or a surrogate that no file name can hold
        return FilesError(f"{_shown(relative)} cannot be a name", code="NAME_INVALID")
    code = _CODES.get(fault.errno or 0, "FILE_UNREADABLE")
    reason = os.strerror(fault.errno) if fault.errno else "unknown reason"
    return FilesError(f"{_shown(relative)}: {reason}", code=code)
