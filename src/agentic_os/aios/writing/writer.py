"""The contained writer: every change of the AIOS folder goes through here.

Invariants (DotAIOS convention, rules for every writer):

- Parents are walked from a handle of the root, one by one, and no link is followed; the root
  itself may be reached through links of the person's own.
- A file is replaced by a complete, synced sibling that is renamed over it, after it was
  compared, bytes and stamp, with what the plan saw. A new file gets its name by a link that
  fails where the name is taken. A reader sees the old bytes or the new ones, never none.
- A target that is a link, a special file or has several names is refused. Two names of one
  file that a stopped process left are made one where that is proved.
- A line is appended in one write; a torn tail is closed first; a write that the disk cut
  short is taken back.
"""

import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from agentic_os.aios.folder.layer import FileLayer, Stamp, stamp_of
from agentic_os.aios.folder.root import open_root
from agentic_os.aios.folder.system import System
from agentic_os.aios.writing.faults import CONFLICT, UNSAFE_TARGET, WRITE_FAILED, write_fault
from agentic_os.errors import AiosError, FilesError
from agentic_os.files.closing import SelfClosing
from agentic_os.files.handles import READ_FLAGS
from agentic_os.files.reading import Folder

CONTENT: Final = 0o644
PRIVATE: Final = 0o600
"""Modes of new files: what the person reads, and the program's own state."""
CONTENT_FOLDER: Final = 0o755
PRIVATE_FOLDER: Final = 0o700
FILE_BYTES: Final = 16 * 1024 * 1024
"""A larger file is not replaced."""
FOLDER_ENTRIES: Final = 50_000
ABANDONED_SECONDS: Final = 60 * 60
"""An unfinished sibling that is older is a stopped writer's."""

