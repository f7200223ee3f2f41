"""The lines of a passage that answer a query.

A passage is matched line by line with the same tokenizer as the word index, in memory, so that
what is quoted is chosen from the text as it is now and not as it was indexed.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from agentic_os.text.tokens import fts_query, index_extra
from agentic_os.tiers.lexical import literal_text

SNIPPET_LINES = 3
SNIPPET_LINE_CHARS = 300
_LEAD_CHARS = 80
"""How much of a long line is kept before the place that matched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Lines ``start..end`` and their text, cut to the snippet's bounds."""

    start: int
    end: int
    text: str


class LineMatcher:
    """Finds the best lines of texts for one query; use as a context manager."""

    def __init__(self, query: str) -> None:
        """Prepare for one query."""
        self._match = fts_query(query, any_term=True)
        self._needle = literal_text(query).casefold()
        self._words = sqlite3.connect(":memory:", isolation_level=None)
        self._words.execute(
            "CREATE VIRTUAL TABLE line USING fts5(text, extra, tokenize='porter unicode61')"
        )

    def close(self) -> None:
        """Free the memory."""
        self._words.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def matches(self, text: str) -> bool:
        """Return whether a short text, a name say, answers the query in any of its terms."""
        return bool(self._ranked([text])) or (
            bool(self._needle) and self._needle in text.casefold()
        )

    def best(self, lines: Sequence[str], *, first_line: int) -> Passage | None:
        """Find the best stretch of a passage; ``None`` if no line of it matches.

        Args:
            lines: the passage's lines.
            first_line: the number of the first of them.
        """
        literal = [
            number
            for number, line in enumerate(lines)
            if self._needle and self._needle in line.casefold()
        ]
        ranked = self._ranked(lines)
        if not literal and not ranked:
            return None
        held = set(literal)
        among = [number for number in ranked if number in held] if literal else ranked
        start = among[0] if among else literal[0]
        matching = {*literal, *ranked}
        end = start
        while end + 1 < len(lines) and end - start + 1 < SNIPPET_LINES and end + 1 in matching:
            end += 1
        return self.quote(lines, start, end, first_line=first_line)

    def quote(self, lines: Sequence[str], start: int, end: int, *, first_line: int) -> Passage:
        """Lines ``start..end`` (from 0) as a snippet, long ones cut around what matched."""
        return Passage(
            start=first_line + start,
            end=first_line + end,
            text="\n".join(self._cut(line) for line in lines[start : end + 1]),
        )

    def _ranked(self, lines: Sequence[str]) -> list[int]:
        if self._match is None:
            return []
        self._words.execute("DELETE FROM line")
        self._words.executemany(
            "INSERT INTO line(rowid, text, extra) VALUES(?,?,?)",
            [(number, line, index_extra(line)) for number, line in enumerate(lines)],
        )
        return [
            row[0]
            for row in self._words.execute(
                "SELECT rowid FROM line WHERE line MATCH ? ORDER BY rank, rowid", (self._match,)
            )
        ]

    def _cut(self, line: str) -> str:
        if len(line) <= SNIPPET_LINE_CHARS:
            return line
        at = line.casefold().find(self._needle) if self._needle else -1
        if at < 0:
            words = self._needle.split()
            at = next((found for word in words if (found := line.casefold().find(word)) >= 0), 0)
        start = max(0, min(at - _LEAD_CHARS, len(line) - SNIPPET_LINE_CHARS))
        return line[start : start + SNIPPET_LINE_CHARS]
