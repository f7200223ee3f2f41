"""``agentic-os instructions``."""

from typing import Annotated

import typer

from agentic_os.cli.options import Adopt, Json, Projects, Roots, chosen_roots


def instructions(
    target: Annotated[
        str | None,
        typer.Option("--for", metavar="PATH", help="Show what is loaded for this path."),
    ] = None,
    root: Roots = None,
    adopt: Adopt = False,
    project: Projects = None,
    private: Annotated[
        bool, typer.Option("--private", help="Also list one person's own (CLAUDE.local.md).")
    ] = False,
    json: Json = False,
) -> None:
    """List what agents are told in each project, and in which order each harness loads it.

    With --for: the files that apply to a path, the widest first, per harness. A path below the
    projects' folders; the project that holds an existing path is taken without --project.

    Example: agentic-os instructions --project shop --for src/app.py
    """
    from agentic_os.cli.actions.ask.told import print_instructions

    print_instructions(
        root=chosen_roots(root, adopt=adopt),
        project=project or (),
        target=target,
        private=private,
        json=json,
    )
