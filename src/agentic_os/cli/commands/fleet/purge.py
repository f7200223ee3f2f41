"""``agentic-os purge``."""

from typing import Annotated

import typer

from agentic_os.cli.options import Adopt, Json, Roots, chosen_roots


def purge(
    root: Roots = None,
    adopt: Adopt = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Delete the stores of every set of roots, and the prepared models."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Delete derived state. Everything in it is made anew from the projects, or fetched again.

    Example: agentic-os purge --all
    """
    from agentic_os.cli.actions.fleet.purging import delete_derived

    delete_derived(root=chosen_roots(root, adopt=adopt), everything=everything, json=json)
