"""Whether a path that a project declares stays inside the project, by its text alone.

Declared paths are untrusted (design section 6). This is the first of two checks: the
text may not leave the project, and ``files.reading`` then follows no link on the way.
The rules are the same on every platform, so that a descriptor written on one means the
same on another.
"""

import re
from dataclasses import dataclass

from agentic_os.text.fencing import one_line

MAX_PATH_CHARS = 1024
_SHOWN_CHARS = 80
_DRIVE = re.compile(r"[A-Za-z]:")
_SEPARATORS = re.compile(r"[/\\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Escape:
    """Why a declared path is refused, and the path made fit for a message."""

    reason: str
    shown: str


def contained(path: str) -> str | Escape:
    """Return the path as plain POSIX components, or why it is refused.

    Refused: an empty path and one that names the project itself; absolute paths, drives,
    ``~``; a ``..`` between slashes or backslashes; control characters, NUL among them,
    and surrogates; more than ``MAX_PATH_CHARS`` characters.
    """
    plain = "/".join(part for part in path.split("/") if part not in {"", "."})
    reason = _fault(path, plain)
    if not reason:
        return plain
    cut = path if len(path) <= _SHOWN_CHARS else path[:_SHOWN_CHARS] + "…"
    return Escape(reason=reason, shown=one_line(cut))


def _fault(path: str, plain: str) -> str:
    """Say what is wrong with a path; empty when nothing is."""
    if len(path) > MAX_PATH_CHARS:
        return f"is longer than {MAX_PATH_CHARS} characters"
    if not path.isprintable():
        return "holds characters that no path should"
    if path.startswith("/") or plain.startswith("\\") or _DRIVE.match(plain):
        return "is an absolute path"
    if plain.startswith("~"):
        return "begins with ~"
    parts = set(_SEPARATORS.split(plain))
    if ".." in parts:
        return "leaves the project"
    return "names no file or folder" if parts <= {"", "."} else ""
