"""The git checkouts that a folder lies in, looked up towards the file system's root."""

import os
import stat
from pathlib import Path

from agentic_os.registry.walk.listing import GIT

MAX_PARENTS_LEVELS = 64


def checkouts_above(folder: str, *, home: Path | None) -> tuple[str, ...]:
    """Return the folders at and above ``folder`` that hold a ``.git``, nearest first.

    At most ``MAX_PARENTS_LEVELS`` levels are looked at; the home folder and what is above
    it are not: a person who keeps dotfiles in git does not keep every project in it.
    """
    found: list[str] = []
    stop = os.path.realpath(home) if home else None
    current = folder
    for _ in range(MAX_PARENTS_LEVELS):
        if current == stop:
            break
        if _is_checkout(current):
            found.append(current)
        above = os.path.dirname(current)  # noqa: PTH120 - strings on the hot path
        if above == current:
            break
        current = above
    return tuple(found)


def _is_checkout(folder: str) -> bool:
    """Whether a folder holds a ``.git`` that is no link."""
    try:
        mode = os.lstat(f"{folder}/{GIT}").st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode)
