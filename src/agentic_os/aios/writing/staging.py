"""Steps of a transaction below the root: private files, renames and links between folders.

For stores that publish several files at once; each step is one call of the system.
"""

import os
from contextlib import suppress

from agentic_os.aios.writing.writer import PRIVATE, FolderWriter


def create(writer: FolderWriter, relative: str, data: bytes) -> None:
    """Write a new private file, synced; it is no one's target yet."""
    folder, _, name = relative.rpartition("/")
    with writer.folder(folder) as handle:
        file = writer.system.create(handle, name, PRIVATE)
        try:
            left = memoryview(data)
            while left:
                left = left[writer.system.write(file, left) :]
            writer.system.sync(file)
        finally:
            os.close(file)


def sync(writer: FolderWriter, folder: str) -> None:
    """Bring the names of a folder onto the disk."""
    with writer.folder(folder) as handle:
        writer.system.sync(handle)


def rename(writer: FolderWriter, relative: str, to: str) -> None:
    """Rename a file or a folder over whatever has the new name."""
    folder, _, name = relative.rpartition("/")
    to_folder, _, to_name = to.rpartition("/")
    with writer.folder(folder) as source, writer.folder(to_folder) as target:
        writer.system.rename(source, name, target, to_name)
        writer.system.sync(target)
        writer.system.sync(source)


def link(writer: FolderWriter, relative: str, to: str) -> None:
    """Give a file a second name that must be free."""
    folder, _, name = relative.rpartition("/")
    to_folder, _, to_name = to.rpartition("/")
    with writer.folder(folder) as source, writer.folder(to_folder) as target:
        writer.system.link(source, name, target, to_name)
        writer.system.sync(target)


def unlink(writer: FolderWriter, relative: str) -> None:
    """Take a name away; a missing one is fine."""
    folder, _, name = relative.rpartition("/")
    with writer.folder(folder) as handle, suppress(FileNotFoundError):
        writer.system.unlink(handle, name)


def narrow(writer: FolderWriter, relative: str) -> None:
    """Make an existing file private."""
    folder, _, name = relative.rpartition("/")
    with writer.folder(folder) as handle:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
        try:
            writer.system.narrow(file, PRIVATE)
        finally:
            os.close(file)


def remove_tree(writer: FolderWriter, relative: str) -> None:
    """Remove a folder of files; what is no file stays, and the folder with it."""
    for name in writer.names(relative):
        unlink(writer, f"{relative}/{name}")
    parent, _, name = relative.rpartition("/")
    with writer.folder(parent) as handle, suppress(OSError):
        writer.system.remove_folder(handle, name)
