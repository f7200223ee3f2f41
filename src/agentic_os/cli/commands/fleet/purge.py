"""``agentic-os purge``."""

from typing import Annotated

import typer

from agentic_os.cli.options import Json, Roots


def purge(
    root: Roots = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Delete the derived state of every set of roots.")
    ] = False,
    json: Json = False,
) -> None:
    """Delete derived state. Everything in it is made anew from the projects.

    Example: agentic-os purge --all
    """
    from agentic_os.aggregate.purging import purge_spaces
    from agentic_os.aggregate.workspace import Person
    from agentic_os.cli.output import finish_document, say, write

    answer = purge_spaces(Person.here(), root or (), everything=everything)
    if json:
        finish_document("purge", answer)
        return
    for space in answer.data.spaces:
        write(f"{space}\n")
    say(f"{len(answer.data.spaces)} deleted, {answer.data.bytes} bytes freed")
