"""Full-text search over memory, vault and inventory: the surface every project has.

Two indexes answer together. The word index (stemmed, identifier parts included, BM25 with the
name weighing most) ranks; the trigram index finds the query as a literal run of characters, so
that whatever a line search over the files finds is found here too. Queries of one or two
characters, which have no trigram, scan.

Order (design section 5 and the reading rule "MEMORY.md first"):

1. passages of that very name, 2. for an identifier, passages that hold it whole, 3. passages
   whose name holds every term, and for a single word those that hold it as it is, 4. passages
   that hold every term, 5. passages that only hold the literal text; within each by score, and on
   ties MEMORY.md, then the facts it lists, other facts, notes, inventory.

Where nothing holds every term, passages that hold any of them are offered, and the answer says
that it was relaxed.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, get_args

from agentic_os.aggregate.store.database import Store
from agentic_os.results import Kind
from agentic_os.text.tokens import fts_query, is_identifier
from agentic_os.tiers.interface import Candidate, Found, ProjectScore, Query

TIER_OF_KIND: dict[str, int | None] = {
    "index": 0,
    "memory": 0,
    "vault": 1,
    "capability": None,
    "document": 3,
    "code": 3,
}
"""The rung of the ladder that each lexical kind stands on."""

WEIGHTS = "8.0, 4.0, 1.0, 0.5"
"""BM25 weights of a passage's name, label, body and further terms."""
NAME_BONUS_SCORE = 100.0
"""Added where the name holds every term: names rank above bodies whatever their length."""
WHOLE_BONUS_SCORE = 200.0
"""Added where an identifier stands in a passage as it was typed, no part of a longer one."""
WORD_BONUS_SCORE = 100.0
"""Added where the one word that was asked for stands in a passage, and not only its stem."""
SAME_NAME_BONUS_SCORE = 400.0
"""Added where the name, or its last part, is what was asked for; case counts a little."""
OTHER_CASE_SCORE = 50.0
"""Taken off where a name differs in case."""
SURE_SCORE = SAME_NAME_BONUS_SCORE - OTHER_CASE_SCORE
"""From this score on a passage is called what was asked for: nothing can answer better."""
LITERAL_SCORE = 0.001
TIE_DIGITS = 2
"""Scores are compared to so many digits; closer ones tie and MEMORY.md goes first."""
MAX_GRAMS = 24
"""Trigrams asked of the index; the text itself decides afterwards."""
MIN_GRAM_CHARS = 3
SPARE_CANDIDATES = 20
"""Candidates beyond the limit, in case some are not confirmed."""

_COLUMNS = (
    "document.pk, document.kind, project.id, file.path, document.line_start,"
    " document.file IN listed"
)
_JOINED = """
    JOIN file ON file.pk = document.file JOIN project ON project.pk = document.project
"""
_FILTER = """
    (:templates OR NOT document.template)
    AND (:kinds = '' OR instr(:kinds, ',' || document.kind || ','))
    AND (:projects IS NULL OR document.project IN (SELECT value FROM json_each(:projects)))
"""
_WORDS = f"""
SELECT {_COLUMNS}, -bm25(document_words, {WEIGHTS})
FROM document_words JOIN document ON document.pk = document_words.rowid {_JOINED}
WHERE document_words MATCH :match AND {_FILTER}
"""  # noqa: S608 - constants of this module
_NAMED = "SELECT rowid, name FROM document_words WHERE document_words MATCH :match"
_GRAMS = f"""
SELECT {_COLUMNS}, document.body
FROM document_grams JOIN document ON document.pk = document_grams.rowid {_JOINED}
WHERE document_grams MATCH :match AND {_FILTER}
"""  # noqa: S608 - constants of this module
_SCAN = f"""
SELECT {_COLUMNS}, document.body FROM document {_JOINED} WHERE {_FILTER}
"""  # noqa: S608 - constants of this module
_DETAILS = """
SELECT document.pk, document.name, document.line_end, file.sha256, file.read_at_ns,
    document.kind = 'code' AND document.type = 'symbol'
FROM document JOIN file ON file.pk = document.file
WHERE document.pk IN (SELECT value FROM json_each(?))
"""
_KIND_ORDER = {"index": 0, "memory": 1, "vault": 3, "capability": 4, "document": 5, "code": 6}
_UNLISTED = 2


@dataclass(frozen=True, slots=True)
class _Row:
    pk: int
    kind: str
    project: str
    path: str
    line: int
    listed: bool
    score: float


def _row(columns: tuple[Any, ...], score: float) -> _Row:
    return _Row(columns[0], columns[1], columns[2], columns[3], columns[4], columns[5], score)


