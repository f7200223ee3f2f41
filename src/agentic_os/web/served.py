"""Whom the page serves: the person's fleet, folder and identity, handed in by the command line."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_os.aggregate.workspace import Workspace
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.policy import MemoryPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What the answers are computed from, and the last look over them.

    Attributes:
        workspace: opens the fleet for one question, as the last look for changes left it.
        sweep: takes in what changed; returns the store's generation.
        aios: how the person's AIOS folder is reached under a memory choice.
        identity: the identity's folder.
        clean: takes secrets, hidden characters and the home folder out of a JSON value.
    """

    workspace: Callable[[], AbstractContextManager[Workspace]]
    sweep: Callable[[], int]
    aios: Callable[[MemoryPolicy], AiosAccess]
    identity: Path
    clean: Callable[[Any], Any]
