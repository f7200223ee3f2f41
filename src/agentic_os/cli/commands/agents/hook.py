"""``agentic-os hook``: what harnesses call by themselves."""

from typing import Annotated

import typer

from agentic_os.cli.completion import hook_client_names
from agentic_os.cli.options import Json, Roots

app = typer.Typer(
    help="Hooks that a harness calls by itself.", no_args_is_help=True, rich_markup_mode=None
)


HookClient = Annotated[
    str,
    typer.Option(
        "--client",
        metavar="CLIENT",
        help="claude-code, codex or gemini.",
        autocompletion=hook_client_names,
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done; write nothing.")]


@app.callback()
def hooks() -> None:
    """Hooks that a harness calls by itself."""


@app.command("session-start")
def session_start(root: Roots = None) -> None:
    """Answer a session-start hook: read its JSON on stdin, print the context as JSON.

    The exit code is 0 whatever the input: the clients read no answer at another one. What was
    wrong is said on stderr and in the answer.

    Example: echo '{"cwd": "/home/me/code/shop"}' | agentic-os hook session-start
    """
    from agentic_os.cli.actions.agents import hooks

    hooks.session_start(root=root or ())


@app.command("install")
def install(
    client: HookClient, root: Roots = None, dry_run: DryRun = False, json: Json = False
) -> None:
    """Add the session-start hook to a client's file of hooks; everything else in it stays.

    Example: agentic-os hook install --client claude-code --dry-run
    """
    from agentic_os.cli.actions.agents import clients

    clients.install_hooks(client=client, root=root or (), dry_run=dry_run, json=json)


@app.command("uninstall")
def uninstall(client: HookClient, dry_run: DryRun = False, json: Json = False) -> None:
    """Take the session-start hook out of a client's file of hooks.

    Example: agentic-os hook uninstall --client claude-code
    """
    from agentic_os.cli.actions.agents import clients

    clients.uninstall_hooks(client=client, dry_run=dry_run, json=json)
