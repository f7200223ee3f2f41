"""``agentic-os capabilities``."""

from typing import Annotated

import typer

from agentic_os.cli.options import Adopt, Json, Projects, Roots, chosen_roots


def capabilities(
    root: Roots = None,
    adopt: Adopt = False,
    project: Projects = None,
    matrix: Annotated[bool, typer.Option("--matrix", help="Count the kinds by project.")] = False,
    json: Json = False,
) -> None:
    """Show which projects have which skills, servers, hooks, agents, commands and plugins.

    Read from CAPABILITIES.md and the harnesses' own files; nothing is started. Projects that
    opted out of retrieval are included.

    Example: agentic-os capabilities --json
    """
    from agentic_os.cli.actions.ask.inventory import print_capabilities

    print_capabilities(
        root=chosen_roots(root, adopt=adopt), project=project or (), matrix=matrix, json=json
    )
