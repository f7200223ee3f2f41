"""What is known of a file: its fingerprint, its bytes, its name in a folder."""

import hashlib
import os
from typing import Literal, NamedTuple

SETTLE_NS = 2_000_000_000
"""A write within this time of another may leave a file's times as they were (design section 4)."""

EntryKind = Literal["file", "folder", "link", "other"]


class Fingerprint(NamedTuple):
    """What identifies a file's content without reading it (design section 4).

    The device is implied by the folder. Times are nanoseconds since the epoch. A tuple,
    like ``Entry``: a sweep makes one of each for every file of the fleet.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    def settled(self, read_at_ns: int) -> bool:
        """Whether a file read at this time shows every later write in its fingerprint.

        Clocks of file systems tick slowly: a file that was written just before it was read could
        be written again within the same tick.
        """
        return read_at_ns - max(self.mtime_ns, self.ctime_ns) > SETTLE_NS


class FileRead(NamedTuple):
    """The whole bytes of a file and the fingerprint they had when read."""

    data: bytes
    fingerprint: Fingerprint

    @property
    def sha256(self) -> str:
        """Lower-case hex SHA-256 of the bytes, computed at each use."""
        return hashlib.sha256(self.data).hexdigest()


class Entry(NamedTuple):
    """One name in a folder; links are never followed to tell their kind.

    ``fingerprint`` is there only when it was asked for and the name still existed.
    """

    name: str
    kind: EntryKind
    fingerprint: Fingerprint | None = None


EntryTuple = tuple[str, EntryKind, tuple[int, int, int, int] | None]
"""An ``Entry`` that is only compared: plain tuples cost half as much to make."""


def fingerprint_of(found: os.stat_result) -> Fingerprint:
    """Return the fingerprint in a stat result."""
    return Fingerprint(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
