"""The refusals of the writing side: stable codes, messages that never name a path."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from agentic_os.errors import AiosError

UNSAFE_TARGET: Final = "DOTAIOS_WRITE_UNSAFE_TARGET"
CONFLICT: Final = "DOTAIOS_WRITE_CONFLICT"
WRITE_FAILED: Final = "DOTAIOS_WRITE_FAILED"
PLAN_STALE: Final = "DOTAIOS_PLAN_STALE"
MEMORY_OFF: Final = "DOTAIOS_MEMORY_OFF"
EVENT_STORE_LOCKED: Final = "DOTAIOS_EVENT_STORE_LOCKED"
LOCKED: Final = "DOTAIOS_WRITE_LOCKED"
SESSIONS_LOCKED: Final = "DOTAIOS_SESSION_STORE_CONTENTION"
POISONED: Final = "DOTAIOS_SESSION_STORE_POISONED"
RECOVERY_REQUIRED: Final = "DOTAIOS_MIGRATION_RECOVERY_REQUIRED"
NOTHING_TO_UNDO: Final = "DOTAIOS_NOTHING_TO_UNDO"
UNDO_REFUSED: Final = "DOTAIOS_UNDO_REFUSED"

MESSAGES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        UNSAFE_TARGET: (
            "a target of this change is a link, a special file or has several names",
            "put a regular file in its place, then preview again",
        ),
        CONFLICT: (
            "a target changed while it was being replaced; it was left as it is",
            "look at it, then preview again",
        ),
        WRITE_FAILED: ("the AIOS folder could not be written", "look at its permissions and disk"),
        PLAN_STALE: (
            "what would be changed is not what was previewed; nothing was changed",
            "preview again and apply that",
        ),
        MEMORY_OFF: (
            "AIOS memory is off for this request: nothing was read or written",
            "choose shared or project memory to write",
        ),
        EVENT_STORE_LOCKED: (
            "another process is writing the event log",
            "try again in a moment",
        ),
        LOCKED: ("another process is writing here", "try again in a moment"),
        SESSIONS_LOCKED: ("another process is writing captured sessions", "try again in a moment"),
        POISONED: (
            "the session store holds an unfinished change that fits neither before nor after",
            "see: agentic-os aios capture reconcile",
        ),
        RECOVERY_REQUIRED: (
            "a migration of this folder was started and not finished",
            "see: agentic-os aios migrate --recover",
        ),
        NOTHING_TO_UNDO: ("there is no recorded change to undo", ""),
        UNDO_REFUSED: (
            "a target is not as the change left it; nothing was undone",
            "look at it first: what was done since would be lost",
        ),
    }
)


def write_fault(code: str, path: str = "") -> AiosError:
    """Make the error of ``code`` with its fixed message and hint, for one file of the folder."""
    message, hint = MESSAGES[code]
    made = AiosError(message, code=code, hint=hint)
    made.locate(path)
    return made
