"""Steps on open folder handles: one component, one regular file, at a time.

The rules are those of ``reading``; here is how they are kept. What these functions let
through as ``OSError`` or ``ValueError``, ``Folder`` turns into the room's codes.
"""

import errno
import os
import stat

from agentic_os.errors import FilesError
from agentic_os.files.fingerprints import FileRead, Fingerprint, fingerprint_of
from agentic_os.files.refusals import link_refused, shown

MAX_DEPTH_FOLDERS = 128
"""Components of one relative path; deeper paths are refused as ``NAME_INVALID``."""

_CHUNK_BYTES = 64 * 1024 * 1024  # one read(2) asks for no more than this
_ATTEMPTS = 2

# Absent on some platforms, where Folder.open refuses before they are used.
NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)
CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)
_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
READ_FLAGS = os.O_RDONLY | NOFOLLOW | _NONBLOCK | CLOEXEC
_FOLDER_FLAGS = os.O_RDONLY | DIRECTORY | NOFOLLOW | CLOEXEC
_REGULAR = stat.S_IFREG


def open_regular(path: str, flags: int) -> int:
    """Open a regular file, as an ``opener``: no link is followed, and no pipe is waited for.

    Raises:
        OSError: it cannot be opened, or is something else.
    """
    fd = os.open(path, flags | NOFOLLOW | _NONBLOCK | CLOEXEC, 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file")
    return fd


class _ChangedWhileReadingError(Exception):
    """The file did not hold still; never leaves this module."""


def components(relative: str) -> list[str]:
    """Split a relative path and refuse what could leave the folder."""
    if relative.startswith("/"):
        raise FilesError(f"{shown(relative)} is an absolute path", code="OUTSIDE_ROOT")
    parts = [part for part in relative.split("/") if part not in {"", "."}]
    if ".." in parts:
        raise FilesError(f"{shown(relative)} leaves the folder", code="OUTSIDE_ROOT")
    if len(parts) > MAX_DEPTH_FOLDERS:
        raise FilesError(f"{shown(relative)} is too deep", code="NAME_INVALID")
    return parts


def open_folder(parent: int, name: str, relative: str) -> int:
    """Open one component; tell a link from a file, which the system does not."""
    try:
        return os.open(name, _FOLDER_FLAGS, dir_fd=parent)
    except OSError as fault:
        if fault.errno in {errno.ENOTDIR, errno.ELOOP}:
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                raise link_refused(relative) from fault
        raise


def stat_regular(folder: int, name: str, relative: str) -> Fingerprint:
    """Return the fingerprint of a regular file without opening it."""
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    _require_regular(found.st_mode, relative)
    return fingerprint_of(found)


def read_steady(
    folder: int, name: str, limit_bytes: int, relative: str, seen: Fingerprint | None = None
) -> FileRead:
    """Read a file that holds still, trying again when it did not.

    Args:
        folder: the open folder.
        name: the file's name in it.
        limit_bytes: a larger file is refused.
        relative: how a fault names the file.
        seen: what a listing of the folder said of this regular file a moment ago; spares
            looking at the name once more.
    """
    inode = seen.inode if seen is not None else None
    for _ in range(_ATTEMPTS):
        try:
            return _read_once(folder, name, limit_bytes, relative, inode)
        except _ChangedWhileReadingError:
            inode = None  # another file has the name now: look at it first
    raise FilesError(f"{shown(relative)} changed while it was read", code="FILE_CHANGED")


def _read_once(
    folder: int, name: str, limit_bytes: int, relative: str, inode: int | None
) -> FileRead:
    if inode is None:
        named = os.stat(name, dir_fd=folder, follow_symlinks=False)
        _require_regular(named.st_mode, relative)
        inode = named.st_ino
    fd = os.open(name, READ_FLAGS, dir_fd=folder)
    try:
        opened = os.fstat(fd)
        _require_regular(opened.st_mode, relative)
        if opened.st_ino != inode:
            raise _ChangedWhileReadingError
        size = opened.st_size
        if size > limit_bytes:
            raise FilesError(
                f"{shown(relative)} has {size} bytes, more than {limit_bytes}",
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
    return FileRead(data=data, fingerprint=fingerprint_of(opened))


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
        raise link_refused(relative)
    raise FilesError(f"{shown(relative)} is not a regular file", code="NOT_REGULAR")
