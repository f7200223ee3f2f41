"""The lines of a passage that answer a query.

A passage is matched line by line with the same tokenizer as the word index, in memory, so that
what is quoted is chosen from the text as it is now and not as it was indexed.
"""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentic_os.files.closing import SelfClosing
from agentic_os.text import unsegmented
from agentic_os.text.tokens import Term, index_extra, is_identifier, term_query
from agentic_os.text.unicode_form import composed
from agentic_os.tiers.wording import Wording, spaced

SNIPPET_LINES = 3
MAX_RANKED_CHARS = 20_000
"""A longer passage is not cut into words to weigh how much of the question it holds."""
SNIPPET_LINE_CHARS = 300
_HOLDS = "SELECT 1 FROM line WHERE line MATCH ? LIMIT 1"
_LEAST_WEIGHT = 1e-6
WORD_CHARS = 40
"""A cut looks so far for a blank; a longer run of characters is cut inside."""
_LEAD_CHARS = 80
"""How much of a long line is kept before the place that matched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Lines ``start..end`` and their text, cut to the snippet's bounds."""

    start: int
    end: int
    text: str


class LineMatcher(SelfClosing):
    """Finds the best lines of texts for one query; use as a context manager."""

    def __init__(self, query: str) -> None:
        """Prepare for one query."""
        self._wording = Wording.of(query)
        self._terms = [spaced(term.text) for term in self._wording.terms]
        self._names = [
            re.compile(rf"(?<!\w){re.escape(term.text)}(?!\w)")
            for term in self._wording.terms
            if term.phrase or is_identifier(term.text)
        ]
        self._words = sqlite3.connect(":memory:", isolation_level=None)
        self._words.execute(
            "CREATE VIRTUAL TABLE line USING fts5(text, extra, tokenize='porter unicode61')"
        )

    def close(self) -> None:
        """Free the memory."""
        self._words.close()

    def matches(self, text: str) -> bool:
        """Return whether a short text, a name say, answers the query in any of its terms."""
        return bool(self._ranked([text])) or self._held(text) > 0

    def share(self, text: str, weights: Mapping[str, float]) -> float:
        """Return the share of the question's terms that a text holds, weighed.

        Args:
            text: a passage with its name.
            weights: how much each term tells; 1 for those that are missing.
        """
        terms = self._wording.terms
        weighed = [max(weights.get(term.text, 1.0), _LEAST_WEIGHT) for term in terms]
        if not terms:
            return float(self._held(text) > 0)
        said = spaced(text)
        if len(text) > MAX_RANKED_CHARS:
            # A book in one passage: its words as they stand, not their stems and pairs.
            plain = sum(
                w for term, w in zip(terms, weighed, strict=True) if spaced(term.text) in said
            )
            return plain / sum(weighed)
        self._ranked([text])
        held = sum(
            weight * self._part_held(term, said)
            for term, weight in zip(terms, weighed, strict=True)
        )
        return held / sum(weighed)

    def _part_held(self, term: Term, said: str) -> float:
        """Return how much of a term stands in the text that was ranked last."""
        words = self._words.execute(_HOLDS, (term_query(term),)).fetchone()
        if words is not None or spaced(term.text) in said:
            return 1.0
        # A run without blanks may be a sentence: each pair of it counts.
        cut = [
            pair
            for piece, is_run in unsegmented.split_scripts(spaced(term.text))
            if is_run
            for pair in unsegmented.pairs(piece)
        ]
        return sum(pair in said for pair in cut) / len(cut) if cut else 0.0

    def best(self, lines: Sequence[str], *, first_line: int) -> Passage | None:
        """Find the best stretch of a passage; ``None`` if no line of it matches.

        A line that holds the whole question goes first, then the one that holds most of its
        identifiers and phrases, then the one whose words weigh most.

        Args:
            lines: the passage's lines.
            first_line: the number of the first of them.
        """
        ranks = {number: rank for rank, number in enumerate(self._ranked(lines))}
        for number, line in enumerate(lines):
            if number not in ranks and self._held(line):
                ranks[number] = len(lines)
        if not ranks:
            return None
        start = min(ranks, key=lambda number: (*self._order(lines[number]), ranks[number], number))
        end = start
        while end + 1 < len(lines) and end - start + 1 < SNIPPET_LINES and end + 1 in ranks:
            end += 1
        return self.quote(lines, start, end, first_line=first_line)

    def _held(self, line: str) -> int:
        """Count the terms that a line holds as they were typed, be it inside a word."""
        said = spaced(line)
        if self._wording.needle and self._wording.needle in said:
            return len(self._terms) or 1
        return sum(term in said for term in self._terms)

    def _order(self, line: str) -> tuple[bool, bool, int]:
        wording = self._wording
        return (
            not wording.holds_question(line),
            wording.whole is not None and wording.whole.search(line) is None,
            -sum(name.search(line) is not None for name in self._names),
        )

    def quote(self, lines: Sequence[str], start: int, end: int, *, first_line: int) -> Passage:
        """Lines ``start..end`` (from 0) as a snippet, long ones cut around what matched."""
        return Passage(
            start=first_line + start,
            end=first_line + end,
            text="\n".join(self._cut(line) for line in lines[start : end + 1]),
        )

    def _ranked(self, lines: Sequence[str]) -> list[int]:
        if self._wording.loose is None:
            return []
        self._words.execute("DELETE FROM line")
        self._words.executemany(
            "INSERT INTO line(rowid, text, extra) VALUES(?,?,?)",
            [(number, composed(line), index_extra(line)) for number, line in enumerate(lines)],
        )
        return [
            row[0]
            for row in self._words.execute(
                "SELECT rowid FROM line WHERE line MATCH ? ORDER BY rank, rowid",
                (self._wording.loose,),
            )
        ]

    def _cut(self, line: str) -> str:
        if len(line) <= SNIPPET_LINE_CHARS:
            return line
        folded_line = line.casefold()
        words = (self._wording.needle, *self._terms, *self._wording.needle.split())
        at = next((found for word in words if word and (found := folded_line.find(word)) >= 0), 0)
        shown = SNIPPET_LINE_CHARS - len("… ") - len(" …")
        start = max(0, min(at - _LEAD_CHARS, len(line) - shown))
        return cut_at_words(line, start, start + shown)


def cut_at_words(line: str, start: int, end: int) -> str:
    """Return a part of a line, from one blank to another; an ellipsis where something is left out.

    >>> cut_at_words("a lighthouse by the sea", 4, 19)
    '… by the …'
    """
    first, last = start, end
    if start > 0 and not line[start - 1].isspace():
        blank = line.find(" ", start, start + WORD_CHARS)
        first = start if blank < 0 else blank + 1
    if end < len(line) and not line[end].isspace():
        blank = line.rfind(" ", max(first, end - WORD_CHARS), end)
        last = end if blank < 0 else blank
    before = "… " if line[:first].strip() else ""
    after = " …" if line[last:].strip() else ""
    return f"{before}{line[first:last].strip()}{after}"
