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

import os
import warnings
from pathlib import Path
from typing import Self

from agentic_os.errors import FilesError
from agentic_os.files.closing import SelfClosing
from agentic_os.files.fingerprints import (
    Entry,
    EntryKind,
    EntryTuple,
    FileRead,
    Fingerprint,
)
from agentic_os.files.handles import (
    CLOEXEC,
    DIRECTORY,
    MAX_DEPTH_FOLDERS,
    NOFOLLOW,
    components,
    open_folder,
    read_steady,
    stat_regular,
)
from agentic_os.files.refusals import refusal, shown

__all__ = ["MAX_DEPTH_FOLDERS", "Entry", "EntryKind", "FileRead", "Fingerprint", "Folder"]

_ROOT_FLAGS = os.O_RDONLY | DIRECTORY | CLOEXEC


class Folder(SelfClosing):
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
        if not (NOFOLLOW and DIRECTORY and os.open in os.supports_dir_fd):
            raise FilesError(
                "this platform has no handle-relative opens",
                code="PLATFORM_UNSUPPORTED",
                hint="run on Linux or macOS",
            )
        try:
            return cls(os.open(path, _ROOT_FLAGS))
        except (OSError, ValueError) as fault:
            raise refusal(fault, path.name) from fault

    @property
    def fd(self) -> int:
        """The directory handle; -1 after ``close``."""
        return self._fd

    def close(self) -> None:
        """Close the handle; closing twice is fine."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

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
            return Folder(self._walk(components(relative), relative))
        except (OSError, ValueError) as fault:
            raise refusal(fault, relative) from fault

    def read(self, relative: str, *, limit_bytes: int, seen: Fingerprint | None = None) -> FileRead:
        """Read a whole regular file of at most ``limit_bytes`` bytes.

        Args:
            relative: where it is.
            limit_bytes: a larger file is refused.
            seen: what ``entries`` or ``stat`` said of this file a moment ago, if they did.

        Raises:
            FilesError: FILE_MISSING, LINK_REFUSED, NOT_REGULAR, NOT_A_FOLDER,
                FILE_TOO_LARGE, OUTSIDE_ROOT, NAME_INVALID, FILE_CHANGED (it changed
                during two attempts) or FILE_UNREADABLE.
        """
        try:
            if _is_plain(relative):
                return read_steady(self._fd, relative, limit_bytes, relative, seen)
            folder, name = self._parent(relative)
            try:
                return read_steady(folder, name, limit_bytes, relative, seen)
            finally:
                os.close(folder)
        except (OSError, ValueError) as fault:
            raise refusal(fault, relative) from fault

    def stat(self, relative: str) -> Fingerprint:
        """Return the fingerprint of a regular file without opening it.

        Raises:
            FilesError: as ``read``, without FILE_TOO_LARGE and FILE_CHANGED.
        """
        try:
            if _is_plain(relative):
                return stat_regular(self._fd, relative, relative)
            folder, name = self._parent(relative)
            try:
                return stat_regular(folder, name, relative)
            finally:
                os.close(folder)
        except (OSError, ValueError) as fault:
            raise refusal(fault, relative) from fault

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
            raise refusal(fault, ".") from fault
        found.sort(key=_by_name)
        return found, truncated

    def outline(self, *, limit_entries: int) -> list[EntryTuple]:
        """Return what ``entries`` with ``stat`` says, whole or not at all, to be compared.

        Raises:
            FilesError: FILE_UNREADABLE, or TOO_MANY_ENTRIES beyond ``limit_entries``.
        """
        found: list[EntryTuple] = []
        if self._fd < 0:
            raise FilesError("the folder is closed")
        try:
            with os.scandir(self._fd) as scan:
                for item in scan:
                    if len(found) >= limit_entries:
                        raise FilesError("too many entries", code="TOO_MANY_ENTRIES")
                    try:
                        seen = item.stat(follow_symlinks=False)
                    except OSError:
                        found.append((item.name, _kind(item), None))
                        continue
                    kind = "file" if item.is_file(follow_symlinks=False) else _kind(item)
                    state = (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)
                    found.append((item.name, kind, state))
        except OSError as fault:
            raise refusal(fault, ".") from fault
        found.sort()
        return found

    def _parent(self, relative: str) -> tuple[int, str]:
        """Open the folder that holds ``relative``; the caller closes the handle."""
        *above, name = components(relative) or [""]
        if not name or relative.endswith(("/", "/.")):
            raise FilesError(f"{shown(relative)} names a folder", code="NAME_INVALID")
        return self._walk(above, relative), name

    def _walk(self, parts: list[str], relative: str) -> int:
        """Open the folder at the end of ``parts``; the caller closes the handle."""
        if not parts:
            return os.dup(self._fd)
        fd = open_folder(self._fd, parts[0], relative)
        try:
            for part in parts[1:]:
                below = open_folder(fd, part, relative)
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
