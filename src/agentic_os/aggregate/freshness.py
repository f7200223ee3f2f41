"""When a file, or a whole project, is the same as when it was last read.

Design section 4: a file is unchanged when its size, times and inode are, unless one of its times
lies within two seconds of its last reading; then it is read and hashed again, since a write
within the clock's grain would not show.
"""

import hashlib
import time
from typing import NamedTuple

import msgspec

from agentic_os.aggregate.sweep import Candidate, Unread, sweep
from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder
from agentic_os.registry import Project

RACY_NS = 2_000_000_000
"""A file whose times lie this close to its last reading is hashed again (design section 4)."""


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
        row.size == seen.size
        and row.mtime_ns == seen.mtime_ns
        and row.ctime_ns == seen.ctime_ns
        and row.inode == seen.inode
        and row.role == candidate.role
        and row.read_at_ns - max(seen.mtime_ns, seen.ctime_ns) > RACY_NS
    )


class Seen:
    """What a sweep saw, as a digest that the next one can be compared with.

    There is a digest only where a file that looks the same tomorrow is the same: every file
    was read in the state it was listed in, and had been quiet for two seconds by then.
    """

    __slots__ = ("_quiet_since_ns", "_rows", "steady")

    def __init__(self, *, since_ns: int) -> None:
        """Begin a sweep; ``since_ns`` is the time before it, nanoseconds since the epoch."""
        self._quiet_since_ns = since_ns - RACY_NS
        self._rows: list[object] = []
        self.steady = True

    def add(self, found: Candidate | Unread) -> None:
        """Note one thing that a sweep yielded."""
        if isinstance(found, Unread):
            item = found.diagnostic
            self._rows.append((item.code, item.path, item.message))
            return
        seen = found.fingerprint
        if seen.mtime_ns >= self._quiet_since_ns or seen.ctime_ns >= self._quiet_since_ns:
            self.steady = False
        self._rows.append((found.role, found.path, seen))

    def digest(self) -> bytes | None:
        """The digest; nothing where it would not hold."""
        if not self.steady:
            return None
        return hashlib.blake2b(msgspec.msgpack.encode(self._rows), digest_size=16).digest()


def digest_now(project: Project) -> bytes | None:
    """The digest of a project as it is now; nothing where its folder cannot be opened."""
    seen = Seen(since_ns=time.time_ns())
    try:
        with Folder.open(project.folder) as folder:
            for found in sweep(project, folder):
                seen.add(found)
    except FilesError:
        return None
    return seen.digest()
