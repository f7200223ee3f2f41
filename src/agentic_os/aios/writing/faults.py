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
TEXT_REFUSED: Final = "DOTAIOS_SECRET_FOUND"
DAILY_AMBIGUOUS: Final = "DOTAIOS_DAILY_AMBIGUOUS"
DAILY_FILLED: Final = "DOTAIOS_DAILY_FILLED"
NO_PROMOTED_BLOCK: Final = "DOTAIOS_PROMOTION_NO_MATCH"
HOOK_SETTINGS: Final = "DOTAIOS_HOOK_SETTINGS_INVALID"
INIT_NOT_EMPTY: Final = "DOTAIOS_INIT_NOT_EMPTY"
INIT_OLD_SCHEMA: Final = "DOTAIOS_INIT_OLD_SCHEMA"

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
        TEXT_REFUSED: (
            "the text looks like it holds a secret",
            "leave it out; an update also takes --allow-secret",
        ),
        DAILY_AMBIGUOUS: (
            "the daily note has a section twice",
            "join the two by hand; nothing was changed",
        ),
        DAILY_FILLED: ("the section of the daily note is filled already", "pass --replace"),
        NO_PROMOTED_BLOCK: (
            "it is not one promoted block that fits",
            "name it with --match, by its content_hash or by words of it",
        ),
        HOOK_SETTINGS: (
            "the settings of Claude Code are not the JSON that is known",
            "correct the file first; nothing was changed",
        ),
        INIT_NOT_EMPTY: (
            "the folder holds something that init would not write",
            "choose an empty folder, or add what is missing with --force",
        ),
        INIT_OLD_SCHEMA: (
            "the folder has another schema than this program",
            "see: agentic-os aios migrate",
        ),
        NOTHING_TO_UNDO: ("there is no recorded change to undo", ""),
        UNDO_REFUSED: (
            "a target is not as the change left it; nothing was undone",
            "look at it first: what was done since would be lost",
        ),
    }
)


def write_fault(code: str, path: str = "", *, detail: str = "") -> AiosError:
    """Make the error of ``code`` with its fixed message and hint.

    Args:
        code: one of this module.
        path: the file of the folder that is at fault.
        detail: what is said beside the message, the rule that found a secret say.
    """
    message, hint = MESSAGES[code]
    made = AiosError(f"{message} ({detail})" if detail else message, code=code, hint=hint)
    made.locate(path)
    return made
