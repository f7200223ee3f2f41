"""Words of the fleet that are spelled nearly like the words of a question that found nothing.

Only words that stand in passages that may be shown are offered: of the projects and kinds that
were asked, with secrets out. They are offered, never taken for an answer.
"""

import re
import sqlite3
from difflib import SequenceMatcher
from typing import Final

from agentic_os.text.unicode_form import folded
from agentic_os.tiers.interface import Query
from agentic_os.tiers.lexical import SHOWN_PASSAGE, shown_only
from agentic_os.tiers.wording import Wording

MAX_NEAR_WORDS: Final = 5
MIN_WORD_CHARS: Final = 4
"""Shorter words are near too many others."""
MAX_RESPELLED_CHARS: Final = 40
MAX_ASKED_WORDS: Final = 6
NEAR_RATIO: Final = 0.75
_STEM_RATIO: Final = 0.6
"""The index holds stems: a word of the same stem may be much nearer."""
_MAX_STEMS: Final = 20
_MAX_LOOKED_AT: Final = 20_000
_MAX_PLACES: Final = 500
_LARGE_PASSAGES: Final = 20_000
"""Among more passages only stems with the same first two letters are compared."""
_LONGER_CHARS: Final = 3
"""So many characters a stem may be longer than the word; it may be half as long."""

_VOCABULARY = """
CREATE VIRTUAL TABLE IF NOT EXISTS temp.{name} USING fts5vocab(main, document_words, {name})
"""
_STEMS = """
SELECT term FROM temp.row WHERE length(term) BETWEEN :shortest AND :longest
    AND (substr(term, 1, 2) = :start OR instr(term, :front) OR instr(term, :back)) LIMIT :cut
"""
# The range keeps SQLite from reading every posting of the index, once for each word.
_BEGINNINGS = """
SELECT term FROM temp.row WHERE term >= :start AND term < :beyond
    AND length(term) BETWEEN :shortest AND :longest LIMIT :cut
"""
_LAST_CHAR = 0x10FFFF
_LARGE = "SELECT 1 FROM document LIMIT 1 OFFSET :large"
_PASSAGES = f"""
SELECT document.name, document.body FROM document
WHERE document.pk IN (SELECT doc FROM temp.instance WHERE term = :stem LIMIT :most)
    AND {SHOWN_PASSAGE.format(pk="document.pk")} LIMIT 3
"""  # noqa: S608 - constants of this module


def near_words(connection: sqlite3.Connection, query: Query) -> tuple[str, ...]:
    """Return words that stand in what was asked, near to those that stand nowhere in it.

    Args:
        connection: an open store.
        query: a question that found nothing.
    """
    asked = [
        word
        for term in Wording.of(query.text).terms
        if not term.phrase
        and MIN_WORD_CHARS <= len(word := folded(term.text)) <= MAX_RESPELLED_CHARS
    ]
    if not asked:
        return ()
    # Tables of the connection's own, which no file holds.
    connection.execute("PRAGMA query_only=0")
    try:
        for name in ("row", "instance"):
            connection.execute(_VOCABULARY.format(name=name))
    finally:
        connection.execute("PRAGMA query_only=1")
    filters = shown_only(connection, query)
    large = connection.execute(_LARGE, {"large": _LARGE_PASSAGES}).fetchone()
    stems = _STEMS if large is None else _BEGINNINGS
    found: dict[str, float] = {}
    for word in asked[:MAX_ASKED_WORDS]:
        for near, ratio in _near(connection, filters, word, stems).items():
            found[near] = max(ratio, found.get(near, 0.0))
    return tuple(sorted(found, key=lambda near: (-found[near], near))[:MAX_NEAR_WORDS])


def _near(
    connection: sqlite3.Connection, filters: dict[str, object], word: str, statement: str
) -> dict[str, float]:
    """Return the words near one word, each with how near it is; none where it stands itself."""
    middle = len(word) // 2
    bound = {
        "shortest": len(word) // 2,
        "longest": len(word) + _LONGER_CHARS,
        "start": word[:2],
        "beyond": f"{word[0]}{chr(min(ord(word[1]) + 1, _LAST_CHAR))}",
        "front": word[:middle],
        "back": word[middle:],
        "cut": _MAX_LOOKED_AT,
    }
    matcher = SequenceMatcher(b=word, autojunk=False)
    stems: list[tuple[float, str]] = []
    for (stem,) in connection.execute(statement, bound):
        matcher.set_seq1(stem)
        if matcher.quick_ratio() >= _STEM_RATIO and (ratio := matcher.ratio()) >= _STEM_RATIO:
            stems.append((ratio, stem))
    found: dict[str, float] = {}
    for _, stem in sorted(stems, reverse=True)[:_MAX_STEMS]:
        for text in _texts(connection, filters, stem):
            for candidate in set(re.findall(r"\w+", text)):
                if folded(candidate) == word:
                    return {}
                matcher.set_seq1(candidate)
                if matcher.quick_ratio() >= NEAR_RATIO and matcher.ratio() >= NEAR_RATIO:
                    found[candidate] = matcher.ratio()
    return found


def _texts(connection: sqlite3.Connection, filters: dict[str, object], stem: str) -> list[str]:
    rows = connection.execute(_PASSAGES, {**filters, "stem": stem, "most": _MAX_PLACES})
    return [folded(f"{name}\n{body}") for name, body in rows]
