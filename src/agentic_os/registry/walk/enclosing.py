"""The project and the git checkouts that a folder lies in, looked up towards the root."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from agentic_os.registry.descriptor.values import CONFIG_NAME, LAYOUTS
from agentic_os.registry.walk.listing import GIT

MAX_PARENTS_LEVELS = 64


def checkouts_above(folder: str, *, home: Path | None) -> tuple[str, ...]:
    """Return the folders at and above ``folder`` that hold a ``.git``, nearest first.

    At most ``MAX_PARENTS_LEVELS`` levels are looked at; the home folder and what is above
    it are not: a person who keeps dotfiles in git does not keep every project in it.
    """
    return tuple(path for path in _upwards(folder, home) if _is_checkout(path))


def project_around(folder: Path, *, home: Path | None) -> Path | None:
    """Return the innermost folder at or above ``folder`` with a descriptor, if any.

    The home folder and what is above it are no projects that a person works in.
    """
    for path in _upwards(os.path.realpath(folder), home):
        if any(_is_file(f"{path}/{layout}/{CONFIG_NAME}") for layout in LAYOUTS):
            return Path(path)
    return None


def _upwards(folder: str, home: Path | None) -> Iterator[str]:
    """Yield a folder and those above it, up to the home folder or to a bound."""
    stop = os.path.realpath(home) if home else None
    current = folder
    for _ in range(MAX_PARENTS_LEVELS):
        if current == stop:
            return
        yield current
        above = os.path.dirname(current)  # noqa: PTH120 - strings on the hot path
        if above == current:
            return
        current = above


def _is_checkout(folder: str) -> bool:
    """Whether a folder holds a ``.git`` that is no link."""
    try:
        mode = os.lstat(f"{folder}/{GIT}").st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode)


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
