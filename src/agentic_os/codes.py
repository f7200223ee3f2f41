"""Tables of codes, and the diagnostics that are made from them.

Each room that notices things has one table. It says of each code how bad it is, what it means
and what to do; the reference page is printed from the same rows, so page and program cannot
disagree. A code that stands in no table cannot be used.

>>> codes = CodeTable(("KEY_DUPLICATE", "warning", "A key stands twice.", "Remove one of them."))
>>> codes.diagnostic("KEY_DUPLICATE", "'name' stands twice", line=3).hint
'Remove one of them.'
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from agentic_os.results import Diagnostic, Omission, Severity

_RowTuple = tuple[str, Severity, str] | tuple[str, Severity, str, str]


class CodeRow(NamedTuple):
    """One row of a table.

    ``info`` needs no action, ``warning`` means that something was left out or is doubtful,
    ``error`` that evidence is missing. Codes are stable: never renamed, never reused.
    """

    code: str
    severity: Severity
    meaning: str
    hint: str = ""


class CodeTable(Mapping[str, CodeRow]):
    """The codes of one room, in the order in which the reference page prints them."""

    def __init__(self, *rows: _RowTuple) -> None:
        """Build the table from ``(code, severity, meaning[, hint])`` rows."""
        self._rows = {row[0]: CodeRow(*row) for row in rows}

    def __getitem__(self, code: str) -> CodeRow:
        """Return the row of a code."""
        return self._rows[code]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the codes."""
        return iter(self._rows)

    def __len__(self) -> int:
        """Return the number of codes."""
        return len(self._rows)

    def diagnostic(
        self, code: str, message: str, *, path: str | None = None, line: int | None = None
    ) -> Diagnostic:
        """Build a diagnostic; severity and hint come from the table."""
        row = self._rows[code]
        return Diagnostic(
            code=code, severity=row.severity, message=message, hint=row.hint, path=path, line=line
        )

    def omission(self, code: str, scope: str, reason: str = "", *, count: int = 1) -> Omission:
        """Build an omission; without a reason of its own, the meaning of the code is given."""
        row = self._rows[code]
        return Omission(code=code, scope=scope, reason=reason or row.meaning, count=count)
