"""``agentic-os dashboard``."""

from typing import Annotated

import typer

from agentic_os.cli.options import Roots


def dashboard(
    root: Roots = None,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="The port on this machine; 0 takes a free one.")
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address; do not open a browser.")
    ] = False,
) -> None:
    """Look at the fleet, its answers, its graph and your identity in a browser.

    The page is served on this machine alone, until Ctrl-C, to browsers that are logged in with
    the address printed here. It only reads.

    Example: agentic-os dashboard --root ~/code
    """
    from agentic_os.cli.actions.agents import page

    page.serve(root=root or (), port=port, open_browser=not no_open)
