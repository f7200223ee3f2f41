"""``agentic-os start``."""

from typing import Annotated

import typer


def start(
    yes: Annotated[bool, typer.Option("--yes", help="Take every step without asking.")] = False,
) -> None:
    """Be led through the first steps: roots, a first question, the model, your coding agents.

    Every step is a plain command, which is printed. On a terminal each is asked for; elsewhere
    only the commands are printed, unless --yes is given.

    Example: agentic-os start
    """
    from agentic_os.cli.actions.fleet import first_steps

    first_steps.lead(yes=yes)
