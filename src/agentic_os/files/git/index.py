"""Which files a git checkout tracks, read from its index without running git.

Index versions 2, 3 and 4, of SHA-1 and SHA-256 repositories, with sparse and unmerged
entries (git's ``index-format`` document). Read directly: the library at hand reads names of
more than 4,094 bytes and truncated files wrongly. Only the names of regular files count:
links, submodules and the folders of a sparse index are left out. A split index is refused,
since half of it lies in another file.

The bytes are a project's own and prove nothing: whatever they hold, the answer is a set of
relative paths or a ``FilesError``.
"""

import hashlib
import os
import struct
from pathlib import Path

from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder

MAX_INDEX_BYTES = 256 * 1024 * 1024
MAX_INDEX_ENTRIES = 2_000_000
MAX_NAME_BYTES = 4_096
"""Bytes of one path; the longest that Linux opens."""
MAX_NAMES_BYTES = 512 * 1024 * 1024
"""Bytes of all paths together: version 4 lets a small file spell out a large one."""

_HEADER = struct.Struct(">4sLL")
_VERSIONS = (2, 3, 4)
_PREFIX_CHANGED = 4  # the first version whose names build on the one before
_FIXED_BYTES = 40  # two times, device, inode, mode, user, group, size
_MODE = struct.Struct(">24xL")
_SHORT = struct.Struct(">H")
_EXTENDED = 0x4000
_NAME_MASK = 0x0FFF
_TYPE_SHIFT = 12
_REGULAR = 0o10
_ALIGN_BYTES = 8
_EXTENSION = struct.Struct(">4sL")
_VARINT_MORE = 0x80
_VARINT_BITS = 0x7F


def read_index(git_dir: Path) -> frozenset[str]:
    """Return the tracked files of a checkout, as paths below its top.

    Args:
        git_dir: the checkout's own git folder (``GitCheckout.git_dir``); a linked worktree
            has an index of its own.

    Raises:
        FilesError: GIT_INDEX_INVALID (not an index, broken, or beyond the bounds),
            GIT_INDEX_SPLIT, or a code of ``Folder.read``. A checkout without an index, one
            without commits, tracks nothing and is no error.
    """
    try:
        with Folder.open(git_dir) as folder:
            data = folder.read("index", limit_bytes=MAX_INDEX_BYTES).data
    except FilesError as fault:
        if fault.code == "FILE_MISSING":
            return frozenset()
        raise
    return parse_index(data)


def parse_index(data: bytes) -> frozenset[str]:
    """Return the paths of the regular files that an index names; see ``read_index``."""
    try:
        return _parse(data)
    except (struct.error, ValueError, IndexError) as fault:
        raise _invalid("it ends in the middle of an entry") from fault


def _parse(data: bytes) -> frozenset[str]:
    magic, version, count = _HEADER.unpack_from(data)
    if magic != b"DIRC" or version not in _VERSIONS:
        raise _invalid("it has another form")
    if count > MAX_INDEX_ENTRIES:
        raise _invalid(f"it has more than {MAX_INDEX_ENTRIES} entries")
    hash_bytes = _hash_bytes(data)
    found: set[str] = set()
    at = _HEADER.size
    name = b""
    total = 0
    for _ in range(count):
        start = at
        (mode,) = _MODE.unpack_from(data, at)
        at += _FIXED_BYTES + hash_bytes
        (flags,) = _SHORT.unpack_from(data, at)
        at += _SHORT.size * (2 if flags & _EXTENDED and version > _VERSIONS[0] else 1)
        if version >= _PREFIX_CHANGED:
            name, at = _next_name(data, at, name)
        else:
            length = flags & _NAME_MASK
            end = at + length if length < _NAME_MASK else data.index(b"\0", at)
            name = data[at:end]
            at = start + (end - start + _ALIGN_BYTES) // _ALIGN_BYTES * _ALIGN_BYTES
        total += len(name)
        if len(name) > MAX_NAME_BYTES or total > MAX_NAMES_BYTES:
            raise _invalid("it holds names that no file has")
        if at > len(data):
            raise IndexError
        if mode >> _TYPE_SHIFT == _REGULAR:
            found.add(os.fsdecode(name))
    _refuse_split(data, at, hash_bytes)
    if "" in found:  # of a split index only: what it changes is named in the shared one
        raise _invalid("it holds names that no file has")
    return frozenset(found)


def _next_name(data: bytes, at: int, before: bytes) -> tuple[bytes, int]:
    """Read a name that drops some bytes of the one before it and adds others."""
    byte = data[at]
    at += 1
    dropped = byte & _VARINT_BITS
    while byte & _VARINT_MORE:
        byte = data[at]
        at += 1
        dropped = ((dropped + 1) << 7) | (byte & _VARINT_BITS)
        if dropped > MAX_NAME_BYTES:
            break
    if dropped > len(before):
        raise _invalid("it drops more of a name than there is")
    end = data.index(b"\0", at)
    return before[: len(before) - dropped] + data[at:end], end + 1


def _hash_bytes(data: bytes) -> int:
    """Tell SHA-256 repositories from SHA-1 ones by the checksum at the end."""
    sha256 = hashlib.sha256()
    size = sha256.digest_size
    sha256.update(memoryview(data)[:-size])
    return (
        size if data[-size:] == sha256.digest() else hashlib.sha1(usedforsecurity=False).digest_size
    )


def _refuse_split(data: bytes, at: int, hash_bytes: int) -> None:
    """Refuse an index whose extensions say that it only changes a shared one."""
    while at + _EXTENSION.size <= len(data) - hash_bytes:
        name, size = _EXTENSION.unpack_from(data, at)
        at += _EXTENSION.size
        if name == b"link" and any(data[at : at + hash_bytes]):
            raise FilesError(
                "the git index is split in two files",
                code="GIT_INDEX_SPLIT",
                hint="`git update-index --no-split-index` joins it.",
            )
        at += size


def _invalid(reason: str) -> FilesError:
    return FilesError(
        f"the git index cannot be read: {reason}",
        code="GIT_INDEX_INVALID",
        hint="`git status` in the project shows whether git can.",
    )