class Lexical:
    """The lexical surface over one open store."""

    def __init__(self, store: Store) -> None:
        """Search ``store``."""
        self._connection = store.connection

    def find(self, query: Query) -> Found:
        """Rank the passages that answer a query, best first; see the module for the order."""
        started = time.perf_counter()
        filters = self._filters(query)
        rows, relaxed = self._rows(query, filters)
        ordered = sorted(
            rows,
            key=lambda row: (
                -round(row.score, TIE_DIGITS),
                _UNLISTED
                if row.kind == "memory" and not row.listed
                else _KIND_ORDER.get(row.kind, _UNLISTED),
                row.project,
                row.path,
                row.line,
            ),
        )
        wanted = ordered[: query.limit + SPARE_CANDIDATES]
        return Found(
            surface="lexical",
            candidates=self._candidates(wanted),
            total=len(ordered),
            by_project=self._by_project(ordered),
            milliseconds=(time.perf_counter() - started) * 1_000,
            relaxed=relaxed,
        )

    def _filters(self, query: Query) -> dict[str, object]:
        projects: str | None = None
        if query.projects is not None:
            pks = [
                row[0]
                for row in self._connection.execute(
                    "SELECT pk FROM project WHERE id IN (SELECT value FROM json_each(?))",
                    (json.dumps(sorted(query.projects)),),
                )
            ]
            projects = json.dumps(pks)
        kinds = f",{','.join(sorted(query.kinds))}," if query.kinds else ""
        return {"templates": query.templates, "kinds": kinds, "projects": projects}

    def _rows(self, query: Query, filters: dict[str, object]) -> tuple[list[_Row], bool]:
        text = literal_text(query.text)
        if is_identifier(text):
            text = text.removesuffix("()")
        match = fts_query(query.text)
        found = self._words(match, filters, text)
        for row in self._literal(text, filters):
            known = found.get(row.pk)
            if known is not None and row.score > LITERAL_SCORE:
                row = replace(known, score=known.score + row.score)  # noqa: PLW2901 - the same one
            elif known is not None:
                continue
            found[row.pk] = row
        if found or match is None:
            return list(found.values()), False
        loose = fts_query(query.text, any_term=True)
        # No bonus here: a name that holds any one of many words says little.
        relaxed = self._words(loose, filters, None) if loose != match else {}
        return list(relaxed.values()), bool(relaxed)

    def _words(
        self, match: str | None, filters: dict[str, object], text: str | None
    ) -> dict[int, _Row]:
        """Passages that match; names count extra where ``text``, what was asked for, is given."""
        if match is None:
            return {}
        bonus: dict[int, float] = {}
        if text is not None:
            named = {"match": f"{{name}} : ({match})"}
            for pk, name in self._connection.execute(_NAMED, named):
                bonus[pk] = NAME_BONUS_SCORE + same_name(name, text)
        return {
            row[0]: _row(row, row[6] + bonus.get(row[0], 0.0))
            for row in self._connection.execute(_WORDS, {"match": match, **filters})
        }

    def _literal(self, text: str, filters: dict[str, object]) -> Iterable[_Row]:
        needle = text.casefold()
        if not needle:
            return
        if len(text) < MIN_GRAM_CHARS:
            rows = self._connection.execute(_SCAN, filters)
        else:
            rows = self._connection.execute(_GRAMS, {"match": _gram_query(text), **filters})
        whole, bonus = _whole(text)
        for row in rows:
            if needle in row[6].casefold():
                exact = whole is not None and whole.search(row[6]) is not None
                yield _row(row, bonus if exact else LITERAL_SCORE)

    def _candidates(self, rows: list[_Row]) -> list[Candidate]:
        details = {
            row[0]: row[1:]
            for row in self._connection.execute(_DETAILS, (json.dumps([row.pk for row in rows]),))
        }
        found = []
        for row in rows:
            name, end, sha256, read_at, is_symbol = details[row.pk]
            found.append(
                Candidate(
                    project=row.project,
                    kind=_kind(row.kind),
                    tier=TIER_OF_KIND.get(row.kind),
                    path=row.path,
                    name=name,
                    start=row.line,
                    end=end,
                    score=row.score,
                    sha256=sha256,
                    indexed_at=iso_time(read_at),
                    symbol=name if is_symbol else None,
                )
            )
        return found

    def _by_project(self, rows: list[_Row]) -> dict[str, ProjectScore]:
        found: dict[str, list[_Row]] = {}
        for row in rows:
            found.setdefault(row.project, []).append(row)
        return {
            project: ProjectScore(
                counts=Counter(row.kind for row in own), best=max(row.score for row in own)
            )
            for project, own in found.items()
        }


def same_name(name: str, text: str) -> float:
    """Return the bonus of a name that is what was asked for: whole, or its last dotted part."""
    last = name.rpartition(".")[2]
    if text in {name, last}:
        return SAME_NAME_BONUS_SCORE
    if text.casefold() in {name.casefold(), last.casefold()}:
        return SAME_NAME_BONUS_SCORE - OTHER_CASE_SCORE
    return 0.0


def _whole(text: str) -> tuple[re.Pattern[str] | None, float]:
    """Return a pattern that finds an identifier or a word as a whole, and the bonus for it."""
    if is_identifier(text):
        return re.compile(rf"(?<!\w){re.escape(text)}(?!\w)"), WHOLE_BONUS_SCORE
    if text.isalnum():
        return re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE), WORD_BONUS_SCORE
    return None, LITERAL_SCORE


def literal_text(text: str) -> str:
    """Return the characters that a query looks for literally: itself, outer quotes apart."""
    trimmed = text.strip()
    if len(trimmed) > 2 and trimmed[0] == trimmed[-1] == '"':  # noqa: PLR2004 - two quotes
        return trimmed[1:-1]
    return trimmed


def iso_time(nanoseconds: int) -> str:
    """Format a time of the store as ISO 8601, UTC, to the second."""
    return datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC).isoformat()


def _gram_query(text: str) -> str:
    grams = dict.fromkeys(
        text[start : start + MIN_GRAM_CHARS] for start in range(len(text) - MIN_GRAM_CHARS + 1)
    )
    quoted = ['"' + gram.replace('"', '""') + '"' for gram in list(grams)[:MAX_GRAMS]]
    return " AND ".join(quoted)


def _kind(name: str) -> Kind:
    kinds: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}
    return kinds[name]
