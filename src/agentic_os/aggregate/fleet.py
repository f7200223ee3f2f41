"""The fleet as it is now, found without a store: what ``scan`` and the roots need.

Kept apart from ``workspace``, so that a question about descriptors alone loads no parser and
no database.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentic_os.aggregate.codes import CODES
from agentic_os.files.places import Places, places_from
from agentic_os.registry.fleet import Fleet, load_fleet
from agentic_os.registry.walk.enclosing import project_around
from agentic_os.registry.walk.walking import Progress as WalkProgress
from agentic_os.results import Answer, Diagnostic, ScanData
from agentic_os.settings.location import load_settings
from agentic_os.settings.selection import effective_roots
from agentic_os.settings.values import Root, Settings
from agentic_os.text.fencing import one_line

_NOWHERE = "/a deleted folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """The surroundings a command runs in; handed in, so that nothing below reads globals."""

    environ: Mapping[str, str]
    home: Path
    current: Path

    @classmethod
    def here(cls) -> "Person":
        """Return the surroundings of this process.

        Its folder may be deleted; then its name alone is known, and only what needs it fails.
        """
        try:
            current = Path.cwd()
        except OSError:
            named = Path(os.environ.get("PWD") or _NOWHERE)
            current = Path(_NOWHERE) if named.exists() else named  # then it names another one
        return cls(environ=os.environ, home=Path.home(), current=current)


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
    roots = roots_of(person, settings, command_line_roots)
    fleet = load_fleet(
        roots,
        settings,
        aios=places.aios,
        home=person.home,
        progress=progress,
        environ=person.environ,
    )
    return Fleetwide(places=places, settings=settings, roots=roots, fleet=fleet)


def roots_of(
    person: Person, settings: Settings, command_line_roots: Sequence[str]
) -> tuple[Root, ...]:
    """Choose the roots; inside a project, where none are named or listed, that project.

    Raises:
        SettingsError: a root cannot be a path.
    """
    roots = effective_roots(settings, command_line_roots, current=person.current, home=person.home)
    if any(root.origin != "current directory" for root in roots):
        return roots
    around = project_around(person.current, home=person.home)
    if around is None or around == Path(os.path.realpath(person.current)):
        return roots
    return (Root(typed=around.name, path=around, origin="enclosing project"),)


def enclosing_notice(roots: Sequence[Root]) -> tuple[Diagnostic, ...]:
    """Say that the project around the current folder was taken, if it was."""
    return tuple(
        CODES.diagnostic(
            "PROJECT_AROUND", f"this folder lies in the project {one_line(root.typed)!r}"
        )
        for root in roots
        if root.origin == "enclosing project"
    )


def scan_fleet(found: Fleetwide) -> Answer[ScanData]:
    """Return the projects below the roots, each with its descriptor's diagnostics."""
    noticed = (*enclosing_notice(found.roots), *found.fleet.diagnostics)
    return Answer(data=found.fleet.view, warnings=noticed)
