"""Set a harness up."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from agentic_os.cli.options import FULL_PROFILE
from agentic_os.cli.output import say, write, write_document
from agentic_os.results import Answer
from agentic_os.server.setup.clients import add_command, client_named, config_block
from agentic_os.server.setup.install import install as merge
from agentic_os.server.setup.install import install_by_client

SERVER = "agentic-os"


def config(*, client: str, root: Sequence[str], profile: str) -> None:
    """Print the exact block for a client's file, or its own command."""
    known = client_named(client)
    command = _command(root, profile)
    write(config_block(known, SERVER, command))
    say(f"Put it into ~/{known.file}.")
    own = add_command(known, SERVER, command)
    if own:
        say(f"Or run: {shlex.join(own)}")


def install(*, client: str, root: Sequence[str], profile: str, dry_run: bool, json: bool) -> None:
    """Add the server to a client: by its own command where it has one, else in its file."""
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


def _command(root: Sequence[str], profile: str) -> tuple[str, ...]:
    if profile not in {"full", "aios"}:
        raise typer.BadParameter("profiles are full and aios")
    found = shutil.which("agentic-os")
    beside = Path(sys.executable).with_name("agentic-os")
    program = found or (str(beside) if beside.is_file() else "agentic-os")
    words = [program, "serve"]
    for one in root:
        words += ["--root", str(Path(one).expanduser().absolute())]
    return (*words, "--profile", profile) if profile != FULL_PROFILE else tuple(words)
