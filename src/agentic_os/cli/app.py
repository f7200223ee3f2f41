"""The command line as one Typer application.

Each command, or group of commands, is a file below ``commands`` by the same name. Loading all of
them costs as much as answering a warm question, so a call that names one gets that one; anything
else (help, a slip of the pen) gets all. Modules of commands import nothing heavy: a
command loads what it needs when it runs, so that ``--help`` and shell completion stay quick.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Annotated

import typer

from agentic_os.cli.help import Sections

COMMANDS = {
    "start": "fleet.start",
    "open": "ask.open",
    "scan": "fleet.scan",
    "roots": "fleet.roots",
    "seam": "fleet.seam",
    "aggregate": "fleet.aggregate",
    "memory": "ask.memory",
    "vault": "ask.vault",
    "capabilities": "ask.capabilities",
    "instructions": "ask.instructions",
    "search": "ask.search",
    "graph": "ask.graph.app",
    "index": "fleet.index",
    "model": "fleet.model",
    "aios": "person.aios",
    "ledger": "trust.ledger",
    "witness": "trust.witness",
    "plugins": "trust.plugins",
    "serve": "agents.serve",
    "mcp": "agents.mcp",
    "hook": "agents.hook",
    "dashboard": "agents.dashboard",
    "doctor": "fleet.doctor",
    "paths": "fleet.paths",
    "extras": "fleet.extras",
    "purge": "fleet.purge",
}
"""Each command and its module below ``commands``, in the order of the help text.

A module has an ``app``, or a function of its own name.
"""


@lru_cache(maxsize=len(COMMANDS) + 1)
def application(only: str | None = None) -> typer.Typer:
    """Make the command line, or the part of it under one name of ``COMMANDS``."""
    app = typer.Typer(
        name="agentic-os",
        help="Ask all of your repositories at once: what they remember, can do, and how they"
        " connect. Projects are only ever read.",
        cls=Sections,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in COMMANDS if only is None else (only,):
        module = import_module(f"agentic_os.cli.commands.{COMMANDS[name]}")
        if isinstance(group := getattr(module, "app", None), typer.Typer):
            app.add_typer(group, name=name)
        else:
            app.command(name)(getattr(module, name))
    app.callback(invoke_without_command=True)(_alone)
    return app


def part_for(words: Sequence[str]) -> typer.Typer:
    """Make the part of the command line that runs ``words``; only its speed differs."""
    return application(words[0]) if words and words[0] in COMMANDS else application()


def _alone(
    context: typer.Context,
    show: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version and exit.")
    ] = False,
) -> None:
    """Print the version, or what there is and what comes next."""
    if show:
        from agentic_os import __version__
        from agentic_os.cli.output import write

        write(f"agentic-os {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from agentic_os.cli.actions.fleet.state import print_state

        print_state()


def command_name(words: Sequence[str]) -> str:
    """Name the command of a command line, for the schema of its document: ``roots-list``."""
    spoken = [word for word in words if not word.startswith("-")]
    if not spoken:
        return "agentic-os"
    groups = part_for(spoken).registered_groups
    group = next((one for one in groups if one.name == spoken[0]), None)
    if group is not None and group.typer_instance is not None and len(spoken) > 1:
        within = {command.name for command in group.typer_instance.registered_commands}
        return f"{spoken[0]}-{spoken[1]}" if spoken[1] in within else spoken[0]
    return spoken[0]
