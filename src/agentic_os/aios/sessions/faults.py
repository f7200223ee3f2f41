"""The refusals of captured sessions: ``DOTAIOS_SESSION_`` and a word of this table."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from agentic_os.errors import AiosError

PREFIX: Final = "DOTAIOS_SESSION_"
RECONCILE: Final = "see: agentic-os aios capture reconcile"

MESSAGES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "FRONTMATTER_MISSING": ("a session has no front matter", RECONCILE),
        "FRONTMATTER_INVALID": ("the front matter of a session is not valid", RECONCILE),
        "FRONTMATTER_UNSAFE": ("the front matter of a session is more than scalars", RECONCILE),
        "FRONTMATTER_REQUIRED": ("the front matter of a session lacks a field", RECONCILE),
        "FIELD_INVALID": ("a field of a session is not valid", RECONCILE),
        "TURN_COUNT_MISMATCH": ("a session has another number of turns than it says", RECONCILE),
        "BODY_INVALID": ("the body of a session is not valid", RECONCILE),
        "DOCUMENT_TOO_LARGE": ("a session is larger than 1 MiB", "it stays in its transcript"),
        "UTF8_INVALID": ("a session is not valid UTF-8", RECONCILE),
        "SOURCE_UNAVAILABLE": ("the transcript is not there or cannot be read", ""),
        "SOURCE_UNAUTHORIZED": ("the transcript is a link or a special file", ""),
        "SOURCE_TOO_LARGE": ("the transcript is larger than 256 MiB", ""),
        "SOURCE_INVALID": ("the transcript holds no conversation that is known", ""),
        "INVENTORY_TOO_LARGE": (
            "there are more captured sessions than the store can hold",
            "move older days of memory/sessions/ elsewhere, then reconcile",
        ),
        "RECONCILIATION_REQUIRED": (
            "the index of captured sessions does not say what the files say",
            RECONCILE,
        ),
        "NOT_FOUND": ("no captured session has this id", "see: agentic-os aios capture list"),
        "AMBIGUOUS": ("several captured sessions fit", "use the whole id"),
        "ID_COLLISION": ("no free session id was found", "try again"),
        "REQUEST_DIFFERS": (
            "another summary was saved under this operation id",
            "use a new operation id",
        ),
    }
)


def session_fault(word: str, path: str = "") -> AiosError:
    """Make the error of one word of the table, for one file of the folder."""
    message, hint = MESSAGES[word]
    made = AiosError(message, code=PREFIX + word, hint=hint)
    made.locate(path)
    return made
