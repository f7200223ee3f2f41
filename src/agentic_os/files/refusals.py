"""The system's errors as the room's: stable codes, and names fit to be shown."""

import errno
import os

from agentic_os.errors import FilesError
from agentic_os.text.fencing import one_line

_SHOWN_CHARS = 200

_CODES: dict[int, str] = {
    errno.ENOENT: "FILE_MISSING",
    errno.ELOOP: "LINK_REFUSED",
    errno.ENOTDIR: "NOT_A_FOLDER",
    errno.ENAMETOOLONG: "NAME_INVALID",
    errno.EILSEQ: "NAME_INVALID",
    errno.EINVAL: "NAME_INVALID",
    errno.ENXIO: "NOT_REGULAR",
}


def refusal(fault: OSError | ValueError, relative: str) -> FilesError:
    """Turn the system's error into one of the room's, without its absolute path."""
    if isinstance(fault, ValueError):  # a NUL, or a surrogate that no file name can hold
        return FilesError(f"{shown(relative)} cannot be a name", code="NAME_INVALID")
    code = _CODES.get(fault.errno or 0, "FILE_UNREADABLE")
    reason = os.strerror(fault.errno) if fault.errno else "unknown reason"
    return FilesError(f"{shown(relative)}: {reason}", code=code)


def link_refused(relative: str) -> FilesError:
    """Return the refusal of a path with a link in it."""
    return FilesError(
        f"{shown(relative)} is, or passes through, a link",
        code="LINK_REFUSED",
        hint="links inside a project are never followed; put the file itself there",
    )


def shown(relative: str) -> str:
    """Make a name from an untrusted folder fit for a message."""
    cut = relative if len(relative) <= _SHOWN_CHARS else relative[:_SHOWN_CHARS] + "…"
    return one_line(cut) or "."


def failed(message: str, code: str, fault: Exception) -> FilesError:
    """Return an error of ``code``: what failed, and why the system says so."""
    number = fault.errno if isinstance(fault, OSError) else None
    reason = os.strerror(number) if number else "the name is not valid"
    return FilesError(f"{message}: {reason}", code=code)
