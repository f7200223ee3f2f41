"""The paths in a graph file, made relative to the project.

- A relative path is brought into the common form; one that leaves the project is refused.
- An absolute path below the project's folder is that file.
- Any other absolute path was written on another machine, or before the project moved: the
  longest end of it that is a file of the project is that file, and what stood before it stands
  before the graph's other paths too. A bare file name alone is too little to go by.
"""

import re
from collections.abc import Callable, Collection, Mapping

from agentic_os.aggregate.graph.intake.listing import Listing

MAX_PATH_CHARS = 4_000
MAX_SEARCHED_PATHS = 1_000
"""Foreign paths whose ends are looked for; the rest only where a known beginning fits."""

_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_DRIVE = re.compile(r"^[A-Za-z]:")

Locate = Callable[[Collection[str]], Mapping[str, str]]
"""Maps absolute paths to the files of the project that they mean; the others are left out."""


def not_located(_paths: Collection[str]) -> Mapping[str, str]:
    """Find none: for a graph that belongs to no folder."""
    return {}


def is_absolute(value: str) -> bool:
    """Whether a path begins at a root, a drive or a home folder."""
    return value.startswith(("/", "\\", "~")) or _DRIVE.match(value) is not None


def relative_path(value: str) -> str | None:
    """Return a source path in the common form, or ``None`` where it must be refused.

    Backslashes become slashes and ``./`` is dropped. Refused: absolute paths, drive
    letters, ``..``, control characters, and paths beyond ``MAX_PATH_CHARS``.
    """
    path = value.replace("\\", "/")
    if len(path) > MAX_PATH_CHARS or is_absolute(path):
        return None
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if not parts or ".." in parts or _CONTROLS.search(path):
        return None
    return "/".join(parts)


def located(root: str, listing: Listing) -> Locate:
    """Return what finds absolute paths in the project at ``root``."""

    def locate(paths: Collection[str]) -> Mapping[str, str]:
        beginnings = [f"{root.rstrip('/')}/"]
        found: dict[str, str] = {}
        pending: list[tuple[str, str]] = []
        for value in sorted(paths):
            path = value.replace("\\", "/")
            inner = _after(beginnings, path)
            if inner is None and len(pending) < MAX_SEARCHED_PATHS:
                end = _end_in(listing, path)
                if end is not None:
                    beginnings.append(path[: len(path) - len(end)])
                    inner = end
            if inner is None:
                pending.append((value, path))
            else:
                found[value] = inner
        # A file that is gone, or lies at the root, is told by the beginning of the others.
        for value, path in pending:
            inner = _after(beginnings, path)
            if inner is not None:
                found[value] = inner
        return found

    return locate


def _after(beginnings: list[str], path: str) -> str | None:
    for beginning in beginnings:
        if path.startswith(beginning):
            return relative_path(path[len(beginning) :])
    return None


def _end_in(listing: Listing, path: str) -> str | None:
    """Return the longest end of a path, of two parts or more, that is a file of the project."""
    parts = path.split("/")
    for start in range(1, len(parts) - 1):
        end = relative_path("/".join(parts[start:]))
        if end is not None and listing.file(end) is not None:
            return end
    return None
