"""How the AIOS folder of a command line is reached, and what is said of what is kept back."""

import os
from pathlib import Path
from typing import Final

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.cli.output import say
from agentic_os.server.scope.aios import person_access

INCOMPLETE: Final = 2
"""Exit code of an answer that is incomplete or a refusal."""


def folder_access(
    policy: MemoryPolicy,
    path: str | None,
    state_path: str | None = None,
    *,
    home: str | None = None,
) -> AiosAccess:
    """Put together how the folder is reached; with memory off, nothing is looked at."""
    own = Path.home() if home is None else Path(home).expanduser()
    chosen = path if path is not None or home is None else str(own / "aios")
    return person_access(
        os.environ, own, folder=_absolute(chosen), state_path=_absolute(state_path)
    )(policy)


def _absolute(given: str | None) -> Path | None:
    return None if given is None else Path(given).expanduser().absolute()


def say_held_back(withheld: int, hidden: int) -> None:
    """Say how much was left out or hidden."""
    if withheld:
        say(f"Left out because they look like secrets: {withheld}.")
    if hidden:
        say(f"Hidden or controlling characters in what is shown: {hidden}.")
