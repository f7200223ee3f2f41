"""``agentic-os roots``: the folders that are looked through."""

from typing import TYPE_CHECKING, Annotated

import typer

from agentic_os.cli.options import Json, Roots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentic_os.aggregate.workspace import Person
    from agentic_os.registry.project import Project
    from agentic_os.results import Answer, GrantData, GrantView, RootsData
    from agentic_os.settings.values import Settings
    from agentic_os.tiers.engines.grants import Preview

app = typer.Typer(
    help="The folders that are looked through for projects, and what is granted to these.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Folder = Annotated[str, typer.Argument(metavar="DIR", help="The folder.")]


@app.command("list")
def list_roots(json: Json = False) -> None:
    """Show the roots that apply, where they are written, and which engines are granted.

    Example: agentic-os roots list
    """
    _print("roots-list", _roots(changed=False), json=json)


@app.command("add")
def add(folder: Folder, json: Json = False) -> None:
    """Add a root to projects.toml, which is made if there is none.

    Example: agentic-os roots add ~/code
    """
    from agentic_os.aggregate.workspace import Person
    from agentic_os.errors import RootMissingError
    from agentic_os.files.places import places_from
    from agentic_os.settings.editing import add_root
    from agentic_os.settings.paths import root_from

    person = Person.here()
    root = root_from(folder, base=person.current, home=person.home, origin="command line")
    if not root.path.is_dir():
        raise RootMissingError(
            f"the root {folder!r} is not a folder", hint="Check the name; nothing was changed."
        )
    edit = add_root(places_from(person.environ), folder, current=person.current, home=person.home)
    _print("roots-add", _roots(changed=edit.changed), json=json)


@app.command("remove")
def remove(folder: Folder, json: Json = False) -> None:
    """Remove a root from projects.toml.

    Example: agentic-os roots remove ~/old
    """
    from agentic_os.aggregate.workspace import Person
    from agentic_os.files.places import places_from
    from agentic_os.settings.editing import remove_root

    person = Person.here()
    edit = remove_root(
        places_from(person.environ), folder, current=person.current, home=person.home
    )
    _print("roots-remove", _roots(changed=edit.changed), json=json)


@app.command("grant")
def grant(
    project: Annotated[
        str, typer.Argument(metavar="PROJECT", help="The project, by id, alias, name or path.")
    ],
    root: Roots = None,
    endpoint: Annotated[
        str | None,
        typer.Option(
            metavar="STRING", help="Only if the project names exactly this endpoint; for scripts."
        ),
    ] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Take the grant back.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Grant without asking.")] = False,
    json: Json = False,
) -> None:
    """Let a project's own search engine be asked, after showing what would be run.

    The grant holds for this project and this exact endpoint; nothing is started by granting.

    Example: agentic-os roots grant shop --endpoint "ccc mcp"
    """
    from agentic_os.aggregate.fleet import Person, find_fleet
    from agentic_os.errors import RegistryError
    from agentic_os.tiers.engines.grants import preview

    person = Person.here()
    if revoke:
        _finish_grant(_revoked(person, project, root or ()), json=json)
        return
    found = find_fleet(person, root or ())
    chosen = found.fleet.find(project, current=person.current)
    shown = preview(chosen, person.environ)
    if endpoint is not None and endpoint != shown.endpoint:
        raise RegistryError(
            f"{chosen.id} names another endpoint than the one you gave",
            code="ENGINE_ENDPOINT_DIFFERS",
            hint="Look at it with agentic-os scan --json; nothing was granted.",
        )
    if not found.settings.granted(chosen.id, shown.endpoint):
        _show(chosen, shown)
        _ask(yes=yes)
    _finish_grant(_granted(person, chosen, shown), json=json)


def _show(project: "Project", shown: "Preview") -> None:
    from agentic_os.cli.output import say
    from agentic_os.text.fencing import one_line
    from agentic_os.tiers.engines.endpoint import Address

    say(f"{one_line(project.name)} ({project.id}) names this engine of its own:")
    say(f"  endpoint  {one_line(shown.endpoint)}")
    if isinstance(shown.asked, Address):
        say(f"  contacts  {one_line(shown.asked.url)}")
        if not shown.asked.loopback:
            say("  Your questions would leave this machine.")
    else:
        for place, word in enumerate(shown.asked.words):
            say(f"  {'runs      ' if place == 0 else '          '}{one_line(word)}")
        say(f"  program   {one_line(shown.program or 'not installed here')}")
        say(f"  in        {one_line(str(project.folder))}")
        say("  It runs as you, without a shell, and does what that program does: it may write, its")
        say("  own index in the project say.")
    say("It would be asked by searches, until the project names anything else.")


def _ask(*, yes: bool) -> None:
    import sys

    from agentic_os.errors import UsageError

    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            "nobody is there to ask; nothing was granted",
            code="ANSWER_NEEDED",
            hint='In scripts: --yes --endpoint "THE EXACT STRING".',
        )
    if not typer.confirm("Grant it?", err=True):
        raise UsageError("nothing was granted", code="DECLINED")


