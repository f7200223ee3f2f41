"""The fleet as it is now, found without a store: what ``scan`` and the roots need.

Kept apart from ``workspace``, so that a question about descriptors alone loads no parser and
no database.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentic_os.files.places import Places, places_from
from agentic_os.registry.fleet import Fleet, load_fleet
from agentic_os.registry.walk.walking import Progress as WalkProgress
from agentic_os.results import Answer, ScanData
from agentic_os.settings.location import load_settings
from agentic_os.settings.selection import effective_roots
from agentic_os.settings.values import Root, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """The surroundings a command runs in; handed in, so that nothing below reads globals."""

    environ: Mapping[str, str]
    home: Path
    current: Path

    @classmethod
    def here(cls) -> "Person":
        """Return the surroundings of this process."""
        return cls(environ=os.environ, home=Path.home(), current=_current_folder())


def _current_folder() -> Path:
    """Return the current folder; one that was deleted is still named, as the shell names it."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        named = os.environ.get("PWD", "")
        return Path(named if named.startswith("/") else "/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleetwide:
    """The fleet and the settings it was found by, without a store."""

    places: Places
    settings: Settings
    roots: tuple[Root, ...]
    fleet: Fleet


def find_fleet(
    person: Person,
    command_line_roots: Sequence[str],
    *,
    progress: WalkProgress | None = None,
) -> Fleetwide:
    """Walk the roots and read the descriptors; nothing is stored.

    Raises:
        SettingsError: projects.toml is wrong.
        RootMissingError: a root does not exist.
    """
    places = places_from(person.environ)
    settings = load_settings(places, home=person.home)
    roots = effective_roots(settings, command_line_roots, current=person.current, home=person.home)
    fleet = load_fleet(roots, settings, aios=places.aios, home=person.home, progress=progress)
    return Fleetwide(places=places, settings=settings, roots=roots, fleet=fleet)


def scan_fleet(found: Fleetwide) -> Answer[ScanData]:
    """Return the projects below the roots, each with its descriptor's diagnostics."""
    return Answer(data=found.fleet.view, warnings=found.fleet.diagnostics)
