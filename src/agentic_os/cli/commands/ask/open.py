"""``agentic-os open``."""

from typing import Annotated

import typer

from agentic_os.cli.options import Roots


def open(  # noqa: A001 - the name of the command
    hit: Annotated[
        str,
        typer.Argument(metavar="HIT", help="A place as search prints it: PROJECT:PATH:LINE."),
    ],
    root: Roots = None,
    show: Annotated[
        bool, typer.Option("--print", help="Print the absolute path instead of opening it.")
    ] = False,
) -> None:
    """Open the file of a hit in your editor (VISUAL, else EDITOR), at its line.

    Only a file inside of a project is opened.

    Example: agentic-os open shop-4849f98a:.agents/memory/rates.md:7
    """
    from agentic_os.cli.actions.ask import opening

    opening.open_hit(hit=hit, root=root or (), show=show)
