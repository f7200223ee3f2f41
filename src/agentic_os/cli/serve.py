"""``agentic-os serve``."""

from typing import Annotated

import typer

from agentic_os.cli.options import Roots


def serve(
    root: Roots = None,
    profile: Annotated[
        str, typer.Option(metavar="PROFILE", help="full, or aios for the AIOS folder alone.")
    ] = "full",
) -> None:
    """Serve the fleet and the AIOS context to a harness, over MCP on stdin and stdout.

    A harness starts this itself; see the how-to for its configuration.

    Example: agentic-os serve --root ~/code
    """
    from agentic_os.aggregate.workspace import Person
    from agentic_os.server.stdio import serve_stdio

    if profile == "full":
        serve_stdio(Person.here(), tuple(root or ()))
    elif profile == "aios":
        serve_stdio(Person.here(), tuple(root or ()), profile="aios")
    else:
        raise typer.BadParameter("profiles are full and aios")
