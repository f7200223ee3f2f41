"""How the AIOS folder of a command line is reached, and what is said of what is kept back."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.writing.changes import Journal
from agentic_os.aios.writing.faults import LOCKED
from agentic_os.aios.writing.locks import LockForm
from agentic_os.aios.writing.writer import FolderWriter
from agentic_os.cli.output import say
from agentic_os.files.places import places_from
from agentic_os.files.publishing import private_folder
from agentic_os.server.scope.aios import person_access

STATE_LOCK: Final = LockForm(
    path="changes/write.lock",
    format="dotaios-file-replacement-lock/v1",
    wait_seconds=10.0,
    code=LOCKED,
)


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


@contextmanager
def state_journal(
    access: AiosAccess, *, make: bool = False, root: Path | None = None
) -> Iterator[Journal | None]:
    """Open the journal of changes outside the folder; ``None`` while there is none."""
    state = places_from(os.environ).state
    if make:
        private_folder(state)
    elif not state.is_dir():
        yield None
        return
    with FolderWriter(state) as writer:
        yield Journal(
            writer=writer,
            lock=STATE_LOCK,
            clock=access.clock,
            folder="changes",
            root=None if root is None else str(root),
        )


def say_held_back(withheld: int, hidden: int) -> None:
    """Say how much was left out or hidden."""
    if withheld:
        say(f"Left out because they look like secrets: {withheld}.")
    if hidden:
        say(f"Hidden or controlling characters in what is shown: {hidden}.")
