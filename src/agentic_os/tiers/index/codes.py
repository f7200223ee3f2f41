"""Every code about the semantic index: how bad it is, what it means, what to do.

The reference page is generated from this table.
"""

from collections.abc import Mapping
from types import MappingProxyType

from agentic_os.codes import CodeRow

_BUILD = "agentic-os index build"

INDEX_CODES: Mapping[str, CodeRow] = MappingProxyType(
    {
        row.code: row
        for row in (
            CodeRow(
                code="SEMANTIC_UNAVAILABLE",
                severity="info",
                meaning="There is no semantic index; the words themselves are searched.",
                hint="agentic-os model prepare, then agentic-os index build.",
            ),
            CodeRow(
                code="MODEL_MISSING",
                severity="warning",
                meaning="The embedding model is not prepared on this machine.",
                hint="agentic-os model prepare",
            ),
            CodeRow(
                code="EMBEDDER_CHANGED",
                severity="warning",
                meaning="The index was made by another embedding model; vectors never mix.",
                hint=_BUILD,
            ),
            CodeRow(
                code="INDEX_DAMAGED",
                severity="error",
                meaning="The bytes of the index cannot be used.",
                hint=f"{_BUILD} makes it anew.",
            ),
            CodeRow(
                code="INDEX_FULL",
                severity="error",
                meaning="There is no room for the index; what was indexed before still answers.",
                hint="Free some space in the cache folder.",
            ),
            CodeRow(
                code="INDEX_UNWRITABLE",
                severity="error",
                meaning="The folder of the index cannot be written.",
                hint="agentic-os paths shows it; AGENTIC_OS_CACHE_DIR moves it.",
            ),
            CodeRow(
                code="EXTRA_MISSING",
                severity="warning",
                meaning="What reads the index, or runs the model, is not installed.",
                hint="pip install 'agentic-os[rag]'",
            ),
        )
    }
)
