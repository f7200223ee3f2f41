"""Set a harness up: print, install, check and take out the server's entry and the hook."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from agentic_os.aggregate.fleet import Person
from agentic_os.cli.options import FULL_PROFILE
from agentic_os.cli.output import say, write, write_document
from agentic_os.results import Answer
from agentic_os.server.setup.clients import (
    Client,
    Place,
    add_command,
    client_named,
    config_block,
    shown_path,
)
from agentic_os.server.setup.entry import Asked, needed_roots, server_entry
from agentic_os.server.setup.harnesses import SERVER
from agentic_os.server.setup.hooking import VERB, hooks_place, install_hook, uninstall_hook
from agentic_os.server.setup.install import (
    Installation,
    Target,
    has_entry,
    install_by_client,
)
from agentic_os.server.setup.install import install as merge
from agentic_os.server.setup.install import uninstall as take_out
from agentic_os.text.fencing import terminal_safe


def config(*, client: str, root: Sequence[str], profile: str) -> None:
    """Print the exact block for a client's file, and its own command."""
    known, asked = client_named(client), _asked(root, profile)
    entry = server_entry(asked)
    write(config_block(known, SERVER, entry))
    say(f"Put it into {_target(known, known.servers).shown}.")
    own = add_command(known, SERVER, entry)
    if own:
        say(f"Or run: {shlex.join(own)}")
    _say_roots(asked)


def install(*, client: str, root: Sequence[str], profile: str, dry_run: bool, json: bool) -> None:
    """Add the server to a client: by its own command where it has one, else in its file."""
    known, asked = client_named(client), _asked(root, profile)
    target, entry = _target(known, known.servers), server_entry(asked)
    own = add_command(known, SERVER, entry)
    # A client's command refuses, or replaces, an entry that is there: then its file is edited.
    if own and shutil.which(own[0]) and not has_entry(target, SERVER):
        answer = install_by_client(target, own, dry_run=dry_run)
    else:
        answer = merge(target, SERVER, entry, dry_run=dry_run)
    if json:
        write_document("mcp-install", Answer(data=answer))
        return
    if answer.command:
        write(shlex.join(answer.command) + "\n")
        say(f"{answer.command[0]} has added it." if answer.written else "Nothing was run.")
    else:
        _print_change(answer, unchanged="has it already: already there.")
    _say_roots(asked)
    if answer.written:
        say(f"See what it sees: agentic-os mcp check --client {known.name}")


def uninstall(*, client: str, dry_run: bool, json: bool) -> None:
    """Take the server out of a client's file."""
    known = client_named(client)
    answer = take_out(_target(known, known.servers), SERVER, dry_run=dry_run)
    if json:
        write_document("mcp-uninstall", Answer(data=answer))
        return
    _print_change(answer, unchanged="has no such server.")


def check(*, client: str, question: str | None, json: bool) -> None:
    """Start the entry as the harness would, and print what the server sees."""
    # Only this starts anything.
    from agentic_os.server.setup.check import check as ask

    known = client_named(client)
    found = ask(_target(known, known.servers), SERVER, os.environ, Path.home(), question=question)
    if json:
        write_document("mcp-check", Answer(data=found))
        return
    write(f"server\t{found.server}\n")
    write(f"command\t{shlex.join(found.command)}\n")
    write("".join(f"variable\t{name}={value}\n" for name, value in found.environ.items()))
    write(f"tools\t{len(found.tools)}\n")
    if found.projects is not None:
        write(f"projects\t{found.projects}\n")
    write(f"aios\t{found.aios}\n")
    if found.answer is not None:
        write(f"\n{terminal_safe(found.answer)}\n")


def install_hooks(*, client: str, root: Sequence[str], dry_run: bool, json: bool) -> None:
    """Add the session-start hook to a client's file of hooks."""
    known, asked = client_named(client), _asked(root, FULL_PROFILE)
    target = _target(known, hooks_place(known))
    answer = install_hook(target, server_entry(asked, verb=VERB), dry_run=dry_run)
    if json:
        write_document("hook-install", Answer(data=answer))
        return
    _print_change(answer, unchanged="has it already: already there.")
    _say_roots(asked)


def uninstall_hooks(*, client: str, dry_run: bool, json: bool) -> None:
    """Take the session-start hook out of a client's file of hooks."""
    known = client_named(client)
    answer = uninstall_hook(_target(known, hooks_place(known)), dry_run=dry_run)
    if json:
        write_document("hook-uninstall", Answer(data=answer))
        return
    _print_change(answer, unchanged="has no such hook.")


def _print_change(answer: Installation, *, unchanged: str) -> None:
    write(answer.diff)
    if not answer.changed:
        say(f"{answer.file} {unchanged}")
    elif answer.written:
        kept = f" Old file: {answer.backup}" if answer.backup else ""
        say(f"Written to {answer.file}.{kept}")


def _say_roots(asked: Asked) -> None:
    if not asked.roots and needed_roots(asked):
        say("No roots are configured, so the current folder is written as --root.")


def _target(client: Client, place: Place) -> Target:
    home = Path.home()
    path = place.path(os.environ, home)
    return Target(client=client, path=path, shown=shown_path(path, home))


def _asked(root: Sequence[str], profile: str) -> Asked:
    if profile not in {FULL_PROFILE, "aios"}:
        raise typer.BadParameter("profiles are full and aios")
    found = shutil.which("agentic-os")
    beside = Path(sys.executable).with_name("agentic-os")
    return Asked(
        program=found or (str(beside) if beside.is_file() else "agentic-os"),
        environ=os.environ,
        home=Path.home(),
        current=Person.here().current,
        roots=root,
        profile_words=() if profile == FULL_PROFILE else ("--profile", profile),
    )
