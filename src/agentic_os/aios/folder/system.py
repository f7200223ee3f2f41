"""What ``aios.writing`` asks of the operating system, one call a method.

``System`` is handed in, so that a test can count the calls, stop the process at any of them
or fill the disk. Every name is relative to an open folder handle and no link is followed.
"""

import os
from typing import Final

_CREATE: Final = os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER: Final = (
    os.O_RDONLY
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


class System:
    """The system calls that change the disk."""

    def create(self, folder: int, name: str, mode: int) -> int:
        """Create a new file of exactly ``mode`` and return its handle."""
        handle = os.open(name, os.O_WRONLY | _CREATE, 0o600, dir_fd=folder)
        os.fchmod(handle, mode)
        return handle

    def open_appending(self, folder: int, name: str) -> int:
        """Open an existing file for appending."""
        flags = os.O_RDWR | os.O_APPEND | (_CREATE & ~(os.O_CREAT | os.O_EXCL))
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0), dir_fd=folder)

    def write(self, handle: int, data: bytes | memoryview) -> int:
        """Write some of ``data`` and return how many bytes."""
        return os.write(handle, data)

    def truncate(self, handle: int, size: int) -> None:
        """Cut a file back to ``size`` bytes."""
        os.ftruncate(handle, size)

    def narrow(self, handle: int, mode: int) -> None:
        """Give an open file exactly ``mode``."""
        os.fchmod(handle, mode)

    def sync(self, handle: int) -> None:
        """Bring a file or a folder onto the disk."""
        os.fsync(handle)

    def rename(self, folder: int, name: str, to_folder: int, to_name: str) -> None:
        """Rename over whatever has the new name."""
        os.rename(name, to_name, src_dir_fd=folder, dst_dir_fd=to_folder)

    def link(self, folder: int, name: str, to_folder: int, to_name: str) -> None:
        """Give a file a second name that must be free."""
        os.link(name, to_name, src_dir_fd=folder, dst_dir_fd=to_folder, follow_symlinks=False)

    def unlink(self, folder: int, name: str) -> None:
        """Take a name away."""
        os.unlink(name, dir_fd=folder)

    def make_folder(self, folder: int, name: str, mode: int) -> None:
        """Make a folder of exactly ``mode``."""
        os.mkdir(name, mode, dir_fd=folder)
        handle = os.open(name, _FOLDER, dir_fd=folder)
        try:
            os.fchmod(handle, mode)
        finally:
            os.close(handle)

    def remove_folder(self, folder: int, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(name, dir_fd=folder)