_PARTIAL = re.compile(
    r"\.(.+)\.[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.tmp"
)
_PRIVATE_PLACES: Final = (".dotaios", "memory/sessions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a target was when it was looked at; ``stamp`` is ``None`` where it is missing."""

    data: bytes
    stamp: Stamp | None

    @property
    def exists(self) -> bool:
        """Whether there was a file."""
        return self.stamp is not None


MISSING: Final = Seen(data=b"", stamp=None)


class FolderWriter(SelfClosing):
    """One AIOS folder, open for one change. Use it as a context manager.

    Relative paths are POSIX.

    Args:
        root: the folder as the person named it, absolute.
        system: the calls that change the disk.
        files: the calls that look at it.

    Raises:
        AiosError: DOTAIOS_FOLDER_MISSING, or a read fault.
    """

    __slots__ = ("_folder", "_root", "system")

    def __init__(
        self, root: Path, *, system: System | None = None, files: FileLayer | None = None
    ) -> None:
        """Open the root."""
        self.system = system or System()
        self._root, self._folder = open_root(root, files or FileLayer())

    def close(self) -> None:
        """Close the root; closing twice is fine."""
        self._folder.close()

    @classmethod
    def making(cls, root: Path, *, system: System | None = None) -> "FolderWriter":
        """Open a root folder that is made where it is missing; it may not be a link.

        Raises:
            AiosError: DOTAIOS_WRITE_UNSAFE_TARGET; DOTAIOS_WRITE_FAILED.
        """
        if root.is_symlink() or (root.exists() and not root.is_dir()):
            raise write_fault(UNSAFE_TARGET, root.name)
        if not root.exists():
            with cls(root.parent, system=system) as above:
                above.make_folder(root.name)
        return cls(root, system=system)

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode of the real root."""
        return (self._root.stamp.device, self._root.stamp.inode)

    @property
    def real_root(self) -> Path:
        """Where the root really is; for containment decisions, never for messages."""
        return self._root.real

    def see(self, relative: str, *, limit_bytes: int = FILE_BYTES, shared: bool = False) -> Seen:
        """Read a target whole; a missing one, or a missing folder, is ``MISSING``.

        Args:
            relative: the file.
            limit_bytes: a larger one is refused.
            shared: take a file with a second name as well, which another writer may be about
                to replace; such a file is only read.

        Raises:
            AiosError: DOTAIOS_WRITE_UNSAFE_TARGET; DOTAIOS_WRITE_FAILED.
        """
        with self._found(relative) as (folder, name):
            if folder is None:
                return MISSING
            stamp = _stamp(folder, name) if shared else self._settled(folder, name, relative)
            if stamp is None:
                return MISSING
            if stamp.size > limit_bytes or not stamp.is_file:
                raise write_fault(UNSAFE_TARGET, relative)
            return Seen(data=_read(folder, name, stamp.size), stamp=stamp)

    def put(self, relative: str, data: bytes, *, expected: Seen, mode: int | None = None) -> None:
        """Replace or create a file, if it still is what was seen.

        Args:
            relative: the file.
            data: its new bytes.
            expected: what ``see`` said.
            mode: the mode of a new file; state is private, content is not. A replaced file
                keeps its mode unless one is given.

        Raises:
            AiosError: DOTAIOS_WRITE_CONFLICT with the target untouched;
                DOTAIOS_WRITE_UNSAFE_TARGET; DOTAIOS_WRITE_FAILED.
        """
        new = _new_mode(relative) if mode is None else mode
        with self._made(relative) as (folder, name):
            if expected.stamp is None:
                self._publish(folder, name, relative, data, new)
            else:
                kept = stat.S_IMODE(expected.stamp.mode) if mode is None else mode
                self._replace(folder, name, relative, data, expected, kept)

    def append(self, relative: str, lines: bytes, *, mode: int | None = None) -> None:
        """Append whole lines in one write; the caller holds the file's lock.

        Raises:
            AiosError: DOTAIOS_WRITE_UNSAFE_TARGET; DOTAIOS_WRITE_FAILED, the file as before.
        """
        new = _new_mode(relative) if mode is None else mode
        with self._made(relative) as (folder, name):
            if self._settled(folder, name, relative) is None:
                self._publish(folder, name, relative, lines, new)
                return
            handle = self.system.open_appending(folder, name)
            try:
                found = os.fstat(handle)
                if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
                    raise write_fault(UNSAFE_TARGET, relative)
                torn = found.st_size and os.pread(handle, 1, found.st_size - 1) != b"\n"
                data = b"\n" + lines if torn else lines
                self._append_whole(handle, data, found.st_size)
            finally:
                os.close(handle)

    def remove(self, relative: str, *, expected: Seen) -> None:
        """Remove a file, if it still is what was seen.

        Raises:
            AiosError: as ``put``.
        """
        with self._found(relative) as (folder, name):
            if folder is None:
                raise write_fault(CONFLICT, relative)
            self._require_same(folder, name, relative, expected)
            self.system.unlink(folder, name)
            self.system.sync(folder)

    def drop_partials(self, folder: str, start: str = "") -> None:
        """Remove the unfinished siblings, of names with that start, that a stopped writer left.

        The caller holds the lock of those files.
        """
        for name in self.names(folder):
            if is_partial(name) and name.startswith(f".{start}"):
                path = f"{folder}/{name}" if folder else name
                with self._found(path) as (handle, _):
                    if handle is not None:
                        self.system.unlink(handle, name)

    def make_folder(self, relative: str) -> None:
        """Make a folder and those above it; existing ones stay as they are."""
        with self._made(f"{relative}/x"):
            pass

    def names(self, relative: str) -> list[str]:
        """List the names of a folder, sorted; empty where it is missing."""
        with self._found(f"{relative}/x" if relative else "x") as (folder, _):
            if folder is None:
                return []
            found = sorted(os.listdir(folder))  # noqa: PTH208 - by handle
            if len(found) > FOLDER_ENTRIES:
                raise write_fault(WRITE_FAILED, relative)
            return found

    def stamp(self, relative: str) -> Stamp | None:
        """Stamp a name without following it; ``None`` where it is missing."""
        with self._found(relative) as (folder, name):
            return None if folder is None else _stamp(folder, name)

    def owner(self, relative: str) -> int:
        """Return the user id that owns a name."""
        with self._found(relative) as (folder, name):
            if folder is None:
                return -1
            return os.stat(name, dir_fd=folder, follow_symlinks=False).st_uid

    @contextmanager
    def folder(self, relative: str) -> Iterator[int]:
        """Open a folder below the root, made where it is missing, for steps of a transaction."""
        with self._made(f"{relative}/x") as (handle, _):
            yield handle

    def _append_whole(self, handle: int, data: bytes, size: int) -> None:
        """Append in one write; take back what a full disk cut short."""
        try:
            if self.system.write(handle, data) == len(data):
                self.system.sync(handle)
                return
        except OSError:
            self.system.truncate(handle, size)
            raise
        self.system.truncate(handle, size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _publish(self, folder: int, name: str, relative: str, data: bytes, mode: int) -> None:
        partial = self._partial(folder, name, data, mode)
        try:
            self.system.link(folder, partial, folder, name)
        except FileExistsError:
            raise write_fault(CONFLICT, relative) from None
        finally:
            with suppress(FileNotFoundError):
                self.system.unlink(folder, partial)
        self.system.sync(folder)

    def _replace(
        self, folder: int, name: str, relative: str, data: bytes, expected: Seen, mode: int
    ) -> None:
        partial = self._partial(folder, name, data, mode)
        try:
            self._require_same(folder, name, relative, expected)
            self.system.rename(folder, partial, folder, name)
        except BaseException:
            with suppress(OSError):
                self.system.unlink(folder, partial)
            raise
        self.system.sync(folder)

    def _partial(self, folder: int, name: str, data: bytes, mode: int) -> str:
        """Write a complete, synced sibling and return its name."""
        self._drop_abandoned(folder)
        partial = f".{name}.{uuid4()}.tmp"
        handle = self.system.create(folder, partial, mode)
        try:
            left = memoryview(data)
            while left:
                left = left[self.system.write(handle, left) :]
            self.system.sync(handle)
        except BaseException:
            with suppress(OSError):
                self.system.unlink(folder, partial)
            raise
        finally:
            os.close(handle)
        return partial

    def _drop_abandoned(self, folder: int) -> None:
        """Remove the siblings that stopped writers left; a young one may be somebody's."""
        for name in os.listdir(folder):
            if name.endswith(".tmp") and is_partial(name):
                stamp = _stamp(folder, name)
                if stamp and time.time() - stamp.mtime_ns / 1e9 > ABANDONED_SECONDS:
                    with suppress(FileNotFoundError):
                        self.system.unlink(folder, name)

    def _require_same(self, folder: int, name: str, relative: str, expected: Seen) -> None:
        """Refuse a target that is not, by stamp and bytes, what was seen."""
        stamp = self._settled(folder, name, relative)
        if stamp is None or stamp != expected.stamp:
            raise write_fault(CONFLICT, relative)
        if _read(folder, name, stamp.size) != expected.data:
            raise write_fault(CONFLICT, relative)

    def _settled(self, folder: int, name: str, relative: str) -> Stamp | None:
        """Stamp a target; make two names that a stopped writer left one; refuse the unsafe."""
        stamp = _stamp(folder, name)
        if stamp is not None and stamp.is_file and stamp.links > 1:
            self._drop_second_name(folder, name, stamp)
            stamp = _stamp(folder, name)
        if stamp is not None and not (stamp.is_file and stamp.links == 1):
            raise write_fault(UNSAFE_TARGET, relative)
        return stamp

    def _drop_second_name(self, folder: int, name: str, stamp: Stamp) -> None:
        partials = [
            other
            for other in os.listdir(folder)
            if (found := _PARTIAL.fullmatch(other)) and found.group(1) == name
        ]
        same = [one for one in partials if _stamp(folder, one) == stamp]
        if len(same) == 1 and stamp.links == 2:  # noqa: PLR2004 - the name and its partial
            self.system.unlink(folder, same[0])
            self.system.sync(folder)

    @contextmanager
    def _found(self, relative: str) -> Iterator[tuple[int | None, str]]:
        """Open the folder of a path; ``None`` where it is missing."""
        with self._walked(relative, make=False) as (folder, name):
            yield None if folder is None else folder.fd, name

    @contextmanager
    def _made(self, relative: str) -> Iterator[tuple[int, str]]:
        """Open the folder of a path, made where it is missing."""
        with self._walked(relative, make=True) as (folder, name):
            if folder is None:
                raise write_fault(WRITE_FAILED, relative)
            yield folder.fd, name

    @contextmanager
    def _walked(self, relative: str, *, make: bool) -> Iterator[tuple[Folder | None, str]]:
        *above, name = _parts(relative)
        opened: list[Folder] = [self._folder]
        try:
            for depth, part in enumerate(above, 1):
                mode = _folder_mode("/".join(above[:depth])) if make else None
                folder = self._below(opened[-1], part, relative, mode)
                if folder is None:
                    break
                opened.append(folder)
            yield opened[-1] if len(opened) > len(above) else None, name
        except OSError as error:
            raise _failed(error, relative) from error
        finally:
            for one in opened[1:]:
                one.close()

    def _below(self, folder: Folder, part: str, relative: str, make: int | None) -> Folder | None:
        for _ in range(2):
            try:
                return folder.descend(part)
            except FilesError as error:
                if error.code != "FILE_MISSING":
                    raise write_fault(UNSAFE_TARGET, relative) from error
                if make is None:
                    return None
            with suppress(FileExistsError):
                self.system.make_folder(folder.fd, part, make)
                self.system.sync(folder.fd)
        raise write_fault(WRITE_FAILED, relative)


def is_partial(name: str) -> bool:
    """Whether a name is that of an unfinished sibling."""
    return _PARTIAL.fullmatch(name) is not None


def _parts(relative: str) -> list[str]:
    parts = relative.split("/")
    if "\0" in relative or any(part in {"", ".", ".."} for part in parts):
        raise write_fault(UNSAFE_TARGET)
    return parts


def _is_private(relative: str) -> bool:
    return relative.startswith(tuple(f"{place}/" for place in _PRIVATE_PLACES)) or (
        relative in _PRIVATE_PLACES
    )


def _new_mode(relative: str) -> int:
    return PRIVATE if _is_private(relative) else CONTENT


def _folder_mode(relative: str) -> int:
    return PRIVATE_FOLDER if _is_private(relative) else CONTENT_FOLDER


def _stamp(folder: int, name: str) -> Stamp | None:
    try:
        return stamp_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return None


def _read(folder: int, name: str, size: int) -> bytes:
    handle = os.open(name, READ_FLAGS, dir_fd=folder)
    try:
        chunks: list[bytes] = []
        while chunk := os.read(handle, size + 1):
            chunks.append(chunk)
        return b"".join(chunks)
    finally:
        os.close(handle)


def _failed(error: OSError, relative: str) -> AiosError:
    made = write_fault(WRITE_FAILED, relative)
    if error.errno:
        made.message = f"{made.message}: {os.strerror(error.errno)}"
    return made
