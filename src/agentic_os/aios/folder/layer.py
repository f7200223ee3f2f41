"""What the AIOS readers ask of the operating system, and the stamps that they compare.

``FileLayer`` is the only door to the disk in this room. It is handed in, so a test can
prove that a request touched nothing, or change a file between two steps of a read.
Every open is relative to a folder handle and follows no link (``agentic_os.files``);
there is no path-only fallback.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from agentic_os.aios.folder.faults import (
    NOT_REGULAR,
    READ_FAILED,
    READ_UNAVAILABLE,
    UNSAFE_PATH,
    fault,
)
from agentic_os.errors import AiosError, FilesError
from agentic_os.files.reading import Entry, Folder

_FILE_FLAGS: int = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_FOLDER_CODES = {
    "LINK_REFUSED": UNSAFE_PATH,
    "NOT_A_FOLDER": UNSAFE_PATH,
    "OUTSIDE_ROOT": UNSAFE_PATH,
    "NAME_INVALID": UNSAFE_PATH,
    "NOT_REGULAR": NOT_REGULAR,
    "PLATFORM_UNSUPPORTED": READ_UNAVAILABLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """One observation of a file or folder; equal stamps mean nothing was seen to change.

    Times are nanoseconds since the epoch, ``size`` is bytes, ``links`` the hard-link
    count, ``mode`` type and permission bits.
    """

    device: int
    inode: int
    mode: int
    links: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.mode)

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self.mode)

    def same_object(self, other: "Stamp") -> bool:
        """Whether both are the same object of the same type, whatever its times."""
        return (self.device, self.inode, self.mode) == (other.device, other.inode, other.mode)


def stamp_of(found: os.stat_result) -> Stamp:
    """Make the stamp of a stat result."""
    return Stamp(
        device=found.st_dev,
        inode=found.st_ino,
        mode=found.st_mode,
        links=found.st_nlink,
        size=found.st_size,
        mtime_ns=found.st_mtime_ns,
        ctime_ns=found.st_ctime_ns,
    )


class FileLayer:
    """The system calls of this room, each path-free in its errors.

    Methods raise ``AiosError`` with a read-fault code; a name that does not exist is
    ``None``, never an error.
    """

    def look_at(self, path: Path) -> Stamp | None:
        """Stamp an absolute path of the person's own without following its last link."""
        try:
            return stamp_of(os.lstat(path))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise fault(READ_FAILED) from error

    def real_path(self, path: Path) -> Path:
        """Resolve an absolute path of the person's own, links and all."""
        try:
            return Path(os.path.realpath(path, strict=True))
        except (OSError, ValueError) as error:
            raise fault(READ_FAILED) from error

    def link_target(self, path: Path) -> Path:
        """Read the link that the person configured as root; relative targets are joined."""
        try:
            return path.parent / os.readlink(path)  # noqa: PTH115 - one error mapping for all
        except OSError as error:
            raise fault(READ_FAILED) from error

    def open_root(self, path: Path) -> Folder:
        """Open the root folder; the caller closes it."""
        try:
            return Folder.open(path)
        except FilesError as error:
            raise _translated(error) from error

    def open_folder(self, parent: Folder, name: str) -> Folder | None:
        """Open one folder by name below ``parent``; the caller closes it."""
        try:
            return parent.descend(name)
        except FilesError as error:
            if error.code == "FILE_MISSING":
                return None
            raise _translated(error) from error

    def stamp_folder(self, folder: Folder) -> Stamp:
        """Stamp an open folder."""
        try:
            return stamp_of(os.fstat(folder.fd))
        except OSError as error:
            raise fault(READ_FAILED) from error

    def stamp(self, folder: Folder, name: str) -> Stamp | None:
        """Stamp a name in ``folder`` without following it."""
        try:
            return stamp_of(os.stat(name, dir_fd=folder.fd, follow_symlinks=False))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise fault(READ_FAILED) from error

    def names(self, folder: Folder, *, limit_entries: int) -> tuple[list[Entry], bool]:
        """List ``folder`` sorted by name, and whether it held more than the limit."""
        try:
            return folder.entries(limit_entries=limit_entries)
        except FilesError as error:
            raise _translated(error) from error

    def open_file(self, folder: Folder, name: str) -> int | None:
        """Open a file without following a link and without waiting; the caller closes it."""
        try:
            return os.open(name, _FILE_FLAGS, dir_fd=folder.fd)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise fault(UNSAFE_PATH) from error

    def stamp_file(self, handle: int) -> Stamp:
        """Stamp an open file."""
        try:
            return stamp_of(os.fstat(handle))
        except OSError as error:
            raise fault(READ_FAILED) from error

    def read(self, handle: int, count: int) -> bytes:
        """Read at most ``count`` bytes; fewer only at the end of the file."""
        chunks: list[bytes] = []
        wanted = count
        try:
            while wanted > 0:
                data = os.read(handle, wanted)
                if not data:
                    break
                chunks.append(data)
                wanted -= len(data)
        except OSError as error:
            raise fault(READ_FAILED) from error
        return b"".join(chunks)

    def close(self, handle: int) -> None:
        """Close an open file."""
        os.close(handle)


def _translated(error: FilesError) -> AiosError:
    return fault(_FOLDER_CODES.get(error.code, READ_FAILED))
