"""Which roots apply: command line, then projects.toml, then the current directory."""

from collections.abc import Sequence
from pathlib import Path

from agentic_os.settings.paths import root_from
from agentic_os.settings.values import Root, Settings


def effective_roots(
    settings: Settings, command_line: Sequence[str], *, current: Path, home: Path
) -> tuple[Root, ...]:
    """Choose the roots to walk (design decision 2).

    Roots on the command line replace those of the file; a file that lists projects but
    no roots has none to walk; where nothing is listed at all, the current directory is
    the root. Whether they exist is looked at by the walk.

    Raises:
        SettingsError: SETTINGS_PATH_INVALID, for a root that cannot be a path.
    """
    if command_line:
        return tuple(
            root_from(typed, base=current, home=home, origin="command line")
            for typed in command_line
        )
    if settings.roots or settings.projects:
        return settings.roots
    return (Root(typed=".", path=current, origin="current directory"),)
