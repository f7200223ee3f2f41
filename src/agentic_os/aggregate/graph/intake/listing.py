"""The folders of a project, listed once each, and whether anything of its graph has changed.

Whole folders are listed instead of asking for each file: one call tells the fingerprints of
everything in them, and that a folder is gone. Links and special files are passed over.

``unchanged`` is what every question pays for: it compares names and fingerprints with what the
store holds, and reads nothing.
"""

import hashlib
import sqlite3

from agentic_os.aggregate.graph.codes import PENDING_CODE
from agentic_os.errors import FilesError
from agentic_os.files.reading import Entry, Fingerprint, Folder

MAX_FOLDER_ENTRIES = 20_000
MAX_FOLDERS_ENTRIES = 20_000
_NAME_SUFFIXES = (".py", ".pyi")
_DIGEST_CHARS = 16


def known_files(connection: sqlite3.Connection, rid: int) -> list[tuple[str, int]]:
    """Return the paths and numbers of a project's files, in order of path."""
    return connection.execute(
        "SELECT path, fid FROM graph_file WHERE rid=? ORDER BY path", (rid,)
    ).fetchall()


class Listing:
    """The folders of one project, each listed at most once."""

    def __init__(self, root: Folder) -> None:
        """List below ``root``."""
        self.root = root
        self._folders: dict[str, dict[str, Entry]] = {}

    def entries(self, folder: str) -> dict[str, Entry]:
        """Return what is in a folder by name; empty where it is missing or refused."""
        known = self._folders.get(folder)
        if known is None:
            known = {} if len(self._folders) >= MAX_FOLDERS_ENTRIES else self._listed(folder)
            self._folders[folder] = known
        return known

    def file(self, path: str) -> Fingerprint | None:
        """Return a regular file's fingerprint; ``None`` for anything else."""
        folder, _, name = path.rpartition("/")
        entry = self.entries(folder).get(name)
        return entry.fingerprint if entry is not None and entry.kind == "file" else None

    def _listed(self, folder: str) -> dict[str, Entry]:
        if folder:
            # A missing parent answers for everything below it.
            above, _, name = folder.rpartition("/")
            entry = self.entries(above).get(name)
            if entry is None or entry.kind != "folder":
                return {}
        try:
            with self.root.descend(folder) as opened:
                found, _ = opened.entries(limit_entries=MAX_FOLDER_ENTRIES, stat=True)
        except FilesError:
            return {}
        return {entry.name: entry for entry in found}


def shadow_names(listing: Listing, folder: str) -> str:
    """List what may shadow an import in a folder: folders, and Python files."""
    names = []
    for entry in listing.entries(folder).values():
        if entry.kind == "folder" and entry.name.isidentifier():
            names.append(f"{entry.name}/")
        elif entry.kind == "file" and entry.name.endswith(_NAME_SUFFIXES):
            stem = entry.name.partition(".")[0]
            # What is no identifier can be no module, and may not even be UTF-8.
            names += [entry.name] if stem.isidentifier() else []
    return "\n".join(names)


def names_digest(listing: Listing, folder: str) -> str:
    """Hash the names and kinds in a folder; empty for a folder with nothing in it."""
    entries = listing.entries(folder)
    if not entries:
        return ""
    text = "\n".join(f"{entry.kind[0]}{entry.name}" for entry in entries.values())
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGEST_CHARS]


def has_pending(connection: sqlite3.Connection, rid: int) -> bool:
    """Whether sources of a project wait to be parsed by a later run."""
    counts = connection.execute("SELECT counts FROM graph_repo WHERE rid=?", (rid,)).fetchone()
    return PENDING_CODE in counts[0]


def unchanged(connection: sqlite3.Connection, rid: int, listing: Listing) -> bool:
    """Whether the sources and manifests of a project are those that the store holds.

    What was there is compared by fingerprint. What was not there, and manifests that may have
    come, show in the names of the folders.
    """
    if has_pending(connection, rid):
        return False
    for table in ("graph_file", "graph_manifest"):
        query = (
            f"SELECT path, size, mtime_ns, ctime_ns, inode, read_at_ns FROM {table}"  # noqa: S608 - two fixed names
            " WHERE rid=? AND size >= 0"
        )
        for path, *numbers, read_at in connection.execute(query, (rid,)):
            seen = listing.file(path)
            if seen is None or list(seen) != numbers or not seen.settled(read_at):
                return False
    folders = connection.execute("SELECT path, digest FROM graph_folder WHERE rid=?", (rid,))
    return all(names_digest(listing, path) == digest for path, digest in folders.fetchall())
