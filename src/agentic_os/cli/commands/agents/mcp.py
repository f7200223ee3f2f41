"""``agentic-os mcp``: setting harnesses up."""

from typing import Annotated

import typer

from agentic_os.cli.options import Json, Roots

app = typer.Typer(
    help="Set a harness up: print its configuration, or install it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

SERVER = "agentic-os"
PROFILE = "full"

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
def config(client: ClientName, root: Roots = None, profile: Profile = PROFILE) -> None:
    """Print the exact block for a client's file, or its own command.

    Example: agentic-os mcp config --client codex
    """
    import shlex

    from agentic_os.cli.output import say, write
    from agentic_os.server.setup.clients import add_command, client_named, config_block

    known = client_named(client)
    command = _command(root, profile)
    write(config_block(known, SERVER, command))
    say(f"Belongs into ~/{known.file}.")
    own = add_command(known, SERVER, command)
    if own:
        say(f"Or run: {shlex.join(own)}")


@app.command("install")
def install(
    client: ClientName,
    root: Roots = None,
    profile: Profile = PROFILE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be done; write nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Add the server to a client: by its own command where it has one, else in its file.

    Only one key is merged; comments and other keys stay, and the old file is kept beside it.

    Example: agentic-os mcp install --client cursor --dry-run
    """
    import shlex
    import shutil
    from pathlib import Path

    from agentic_os.cli.output import say, write, write_document
    from agentic_os.results import Answer
    from agentic_os.server.setup.clients import add_command, client_named
    from agentic_os.server.setup.install import install as merge
    from agentic_os.server.setup.install import install_by_client

    known = client_named(client)
    command = _command(root, profile)
    own = add_command(known, SERVER, command)
    if own and shutil.which(own[0]):
        answer = install_by_client(known, own, dry_run=dry_run)
    else:
        answer = merge(known, SERVER, command, home=Path.home(), dry_run=dry_run)
    if json:
        write_document("mcp-install", Answer(data=answer))
        return
    if answer.command:
        write(shlex.join(answer.command) + "\n")
        say(f"{answer.command[0]} has added it." if answer.written else "Nothing was run.")
        return
    write(answer.diff)
    if not answer.changed:
        say(f"~/{answer.file} has it already.")
    elif answer.written:
        say(
            f"Written to ~/{answer.file}."
            + (f" Old file: ~/{answer.backup}" if answer.backup else "")
        )


def _command(root: list[str] | None, profile: str) -> tuple[str, ...]:
    import shutil
    import sys
    from pathlib import Path

    if profile not in {"full", "aios"}:
        raise typer.BadParameter("profiles are full and aios")
    found = shutil.which("agentic-os")
    beside = Path(sys.executable).with_name("agentic-os")
    program = found or (str(beside) if beside.is_file() else "agentic-os")
    words = [program, "serve"]
    for one in root or ():
        words += ["--root", str(Path(one).expanduser().absolute())]
    return (*words, "--profile", profile) if profile != PROFILE else tuple(words)
