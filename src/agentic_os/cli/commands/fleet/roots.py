"""``agentic-os roots``: the folders that are looked through."""

from typing import Annotated

import typer

from agentic_os.cli.options import Adopt, Json, Roots, chosen_roots

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
    from agentic_os.cli.actions.fleet import roots

    roots.list_roots(json=json)


@app.command("add")
def add(
    folder: Folder,
    adopt: Annotated[
        bool | None,
        typer.Option(
            "--adopt/--no-adopt",
            help="Take in repositories without a descriptor too; on a terminal you are asked.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Add a root to projects.toml, which is made if there is none.

    Example: agentic-os roots add ~/code --adopt
    """
    from agentic_os.cli.actions.fleet import roots

    roots.add(folder=folder, adopt=adopt, json=json)


@app.command("remove")
def remove(folder: Folder, json: Json = False) -> None:
    """Remove a root from projects.toml.

    Example: agentic-os roots remove ~/old
    """
    from agentic_os.cli.actions.fleet import roots

    roots.remove(folder=folder, json=json)


@app.command("grant")
def grant(
    project: Annotated[
        str, typer.Argument(metavar="PROJECT", help="The project, by id, alias, name or path.")
    ],
    root: Roots = None,
    adopt: Adopt = False,
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
    from agentic_os.cli.actions.fleet import grants

    grants.grant(
        project=project,
        root=chosen_roots(root, adopt=adopt),
        endpoint=endpoint,
        revoke=revoke,
        yes=yes,
        json=json,
    )
