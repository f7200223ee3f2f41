"""``agentic-os mcp``: setting harnesses up."""

from typing import Annotated

import typer

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
    ),
]


Profile = Annotated[
    str, typer.Option(metavar="PROFILE", help="full, or aios for the AIOS folder alone.")
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

    Only one key is merged; comments and other keys stay, and the old file is kept beside it.

    Example: agentic-os mcp install --client cursor --dry-run
    """
    from agentic_os.cli.actions.agents import clients

    clients.install(client=client, root=root or (), profile=profile, dry_run=dry_run, json=json)
