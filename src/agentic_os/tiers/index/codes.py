"""Every code about the semantic index: how bad it is, what it means, what to do.

Errors and warnings take their hint from this table, and the reference page is printed from it.
"""

from agentic_os.codes import CodeTable
from agentic_os.errors import SemanticIndexError

_REBUILD = "Make it anew: agentic-os index build"

INDEX_CODES = CodeTable(
    (
        "SEMANTIC_UNAVAILABLE",
        "info",
        "There is no semantic index; the words themselves are searched.",
        "Make one: agentic-os model prepare, then agentic-os index build.",
    ),
    (
        "MODEL_MISSING",
        "warning",
        "The embedding model is not prepared on this machine.",
        "Prepare it once: agentic-os model prepare",
    ),
    (
        "EMBEDDER_CHANGED",
        "warning",
        "The index was made by another embedding model; vectors never mix.",
        _REBUILD,
    ),
    ("INDEX_DAMAGED", "error", "The bytes of the index cannot be used.", _REBUILD),
    (
        "INDEX_FULL",
        "error",
        "There is no room for the index; what was indexed before still answers.",
        "Free some space in the cache folder; what was indexed before still answers.",
    ),
    (
        "INDEX_UNWRITABLE",
        "error",
        "The folder of the index cannot be written.",
        "`agentic-os paths` shows it; AGENTIC_OS_CACHE_DIR moves it.",
    ),
    (
        "EXTRA_MISSING",
        "warning",
        "What reads the index, or runs the model, is not installed.",
        "Install the extra `rag`: `agentic-os extras` says how.",
    ),
)

NO_INDEX = "there is no semantic index"
OTHER_EMBEDDER = "the semantic index was made by another embedding model"


def index_error(code: str, message: str) -> SemanticIndexError:
    """Build an error; its hint comes from the table."""
    return SemanticIndexError(message, code=code, hint=INDEX_CODES[code].hint)
