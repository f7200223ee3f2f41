"""``agentic-os roots``: the folders that are looked through."""

from typing import TYPE_CHECKING, Annotated

import typer

from agentic_os.cli.options import Json

if TYPE_CHECKING:
    from agentic_os.results import Answer, RootsData

app = typer.Typer(
    help="The folders that are looked through for projects.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Folder = Annotated[str, typer.Argument(metavar="DIR", help="The folder.")]


@app.command("list")
def list_roots(json: Json = False) -> None:
    """Show the roots that apply and where they are written.

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
    from agentic_os.settings import add_root, root_from

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
    from agentic_os.settings import remove_root

    person = Person.here()
    edit = remove_root(
        places_from(person.environ), folder, current=person.current, home=person.home
    )
    _print("roots-remove", _roots(changed=edit.changed), json=json)


def _roots(*, changed: bool) -> "Answer[RootsData]":
    from agentic_os.aggregate.workspace import Person
    from agentic_os.files.places import places_from
    from agentic_os.results import Answer, RootsData
    from agentic_os.settings import load_settings

    person = Person.here()
    settings = load_settings(places_from(person.environ), home=person.home)
    return Answer(
        data=RootsData(
            file=None if settings.file is None else str(settings.file),
            roots=tuple(str(root.path) for root in settings.roots),
            exclude=settings.exclude,
            changed=changed,
        )
    )


def _print(command: str, answer: "Answer[RootsData]", *, json: bool) -> None:
    from agentic_os.cli.output import finish_document, say, write

    if json:
        finish_document(command, answer)
        return
    for root in answer.data.roots:
        write(f"{root}\n")
    if answer.data.file is not None:
        say(f"Written in {answer.data.file}.")
    if not answer.data.roots:
        say("No roots are written: the current folder is the root.")
    if command != "roots-list" and not answer.data.changed:
        say("Nothing to change.")
