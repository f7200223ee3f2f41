"""``agentic-os mcp``: setting harnesses up."""

from typing import Annotated

import typer

from agentic_os.cli.completion import client_names, profile_names
from agentic_os.cli.options import FULL_PROFILE, Json, Roots

app = typer.Typer(
    help="Set a harness up: print its configuration, or install it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


ClientName = Annotated[
    str,
    typer.Option(
        "--client",
        metavar="CLIENT",
        help="claude-code, codex, gemini, cursor, vscode or opencode.",
        autocompletion=client_names,
    ),
]


Profile = Annotated[
    str,
    typer.Option(
        metavar="PROFILE",
        help="full, or aios for the AIOS folder alone.",
        autocompletion=profile_names,
    ),
]


@app.command("config")
def config(client: ClientName, root: Roots = None, profile: Profile = FULL_PROFILE) -> None:
    """Print the exact block for a client's file, or its own command.

    Example: agentic-os mcp config --client codex
    """
    from agentic_os.cli.actions.agents import clients

    clients.config(client=client, root=root or (), profile=profile)


@app.command("install")
def install(
    client: ClientName,
    root: Roots = None,
    profile: Profile = FULL_PROFILE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be done; write nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Add the server to a client: by its own command where it has one, else in its file.

    The entry names the environment and the roots that the server needs to see what you see here.
    In a file only one key is merged: comments, other keys and what you added to the entry stay,
    and the old file is kept beside it.

    Example: agentic-os mcp install --client cursor --dry-run
    """
    from agentic_os.cli.actions.agents import clients

    clients.install(client=client, root=root or (), profile=profile, dry_run=dry_run, json=json)


@app.command("check")
def check(
    client: ClientName,
    ask: Annotated[
        str | None,
        typer.Option("--ask", metavar="QUESTION", help="Also show what an agent is answered."),
    ] = None,
    json: Json = False,
) -> None:
    """Start the installed entry as the client would, and show what the server sees.

    Example: agentic-os mcp check --client codex --ask "rate limit"
    """
    from agentic_os.cli.actions.agents import clients

    clients.check(client=client, question=ask, json=json)


@app.command("uninstall")
def uninstall(
    client: ClientName,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be done; write nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Take the server out of a client's file; everything else in it stays.

    Example: agentic-os mcp uninstall --client cursor
    """
    from agentic_os.cli.actions.agents import clients

    clients.uninstall(client=client, dry_run=dry_run, json=json)
