"""When a file, or a whole project, is the same as when it was last read.

Design section 4: a file is unchanged when its size, times and inode are, unless one of its times
lies within two seconds of its last reading; then it is read and hashed again, since a write
within the clock's grain would not show.
"""

import hashlib
from typing import NamedTuple

import msgspec

from agentic_os.aggregate.surfaces.sweep import Candidate, outline
from agentic_os.errors import FilesError
from agentic_os.files.reading import Fingerprint, Folder
from agentic_os.registry.project import Project


class KnownFile(NamedTuple):
    """One row of ``file``; a tuple, for every one of them is looked at in each run."""

    pk: int
    role: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    sha256: str
    read_at_ns: int


def is_unchanged(row: KnownFile, candidate: Candidate) -> bool:
    """Whether a file need not be read again; see the module."""
    seen = candidate.fingerprint
    return (
        seen == (row.size, row.mtime_ns, row.ctime_ns, row.inode)
        and row.role == candidate.role
        and seen.settled(row.read_at_ns)
    )


class Seen:
    """What a sweep saw, as a digest that the next one can be compared with.

    There is a digest only where a project that looks the same tomorrow is the same: every file
    was read in the state it was listed in, and everything had been quiet for two seconds by
    then.
    """

    __slots__ = ("_rows", "_since_ns", "steady")

    def __init__(self, *, since_ns: int) -> None:
        """Begin a sweep; ``since_ns`` is the time before it, nanoseconds since the epoch."""
        self._since_ns = since_ns
        self._rows: list[object] = []
        self.steady = True

    def note(self, path: str, seen: object) -> None:
        """Keep one thing that was looked at; see ``sweep.Note``."""
        self._rows.append((path, seen))
        if isinstance(seen, Fingerprint):
            self._settle(seen)
        elif isinstance(seen, list):
            for entry in seen:
                self._settle(entry.fingerprint)

    def _settle(self, seen: Fingerprint | None) -> None:
        if seen is None or not seen.settled(self._since_ns):
            self.steady = False

    def digest(self) -> bytes | None:
        """Return the digest, ``None`` where it would not hold."""
        return _digest(self._rows) if self.steady else None


def digest_now(project: Project) -> bytes | None:
    """Return a project's digest as it is now, ``None`` where it cannot be looked at whole.

    It may be compared with what ``Seen`` kept, whose files were quiet by then: a write since
    that time shows in it.
    """
    rows: list[object] = []
    try:
        with Folder.open(project.folder) as folder:
            whole = outline(project, folder, lambda path, seen: rows.append((path, seen)))
    except FilesError:
        return None
    return _digest(rows) if whole else None


def _digest(rows: list[object]) -> bytes | None:
    try:
        packed = msgspec.msgpack.encode(rows)
    except UnicodeEncodeError:
        return None  # a name that is not UTF-8: the sweep says so each time
    return hashlib.blake2b(packed, digest_size=16).digest()