def _granted(person: "Person", project: "Project", shown: "Preview") -> "Answer[GrantData]":
    from agentic_os.files.places import places_from
    from agentic_os.results import Answer, GrantData
    from agentic_os.settings.editing import add_grant
    from agentic_os.settings.values import Grant
    from agentic_os.tiers.engines.endpoint import Address

    given = Grant(project=project.id, endpoint=shown.endpoint)
    edit = add_grant(places_from(person.environ), given, home=person.home)
    address = shown.asked if isinstance(shown.asked, Address) else None
    return Answer(
        data=GrantData(
            project=project.id,
            name=project.name,
            endpoint=shown.endpoint,
            form="command" if address is None else "address",
            granted=True,
            changed=edit.changed,
            words=() if isinstance(shown.asked, Address) else shown.asked.words,
            program=shown.program,
            folder=str(project.folder) if address is None else None,
            url=None if address is None else address.url,
        )
    )


def _revoked(person: "Person", name: str, root: "Sequence[str]") -> "Answer[GrantData]":
    """Take back by id, also where the project is gone or no longer names an engine."""
    from agentic_os.aggregate.fleet import find_fleet
    from agentic_os.files.places import places_from
    from agentic_os.results import Answer, GrantData
    from agentic_os.settings.editing import remove_grant
    from agentic_os.settings.location import load_settings
    from agentic_os.tiers.engines.grants import endpoint_of

    places = places_from(person.environ)
    endpoint, shown, project = None, name, name
    if all(have.project != name for have in load_settings(places, home=person.home).grants):
        chosen = find_fleet(person, root).fleet.find(name, current=person.current)
        endpoint, shown, project = endpoint_of(chosen), chosen.name, chosen.id
    edit = remove_grant(places, project, home=person.home)
    return Answer(
        data=GrantData(
            project=project,
            name=shown,
            endpoint=endpoint,
            form="none",
            granted=False,
            changed=edit.changed,
        )
    )


def _finish_grant(answer: "Answer[GrantData]", *, json: bool) -> None:
    from agentic_os.cli.output import finish_document, say, write
    from agentic_os.text.fencing import one_line

    if json:
        finish_document("roots-grant", answer)
        return
    data = answer.data
    if data.granted:
        write(f"{data.project}\t{one_line(data.endpoint or '')}\n")
    done = "Granted" if data.granted else "Revoked"
    say(f"{done}." if data.changed else "Nothing to change.")


def _roots(*, changed: bool) -> "Answer[RootsData]":
    from agentic_os.aggregate.workspace import Person
    from agentic_os.files.places import places_from
    from agentic_os.results import Answer, RootsData
    from agentic_os.settings.location import load_settings

    person = Person.here()
    settings = load_settings(places_from(person.environ), home=person.home)
    return Answer(
        data=RootsData(
            file=None if settings.file is None else str(settings.file),
            roots=tuple(str(root.path) for root in settings.roots),
            exclude=settings.exclude,
            changed=changed,
            grants=_grants(person, settings),
        )
    )


def _grants(person: "Person", settings: "Settings") -> "tuple[GrantView, ...]":
    if not settings.grants:
        return ()
    from agentic_os.aggregate.fleet import find_fleet
    from agentic_os.errors import RootMissingError
    from agentic_os.registry.fleet import Fleet
    from agentic_os.tiers.engines.grants import grant_views

    try:
        fleet = find_fleet(person, ()).fleet
    except RootMissingError:
        # A list of roots is also read to find the one that is gone.
        fleet = Fleet(projects=(), roots=(), diagnostics=())
    return grant_views(settings, fleet)


def _print(command: str, answer: "Answer[RootsData]", *, json: bool) -> None:
    from agentic_os.cli.output import finish_document, say, write
    from agentic_os.text.fencing import one_line

    if json:
        finish_document(command, answer)
        return
    for root in answer.data.roots:
        write(f"{root}\n")
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
