"""Print what there is on this machine, and the next steps: ``agentic-os`` alone."""

from collections.abc import Iterator
from pathlib import Path

from agentic_os import __version__
from agentic_os.aggregate.fleet import Fleetwide, Person, find_fleet
from agentic_os.cli.output import flowing, home_shown, say, width, write
from agentic_os.errors import AgenticOSError, RootMissingError
from agentic_os.files.places import Places, places_from
from agentic_os.server.setup.clients import CLIENTS
from agentic_os.server.setup.harnesses import Harness, harnesses
from agentic_os.settings.location import load_settings

STORE_NAME = "fleet.db"
COMMAND_COLUMNS = 36


def print_state() -> None:
    """Print roots, projects, store, model, AIOS folder and harnesses, then what to do next."""
    person = Person.here()
    places = places_from(person.environ)
    found = _found(person)
    own = harnesses(person.environ, person.home)
    rows = [
        ("roots", _roots(person, found)),
        ("projects", "none" if found is None else str(len(found.fleet.projects))),
        ("store", "made" if _has_store(places) else "not made yet: the first search makes it"),
        ("model", _model(places)),
        ("AIOS folder", home_shown(places.aios) if places.aios.is_dir() else "none"),
        ("harnesses", ", ".join(_shown(one) for one in own) or "none found"),
    ]
    write(f"agentic-os {__version__}\n\n")
    for name, value in rows:
        write(flowing(f"{name:<12}", value))
    write("\nNext:\n")
    for command, why in _next(person, places, found, own):
        line = f"  {command:<{COMMAND_COLUMNS}} {why}"
        fits = len(command) < COMMAND_COLUMNS and len(line) <= width()
        write(f"{line}\n" if fits else f"  {command}\n    {why}\n")
    say("All commands: agentic-os --help")


def _found(person: Person) -> Fleetwide | None:
    try:
        return find_fleet(person, ())
    except RootMissingError as fault:
        say(f"agentic-os: {fault.message} [{fault.code}]")
        return None


def _roots(person: Person, found: Fleetwide | None) -> str:
    settings = load_settings(places_from(person.environ), home=person.home)
    if not settings.roots:
        return "none configured: the current folder is looked through"
    shown = " ".join(home_shown(root.path) for root in settings.roots)
    return shown if found is not None else f"{shown} (one of them is missing)"


def _has_store(places: Places) -> bool:
    return any(places.cache.glob(f"*/{STORE_NAME}")) or any(places.cache.glob(f"*/*/{STORE_NAME}"))


def _model(places: Places) -> str:
    from agentic_os.tiers.embed.listing import list_models

    try:
        models = list_models(places.data, hashed=False).data.models
    except AgenticOSError as fault:
        return f"cannot be read ({fault.code})"
    chosen = next((model.name for model in models if model.selected), None)
    return chosen or "none: search is by words alone"


def _shown(one: Harness) -> str:
    return f"{one.client.name} ({'set up' if one.is_set_up else 'not set up'})"


def _next(
    person: Person, places: Places, found: Fleetwide | None, own: tuple[Harness, ...]
) -> Iterator[tuple[str, str]]:
    settings = load_settings(places_from(person.environ), home=person.home)
    if not settings.roots:
        yield "agentic-os start", "be led through the first steps"
        yield "agentic-os roots add DIR", "name the folder that holds your projects"
    elif found is None or not found.fleet.projects:
        yield "agentic-os scan", "see what was looked at, and what a project is"
    else:
        yield 'agentic-os search "words"', "ask all of them"
    if found is not None and found.fleet.projects and _model(places).startswith("none"):
        yield "agentic-os model prepare", "search by meaning, too"
    for one in own:
        if not one.is_set_up:
            yield f"agentic-os mcp install --client {one.client.name}", "let it ask, too"
            break
    if not own:
        yield f"agentic-os mcp config --client {next(iter(CLIENTS))}", "set a coding agent up"


def likely_roots(home: Path, current: Path) -> tuple[Path, ...]:
    """Return the folders that may hold repositories, without looking into them."""
    named = [home / name for name in _USUAL]
    return tuple(dict.fromkeys(one for one in (*named, current) if one.is_dir() and one != home))


_USUAL = (
    "code",
    "src",
    "projects",
    "Projects",
    "dev",
    "work",
    "git",
    "repos",
    "workspace",
    "Code",
    "Developer",
    "Documents/GitHub",
)
