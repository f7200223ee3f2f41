"""``agentic-os index``: the semantic index."""

from typing import Annotated

import typer

from agentic_os.cli.options import Adopt, Json, Roots, chosen_roots

app = typer.Typer(
    help="The semantic index: search by meaning.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("build")
def build(
    root: Roots = None,
    adopt: Adopt = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Also take the code and documents of projects that are not of tier 3."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Bring the semantic index up to date: memory and vaults of all, code of tier 3.

    Only texts that are new are embedded. It can be interrupted: what is finished stays, and the
    next run goes on. Searches meanwhile answer from the state before.

    Example: agentic-os index build --root ~/code
    """
    from agentic_os.cli.actions.fleet import index

    index.build(chosen_roots(root, adopt=adopt), everything=everything, json=json)


@app.command("status")
def status(
    root: Roots = None,
    adopt: Adopt = False,
    left_out: Annotated[
        bool,
        typer.Option("--left-out", help="List the files and folders it leaves out, and why."),
    ] = False,
    json: Json = False,
) -> None:
    """Show what the semantic index holds, and what is not in it yet.

    With --json, what is left out is listed as well.

    Example: agentic-os index status --left-out
    """
    from agentic_os.cli.actions.fleet import index

    index.show_status(chosen_roots(root, adopt=adopt), left_out=left_out, json=json)


@app.command("optimize")
def optimize(root: Roots = None, adopt: Adopt = False, json: Json = False) -> None:
    """Compact the semantic index and delete its old versions; `index build` does it too.

    Example: agentic-os index optimize
    """
    from agentic_os.cli.actions.fleet import index

    index.optimize(chosen_roots(root, adopt=adopt), json=json)
