"""Show and change the roots."""

import shlex
import sys

import typer

from agentic_os.aggregate.fleet import Person, find_fleet
from agentic_os.cli.output import finish_document, say, write
from agentic_os.errors import RootMissingError
from agentic_os.files.places import places_from
from agentic_os.registry.fleet import Fleet
from agentic_os.results import Answer, GrantView, RootsData
from agentic_os.settings.editing import add_root, remove_root
from agentic_os.settings.location import load_settings
from agentic_os.settings.paths import root_from
from agentic_os.settings.values import Root, Settings
from agentic_os.text.fencing import one_line


def list_roots(*, json: bool) -> None:
    """Show the roots that apply, where they are written, and which engines are granted."""
    _print("roots-list", _roots(changed=False), json=json)


def add(*, folder: str, adopt: bool | None, json: bool) -> None:
    """Add a root to projects.toml; say what lies there, and ask whether to take it all in."""
    person = Person.here()
    root = root_from(folder, base=person.current, home=person.home, origin="command line")
    if not root.path.is_dir():
        raise RootMissingError(
            f"the root {folder!r} is not a folder", hint="Check the name; nothing was changed."
        )
    if adopt is None:
        adopt = _wants_adoption(find_fleet(person, (str(root.path),)).fleet, folder, json=json)
    edit = add_root(
        places_from(person.environ),
        folder,
        current=person.current,
        home=person.home,
        adopt=adopt,
    )
    _print("roots-add", _roots(changed=edit.changed), json=json)


def _wants_adoption(fleet: Fleet, folder: str, *, json: bool) -> bool:
    """Count what lies below a root; ask on a terminal, else say what takes the rest in."""
    others = sum(root.passed_over for root in fleet.roots)
    if not others or json or any(root.adopt for root in _same(folder)):
        return False
    files = sum(root.passed_over_with_files for root in fleet.roots)
    described = len(fleet.projects)
    say(f"{described} described, {others} other repositories, {files} with files for agents.")
    if sys.stdin.isatty() and sys.stderr.isatty():
        return typer.confirm("Take the others in as well?", err=True)
    say(f"To take them in: agentic-os roots add {shlex.quote(folder)} --adopt")
    return False


def _same(folder: str) -> list[Root]:
    """Return the roots of projects.toml that are this folder already."""
    person = Person.here()
    settings = load_settings(places_from(person.environ), home=person.home)
    real = root_from(folder, base=person.current, home=person.home, origin="command line").path
    return [root for root in settings.roots if root.path.resolve() == real.resolve()]


def remove(*, folder: str, json: bool) -> None:
    """Remove a root from projects.toml."""
    person = Person.here()
    edit = remove_root(
        places_from(person.environ), folder, current=person.current, home=person.home
    )
    _print("roots-remove", _roots(changed=edit.changed), json=json)


def _roots(*, changed: bool) -> Answer[RootsData]:
    person = Person.here()
    settings = load_settings(places_from(person.environ), home=person.home)
    return Answer(
        data=RootsData(
            file=None if settings.file is None else str(settings.file),
            roots=tuple(str(root.path) for root in settings.roots),
            adopted=tuple(str(root.path) for root in settings.roots if root.adopt),
            exclude=settings.exclude,
            changed=changed,
            grants=_grants(person, settings),
        )
    )


def _grants(person: Person, settings: Settings) -> tuple[GrantView, ...]:
    if not settings.grants:
        return ()

    # Not loaded where nothing was granted.
    from agentic_os.tiers.engines.grants import grant_views

    try:
        fleet = find_fleet(person, ()).fleet
    except RootMissingError:
        # A list of roots is also read to find the one that is gone.
        fleet = Fleet(projects=(), roots=(), diagnostics=())
    return grant_views(settings, fleet)


def _print(command: str, answer: Answer[RootsData], *, json: bool) -> None:
    if json:
        finish_document(command, answer)
        return
    for root in answer.data.roots:
        write(f"{root}\tadopted\n" if root in answer.data.adopted else f"{root}\n")
    for item in answer.data.grants:
        state = {
            "valid": "granted",
            "void": f"VOID, it names {one_line(item.named or 'nothing')} now",
            "unknown": "VOID, no project has this id",
        }[item.state]
        say(f"engine of {one_line(item.project)}: {one_line(item.endpoint)}: {state}")
    if answer.data.file is not None:
        say(f"Written in {answer.data.file}.")
    if not answer.data.roots:
        say("No roots are written: the current folder is the root.")
    if command != "roots-list" and not answer.data.changed:
        say("Nothing to change.")
