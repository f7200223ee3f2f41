"""Which roots apply: command line, then projects.toml, then the current directory."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from agentic_os.settings.paths import root_from
from agentic_os.settings.values import Root, Settings


class AdoptingRoots(tuple[str, ...]):
    """The folders named on a command line, where ``--adopt`` stood beside them."""

    __slots__ = ()


def command_line_roots(folders: Iterable[str] | None, *, adopt: bool) -> tuple[str, ...]:
    """Join ``--root`` values and ``--adopt``, which holds for all roots of one call."""
    return AdoptingRoots(folders or ()) if adopt else tuple(folders or ())


def effective_roots(
    settings: Settings,
    command_line: Sequence[str],
    *,
    current: Path,
    home: Path,
) -> tuple[Root, ...]:
    """Choose the roots to walk (design decision 2).

    Roots on the command line replace those of the file; a file that lists projects but
    no roots has none to walk; where nothing is listed at all, the current directory is
    the root. Whether they exist is looked at by the walk.

    Args:
        settings: what projects.toml says.
        command_line: the folders that were named; as ``AdoptingRoots`` every root takes in what
            has no descriptor, whatever the file says.
        current: what relative ones are below, and the root where nothing is listed.
        home: what ``~`` stands for.

    Raises:
        SettingsError: SETTINGS_PATH_INVALID, for a root that cannot be a path.
    """
    if command_line:
        roots = tuple(
            _with_adoption(
                root_from(typed, base=current, home=home, origin="command line"), settings
            )
            for typed in command_line
        )
    elif settings.roots or settings.projects:
        roots = settings.roots
    else:
        roots = (Root(typed=".", path=current, origin="current directory"),)
    if isinstance(command_line, AdoptingRoots):
        return tuple(replace(root, adopt=True) for root in roots)
    return roots


def _with_adoption(root: Root, settings: Settings) -> Root:
    """Let a root that the file lists be what it is there, on the command line too."""
    same = os.path.realpath(root.path)
    adopted = any(one.adopt and os.path.realpath(one.path) == same for one in settings.roots)
    return replace(root, adopt=adopted)
