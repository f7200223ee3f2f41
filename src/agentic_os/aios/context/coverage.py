"""Coverage version 1: what the projection left out of the selected project's README.

It speaks of that one source and that transformation only; its absence is no claim of
completeness. Its size has an allowance of its own, apart from the visible budget.
"""

from dataclasses import dataclass
from typing import Final

from agentic_os.aios.folder.json_text import JsonObject, pretty
from agentic_os.text.budget import utf16_length

COVERAGE_CHARS: Final = 512
"""UTF-16 units: pretty JSON under the longest key, the notice again, and a separator."""

_COVERAGE_VERSION: Final = 1
_LONGEST_KEY: Final = "contextCoverage"
_SEPARATOR_CHARS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What is missing of the selected project's README.

    ``excerpt_clipped``: its excerpt is shorter than its text. ``budget_omitted``: some or
    all of the project's block is absent from the final projection.
    """

    excerpt_clipped: bool
    budget_omitted: bool

    @property
    def notice(self) -> str | None:
        """The warning about missing text, or ``None``."""
        missing = [
            words
            for flag, words in (
                (self.excerpt_clipped, "its excerpt is shortened"),
                (self.budget_omitted, "the budget left text out"),
            )
            if flag
        ]
        if not missing:
            return None
        return (
            f"> [AIOS] The selected project's README is shown in part: {' and '.join(missing)}. "
            "The missing text may hold constraints; do not infer it."
        )

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        return {
            "version": _COVERAGE_VERSION,
            "selectedProjectReadme": {
                "excerptClipped": self.excerpt_clipped,
                "budgetOmitted": self.budget_omitted,
            },
            "notice": self.notice,
        }

    @property
    def overhead_chars(self) -> int:
        """UTF-16 units that the coverage adds to an answer; at most ``COVERAGE_CHARS``."""
        notice = self.notice or ""
        shown = pretty({_LONGEST_KEY: self.as_json()})
        return utf16_length(shown) + utf16_length(notice) + _SEPARATOR_CHARS
