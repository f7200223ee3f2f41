"""Opening the folder for a change: the memory choice first, then what must hold of the folder."""

from collections.abc import Iterator
from contextlib import contextmanager

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.configuration import CONFIGURATION
from agentic_os.aios.folder.faults import FOLDER_MISSING, fault
from agentic_os.aios.folder.tree import TRANSACTIONS
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.writing.changes import Journal
from agentic_os.aios.writing.faults import MEMORY_OFF, RECOVERY_REQUIRED, write_fault
from agentic_os.aios.writing.locks import CHANGES_LOCK
from agentic_os.aios.writing.writer import FolderWriter


def require_memory(policy: MemoryPolicy) -> None:
    """Refuse a change while memory is off, before anything is looked at.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF.
    """
    if policy.mode == "off":
        raise write_fault(MEMORY_OFF)


@contextmanager
def open_for_writing(access: AiosAccess, policy: MemoryPolicy) -> Iterator[FolderWriter]:
    """Open an AIOS folder for one change.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF; DOTAIOS_FOLDER_MISSING;
            DOTAIOS_MIGRATION_RECOVERY_REQUIRED while a migration is unfinished; a write fault.
    """
    require_memory(policy)
    with FolderWriter(access.root, system=access.system, files=access.files) as writer:
        if not writer.see(CONFIGURATION).exists:
            raise fault(FOLDER_MISSING)
        if writer.names(TRANSACTIONS):
            raise write_fault(RECOVERY_REQUIRED)
        yield writer


def journal_of(writer: FolderWriter, access: AiosAccess) -> Journal:
    """Return the folder's own journal of changes."""
    return Journal(writer=writer, lock=CHANGES_LOCK, clock=access.clock)
