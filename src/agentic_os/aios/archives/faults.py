"""The refusals of the archives."""

from typing import Final

from agentic_os.errors import AiosError

LINE_TOO_LARGE: Final = "DOTAIOS_ARCHIVE_LINE_TOO_LARGE"
STATE_INVALID: Final = "DOTAIOS_ARCHIVE_STATE_INVALID"
LEGACY: Final = "DOTAIOS_ARCHIVE_LEGACY_RECOVERY_REQUIRED"

MESSAGES: Final = {
    LINE_TOO_LARGE: (
        "a line is larger than the 4 MiB that an archive may hold; nothing was moved",
        "shorten that line, or keep it elsewhere",
    ),
    STATE_INVALID: (
        "an archive is not in a state that maintenance could have left; nothing was moved",
        "look at the files of that archive in memory/ before anything else",
    ),
    LEGACY: (
        "the newest shard is the beginning of the active archive; one of the two is a copy",
        "compare the two and remove the copy; nothing was moved",
    ),
}


def archive_fault(code: str, path: str) -> AiosError:
    """Make the error of ``code`` for one file of the folder."""
    message, hint = MESSAGES[code]
    made = AiosError(message, code=code, hint=hint)
    made.locate(path)
    return made
