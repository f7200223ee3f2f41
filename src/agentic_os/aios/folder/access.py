"""How a request reaches the AIOS folder: everything that is handed in, in one value.

This room may not read settings (design section 2), so the person's grants and allow-list
arrive here as callables and values.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_os.aios.folder.layer import FileLayer
from agentic_os.aios.folder.withheld import SecretGuard

if TYPE_CHECKING:
    from agentic_os.aios.folder.system import System


def local_now() -> datetime:
    """Return the present moment in the machine's local time zone."""
    return datetime.now().astimezone()


def grants_nothing(_folder: Path) -> bool:
    """Grant no external folder: the rule until the person grants one."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class AiosAccess:
    """The folder and what a request may use around it.

    Args:
        root: the AIOS folder, absolute, as the person named it.
        files: the only door to the disk.
        clock: the present moment with a time zone; its day is today.
        vault_granted: whether the person granted reading that exact external folder.
        guard: finds text that holds a secret.
        state_path: the machine-local map of project checkouts, outside the folder.
        home: the person's home folder, for ``~`` in ``vault_path``.
        system: the calls that change the disk, for the verbs that write.
    """

    root: Path
    files: FileLayer = field(default_factory=FileLayer)
    clock: Callable[[], datetime] = local_now
    vault_granted: Callable[[Path], bool] = grants_nothing
    guard: SecretGuard = field(default_factory=SecretGuard)
    state_path: Path | None = None
    home: Path | None = None
    system: "System | None" = None
