"""Whether the lines of an answer still hold: a file's bytes against those of the build."""

import hashlib

from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder

MAX_CHECKED_BYTES = 2 * 1024 * 1024
_SHA256_CHARS = 64


def still_holds(root: Folder, path: str, sha256: str, built: str) -> bool | None:
    """Whether a file's bytes are those that the graph was built from.

    Args:
        root: the project's folder.
        path: the file, relative to it.
        sha256: its hash when it was last read; empty when it was not.
        built: its hash when the graph was built: the MD5 that Graphify recorded, else the
            SHA-256 of when that graph was taken in; empty where neither is known.

    Returns:
        ``None`` where nothing is known to compare with, or the file is larger than
        ``MAX_CHECKED_BYTES``; ``False`` also for a file that is gone or refused.
    """
    if not sha256 and not built:
        return None
    try:
        read = root.read(path, limit_bytes=MAX_CHECKED_BYTES)
    except FilesError as fault:
        return None if fault.code == "FILE_TOO_LARGE" else False
    known = built or sha256
    if len(known) == _SHA256_CHARS:
        return read.sha256 == known
    # MD5 is what Graphify records; it is compared with that record and nothing else.
    return hashlib.md5(read.data, usedforsecurity=False).hexdigest() == known
