"""``agentic-os memory``."""

from typing import Annotated

import typer

from agentic_os.cli.options import Adopt, Json, Projects, Roots, chosen_roots


def memory(
    root: Roots = None,
    adopt: Adopt = False,
    project: Projects = None,
    differences: Annotated[
        bool,
        typer.Option(
            "--differences",
            help="List the keys that two or more projects state with different values.",
        ),
    ] = False,
    show: Annotated[
        str | None,
        typer.Option(
            "--show",
            metavar="FACT",
            help="Print the text of one fact, by its title, its file or its source as printed.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show what the projects remember: every fact, with its source.

    Facts of equal text know of each other; nothing is merged away.

    Example: agentic-os memory --project shop --show "Rate limits"
    """
    from agentic_os.cli.actions.ask.remembered import print_facts

    print_facts(
        root=chosen_roots(root, adopt=adopt),
        project=project or (),
        differences=differences,
        show=show,
        json=json,
    )
