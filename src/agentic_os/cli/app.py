"""The whole command line as one Typer application.

Each command group is a file of this room. Modules imported here import nothing heavy: a command
loads what it needs when it runs, so that ``--help`` and shell completion stay quick.
"""

from collections.abc import Sequence

import typer

from agentic_os.cli import (
    aggregate,
    aios,
    capabilities,
    doctor,
    graph,
    hook,
    index,
    ledger,
    mcp,
    memory,
    model,
    paths,
    purge,
    roots,
    scan,
    search,
    serve,
    vault,
    witness,
)

app = typer.Typer(
    name="agentic-os",
    help="Ask all of your repositories at once: what they remember, can do, and how they connect."
    " Projects are only ever read.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("scan")(scan.scan)
app.add_typer(roots.app, name="roots")
app.command("aggregate")(aggregate.aggregate)
app.command("memory")(memory.memory)
app.command("vault")(vault.vault)
app.command("capabilities")(capabilities.capabilities)
app.command("search")(search.search)
app.add_typer(graph.app, name="graph")
app.add_typer(index.app, name="index")
app.add_typer(model.app, name="model")
app.add_typer(aios.app, name="aios")
app.add_typer(ledger.app, name="ledger")
app.add_typer(witness.app, name="witness")
app.command("serve")(serve.serve)
app.add_typer(mcp.app, name="mcp")
app.add_typer(hook.app, name="hook")
app.command("doctor")(doctor.doctor)
app.command("paths")(paths.paths)
app.command("purge")(purge.purge)


@app.callback(invoke_without_command=True)
def version(
    show: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    """Print the version."""
    if show:
        from agentic_os import __version__
        from agentic_os.cli.output import write

        write(f"agentic-os {__version__}\n")
        raise typer.Exit


def command_name(words: Sequence[str]) -> str:
    """The command that a command line means, for the schema of its document: ``roots-list``."""
    spoken = [word for word in words if not word.startswith("-")]
    if not spoken:
        return "agentic-os"
    group = next((one for one in app.registered_groups if one.name == spoken[0]), None)
    if group is not None and group.typer_instance is not None and len(spoken) > 1:
        within = {command.name for command in group.typer_instance.registered_commands}
        return f"{spoken[0]}-{spoken[1]}" if spoken[1] in within else spoken[0]
    return spoken[0]
