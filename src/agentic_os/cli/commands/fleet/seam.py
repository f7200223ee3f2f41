"""``agentic-os seam``: let project-init register a project that has no descriptor."""

from typing import Annotated

import typer

from agentic_os.cli.completion import stack_names
from agentic_os.cli.options import Json, Roots, chosen_roots

app = typer.Typer(
    help="Let project-init register a project that has no descriptor.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("add")
def add(
    project: Annotated[
        str, typer.Argument(metavar="PROJECT", help="The project, by id, alias, name or path.")
    ],
    stack: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="Its memory; default: what lies in it.",
            autocompletion=stack_names,
        ),
    ] = None,
    apply: Annotated[
        str | None,
        typer.Option(
            metavar="FINGERPRINT", help="Start project-init as planned, if nothing has changed."
        ),
    ] = None,
    root: Roots = None,
    json: Json = False,
) -> None:
    """Show what project-init would be told and would write; start it only when approved.

    Example: agentic-os seam add shop --stack auto
    """
    from agentic_os.cli.actions.fleet import seams

    seams.add(
        project=project,
        stack=stack,
        fingerprint=apply,
        root=chosen_roots(root, adopt=True),
        json=json,
    )
