"""Full-text search over memory, vault and inventory: the surface every project has.

Two indexes answer together. The word index (stemmed, identifier parts, punctuated names and pairs
of unsegmented scripts included, BM25 with the name weighing most) ranks; the trigram index finds
runs of characters, so that whatever a line search over the files finds is found here too.

Order (design section 5 and the reading rule "MEMORY.md first"):

1. passages of that very name, 2. for an identifier, passages that hold it whole, 3. passages that
hold the whole question literally, 4. passages whose name holds every term, and for a single word
those that hold it as it is, 5. passages that hold every term as a word, 6. passages that hold each
term as a word or inside one; within each by score, and on ties MEMORY.md, then the facts it lists,
other facts, notes, inventory. A quoted phrase must stand in the passage.

If nothing holds every term, passages that hold any of them are offered, and the answer says that
it was relaxed.

Cost: SQLite ranks and cuts, so that a common word costs no more than its ranking; only passages
that may be shown are looked into (``CUT_PASSAGES``). What is rarer than wanted is looked for inside
words as well.
"""

import json
import math
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import get_args

from agentic_os.aggregate.store.database import Store
from agentic_os.results import Kind
from agentic_os.text.tokens import Term, term_query
from agentic_os.tiers.interface import Candidate, Found, ProjectScore, Query
from agentic_os.tiers.wording import Wording, gram_query, spaced

TIER_OF_KIND: dict[str, int | None] = {
    "index": 0,
    "memory": 0,
    "vault": 1,
    "instruction": 0,
    "capability": None,
    "document": 3,
    "code": 3,
}
"""The rung of the ladder that each lexical kind stands on."""

WEIGHTS = "8.0, 4.0, 1.0, 0.5"
"""BM25 weights of a passage's name, label, body and further terms."""
NAME_BONUS_SCORE = 100.0
"""Added if the name holds every term: names rank above bodies whatever their length."""
WHOLE_BONUS_SCORE = 200.0
"""Added if an identifier stands in a passage as it was typed, no part of a longer one."""
QUESTION_BONUS_SCORE = 150.0
"""Added if a question of several words stands in a passage as it was typed."""
WORD_BONUS_SCORE = 100.0
"""Added if the one word that was asked for stands in a passage, and not only its stem."""
SAME_NAME_BONUS_SCORE = 400.0
"""Added if the name, or its last part, is what was asked for; case counts a little."""
OTHER_CASE_SCORE = 50.0
"""Taken off if a name differs in case."""
SURE_SCORE = SAME_NAME_BONUS_SCORE - OTHER_CASE_SCORE
"""From this score on a passage is called what was asked for: nothing can answer better."""
LITERAL_SCORE = 0.001
TIE_DIGITS = 2
"""Scores are compared to so many digits; closer ones tie and MEMORY.md goes first."""
SPARE_CANDIDATES = 20
"""Candidates beyond the limit, in case some are not confirmed."""
CUT_PASSAGES = 400
"""Best passages of each index that are looked into: many times what is shown."""
CUT_SHARE = 4
"""The cut is at least so many times the number of hits that are wanted."""
RANKED_PASSAGES = 15_000
"""So many passages that hold the words are ranked. What more of them hold tells nothing apart, and
a rank costs thirty times as much as a count."""
RELAXED_PASSAGES = 6_000
"""If more passages hold any of the words, only the rarest of them are asked for."""
BROAD_PASSAGES = 10_000
"""A term that more passages hold narrows nothing down."""
MIN_INNER_TERMS = 2
"""Between the first and the last; one alone is as easily looked for."""
LOOKED_INTO_PASSAGES = 5_000
"""Passages that are looked into for terms inside words, or for a run of one or two characters."""

SHOWN_PASSAGE = """
    (:kinds IS NULL OR EXISTS (SELECT 1 FROM document AS own WHERE own.pk = {pk}
        AND own.kind IN (SELECT value FROM json_each(:kinds))))
    AND (:templates OR {pk} NOT IN (SELECT pk FROM document WHERE template))
    AND (:projects IS NULL OR {pk} IN (SELECT pk FROM document
        WHERE project IN (SELECT value FROM json_each(:projects))))
    AND (:since IS NULL OR EXISTS (SELECT 1 FROM document AS own JOIN file ON file.pk = own.file
        WHERE own.pk = {pk} AND file.mtime_ns >= :since))
"""
_WORD_FILTER = SHOWN_PASSAGE.format(pk="document_words.rowid")
_RANKED = f"""
SELECT rowid, -bm25(document_words, {WEIGHTS}) AS score FROM document_words
WHERE document_words MATCH :match AND rowid <= :last AND {_WORD_FILTER}
ORDER BY score DESC LIMIT :cut
"""  # noqa: S608 - constants of this module
_COUNTED = f"""
SELECT count(*) FROM document_words WHERE document_words MATCH :match AND {_WORD_FILTER}
"""  # noqa: S608 - constants of this module
_TEMPLATES = "SELECT pk FROM document WHERE template LIMIT ?"
_MATCHES = "SELECT count(*) FROM document_words WHERE document_words MATCH :match"
_LAST_RANKED = f"""
SELECT rowid FROM document_words WHERE document_words MATCH :match AND {_WORD_FILTER}
LIMIT 1 OFFSET :ranked
"""  # noqa: S608 - constants of this module
_BY_PROJECT = f"""
SELECT project.id, document.kind, count(*)
FROM document_words JOIN document ON document.pk = document_words.rowid
JOIN project ON project.pk = document.project
WHERE document_words MATCH :match AND {_WORD_FILTER} GROUP BY document.project, document.kind
"""  # noqa: S608 - constants of this module
_HOLDING = f"""
SELECT rowid FROM document_words WHERE document_words MATCH :match AND {_WORD_FILTER} LIMIT :cut
"""  # noqa: S608 - constants of this module
# The sign keeps SQLite from asking the index once for each of these rows.
_HOLDING_AMONG = """
SELECT rowid FROM document_words
WHERE document_words MATCH :match AND +rowid IN (SELECT value FROM json_each(:among))
"""
_GRAMS = f"""
SELECT rowid FROM document_grams WHERE document_grams MATCH :match
    AND {SHOWN_PASSAGE.format(pk="document_grams.rowid")} LIMIT :cut
"""  # noqa: S608 - constants of this module
_SHORT = f"""
SELECT document.pk, document.body FROM document
WHERE {SHOWN_PASSAGE.format(pk="document.pk")} LIMIT :cut
"""  # noqa: S608 - constants of this module
_DETAILS = """
SELECT document.pk, document.kind, project.id, file.path, document.line_start, document.line_end,
    document.file IN listed, document.name, document.label, document.body, file.sha256,
    file.read_at_ns, document.kind = 'code' AND document.type = 'symbol'
FROM document JOIN file ON file.pk = document.file JOIN project ON project.pk = document.project
WHERE document.pk IN (SELECT value FROM json_each(?))
"""
_MAX_ROWID = 2**63 - 1
_PLAIN = re.compile(r'"[a-z]+"').fullmatch
_KIND_ORDER = {
    "index": 0,
    "memory": 1,
    "instruction": 3,
    "vault": 4,
    "capability": 5,
    "document": 6,
    "code": 7,
}
_UNLISTED = 2
_KINDS: Mapping[str, Kind] = {kind: kind for kind in get_args(Kind)}


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage of the store, in the order of ``_DETAILS``."""

    pk: int
    kind: str
    project: str
    path: str
    start: int
    end: int
    listed: bool
    name: str
    label: str
    body: str
    sha256: str
    read_at: int
    is_symbol: bool

    @property
    def text(self) -> str:
        """All that a term may stand in."""
        return f"{self.name}\n{self.label}\n{self.body}"


class Lexical:
    """The lexical surface over one open store."""

    def __init__(self, store: Store) -> None:
        """Search ``store``."""
        self._connection = store.connection

    def find(self, query: Query) -> Found:
        """Rank the passages that answer a query, best first; see the module for the order."""
        return _Search(self._connection, query).find()


class _Search:
    """One question to one store."""

    def __init__(self, connection: sqlite3.Connection, query: Query) -> None:
        self._run = connection.execute
        self._wording = Wording.of(query.text)
        self._filters = shown_only(connection, query)
        self._wanted = query.limit + SPARE_CANDIDATES
        self._cut = max(CUT_PASSAGES, self._wanted * CUT_SHARE)
        self._per_project = query.per_project
        self._passages: dict[int, _Passage] = {}
        self._bounded = False
        self._literal: set[int] | None = None
        self._counts: dict[str, int] = {}
        self._shown: dict[str, int] = {}

    def find(self) -> Found:
        started = time.perf_counter()
        match, relaxed = self._wording.match, False
        scores = self._matching(match) if match else {}
        total = len(scores)
        if match and total >= min(self._cut, RANKED_PASSAGES) and not self._wording.phrases:
            total = self._count(match)
        elif len(scores) < self._wanted:
            for pk, score in self._inside_words(scores).items():
                scores.setdefault(pk, score)
            total = len(scores)
        loose = self._wording.loose
        if not scores and loose and (loose != match or self._wording.phrases):
            # No bonus here: a name that holds any one of many words says little.
            match = self._telling(loose)
            scores = self._ranked(match, most=RELAXED_PASSAGES)
            full = len(scores) >= min(self._cut, RANKED_PASSAGES)
            total = self._count(match) if full else len(scores)
            relaxed = bool(scores)
            self._look_up(scores)
        ordered = sorted(scores, key=lambda pk: _order(self._passages[pk], scores[pk]))
        return Found(
            surface="lexical",
            candidates=[
                _candidate(self._passages[pk], scores[pk]) for pk in ordered[: self._wanted]
            ],
            total=total,
            by_project=self._by_project(scores, match) if self._per_project else {},
            milliseconds=(time.perf_counter() - started) * 1_000,
            relaxed=relaxed,
            left_out=self._wording.left_out,
            bounded=self._bounded,
            weights=self._weights(),
        )

    def _matching(self, match: str) -> dict[int, float]:
        """Rank passages that hold every term as a word, with what their texts add."""
        wording = self._wording
        scores = self._ranked(match)
        if len(scores) == self._cut:
            # A name weighs most, so those that hold every term are among the best already.
            by_name = self._holding_among(f"{{name}} : ({match})", scores)
        else:
            by_name = set(self._ranked(f"{{name}} : ({match})")) if scores else set()
        if not wording.is_word or len(scores) < self._wanted:
            for pk in self._holding_question():
                scores.setdefault(pk, LITERAL_SCORE)
        self._look_up(scores)
        found = {}
        for pk, score in scores.items():
            passage = self._passages[pk]
            if wording.holds_phrases(passage.text):
                named = NAME_BONUS_SCORE + same_name(passage.name, wording.text)
                found[pk] = score + self._bonus(passage) + (named if pk in by_name else 0.0)
        return found

    def _bonus(self, passage: _Passage) -> float:
        """Return what a passage is worth beyond its words: that they stand there as typed."""
        wording = self._wording
        if wording.whole is not None:
            if wording.whole.search(passage.body) is None:
                return 0.0
            return WHOLE_BONUS_SCORE if wording.is_name else WORD_BONUS_SCORE
        return QUESTION_BONUS_SCORE if wording.holds_question(passage.body) else 0.0

    def _ranked(self, match: str, *, most: int | None = None) -> dict[int, float]:
        last = self._last(match, RANKED_PASSAGES if most is None else most)
        bound = {**self._filters, "match": match, "cut": self._cut, "last": last}
        return dict(self._run(_RANKED, bound))

    def _last(self, match: str, most: int) -> int:
        """Return the last passage that is ranked, of more than can be."""
        if self._count(match) <= most:
            return _MAX_ROWID
        bound = {**self._filters, "match": match, "ranked": most}
        row = self._run(_LAST_RANKED, bound).fetchone()
        return int(row[0]) if row else _MAX_ROWID

    def _telling(self, loose: str) -> str:
        """Narrow a search for any of the terms to the rarest, if too many passages hold one."""
        if self._matches(loose) <= RELAXED_PASSAGES:
            return loose
        counts = {
            match: self._matches(match)
            for match in dict.fromkeys(term_query(term, loose=True) for term in self._wording.terms)
        }
        rarest = sorted((match for match, count in counts.items() if count), key=counts.__getitem__)
        total = 0
        kept: list[str] = []
        for match in rarest:
            total += counts[match]
            if kept and total > RELAXED_PASSAGES:
                break
            kept.append(match)
        return " OR ".join(kept)

    def _matches(self, match: str) -> int:
        if match not in self._counts:
            self._counts[match] = int(self._run(_MATCHES, {"match": match}).fetchone()[0])
        return self._counts[match]

    def _weights(self) -> dict[str, float]:
        """Weigh the terms of a question: a rare one tells more."""
        terms = self._wording.terms
        if len(terms) < 2:  # noqa: PLR2004 - nothing to weigh
            return {term.text: 1.0 for term in terms}
        passages = self._run("SELECT max(pk) FROM document").fetchone()[0] or 0
        return {
            term.text: math.log(1 + passages / (1 + self._matches(term_query(term))))
            for term in terms
        }

    def _holding_among(self, match: str, among: Collection[int]) -> set[int]:
        bound = {"match": match, "among": json.dumps(sorted(among))}
        return {pk for (pk,) in self._run(_HOLDING_AMONG, bound)}

    def _count(self, match: str) -> int:
        """Count the passages that may be shown; once for each match."""
        if match not in self._shown:
            self._shown[match] = self._counted(match)
        return self._shown[match]

    def _counted(self, match: str) -> int:
        narrowed = any(self._filters[name] is not None for name in ("kinds", "projects", "since"))
        templates = [pk for (pk,) in self._run(_TEMPLATES, (CUT_PASSAGES + 1,))]
        if not narrowed and not self._filters["templates"] and len(templates) <= CUT_PASSAGES:
            # All that match, which is known, and those few apart: the filter asks for each row.
            return self._matches(match) - len(self._holding_among(match, templates))
        return int(self._run(_COUNTED, {**self._filters, "match": match}).fetchone()[0])

    def _holding_question(self) -> set[int]:
        """Find passages that hold the question literally, as many as may be looked into."""
        if self._literal is None:
            self._literal = self._held_literally()
        return self._literal

    def _held_literally(self) -> set[int]:
        needle = self._wording.needle
        if not needle or self._cannot_stand():
            return set()
        grams = gram_query(self._wording.text)
        if grams is None:
            return self._holding_short()
        asked = {**self._filters, "match": grams, "cut": self._cut}
        found = {pk for (pk,) in self._run(_GRAMS, asked)}
        self._look_up(found)
        return {pk for pk in found if self._wording.holds_question(self._passages[pk].body)}

    def _cannot_stand(self) -> bool:
        """Return whether the question stands nowhere, since its inner words nowhere are together.

        The first and the last may be parts of longer words; those between have blanks around.
        """
        inner = self._wording.terms[1:-1]
        if len(inner) < MIN_INNER_TERMS or any(term.phrase for term in self._wording.terms):
            return False
        asked = list(dict.fromkeys(map(term_query, inner)))
        if len(asked) == len(inner) and not self._wording.left_out and all(map(_PLAIN, asked)):
            # One beside the other, not merely in one passage: that spares looking into many.
            return not self._matches(f'"{" ".join(one.strip(chr(34)) for one in asked)}"')
        return not self._matches(" AND ".join(asked))

    def _holding_short(self) -> set[int]:
        """Find passages that hold a question too short for the trigram index."""
        found: set[int] = set()
        bound = {**self._filters, "cut": LOOKED_INTO_PASSAGES + 1}
        for looked, (pk, body) in enumerate(self._run(_SHORT, bound)):
            if len(found) == self._wanted:
                break
            if looked == LOOKED_INTO_PASSAGES:
                self._bounded = True
                break
            if self._wording.holds_question(body):
                found.add(pk)
        return found

    def _inside_words(self, known: Collection[int]) -> dict[int, float]:
        """Find passages that hold each term as a word or inside one: compounds, parts of names."""
        literal = self._holding_question()
        self._look_up(literal)
        found = {pk: self._bonus(self._passages[pk]) or LITERAL_SCORE for pk in literal}
        terms = self._wording.terms
        if len(terms) > 1:
            for pk in self._holding_all(terms, known):
                found.setdefault(pk, LITERAL_SCORE)
        return {
            pk: score
            for pk, score in found.items()
            if self._wording.holds_phrases(self._passages[pk].text)
        }

    def _holding(self, term: Term) -> set[int] | None:
        """Find the passages that may hold one term; ``None`` if they are too many to matter."""
        found: set[int] = set()
        asked = [(_HOLDING, term_query(term))]
        if grams := gram_query(term.text):
            asked.append((_GRAMS, grams))
        for statement, match in asked:
            bound = {**self._filters, "match": match, "cut": BROAD_PASSAGES}
            found.update(pk for (pk,) in self._run(statement, bound))
            if len(found) >= BROAD_PASSAGES:
                return None
        return found

    def _holding_all(self, terms: Collection[Term], known: Collection[int]) -> Iterator[int]:
        """Yield passages that hold every term; those that may are looked into."""
        among: set[int] | None = None
        # The rarest first: what nothing holds ends the search, and few can be looked into at once.
        for term in sorted(terms, key=lambda term: self._matches(term_query(term))):
            if among is not None and len(among) <= CUT_PASSAGES:
                break
            found = self._holding(term)
            if found is not None:
                among = found if among is None else among & found
                if not among:
                    return
        if among is None:
            grams = [grams for term in terms if (grams := gram_query(term.text))]
            bound = {"match": " AND ".join(grams), "cut": LOOKED_INTO_PASSAGES}
            among = (
                {pk for (pk,) in self._run(_GRAMS, {**self._filters, **bound})} if grams else set()
            )
        among = set(sorted(among.difference(known))[:LOOKED_INTO_PASSAGES])
        self._look_up(among)
        words = {term: self._holding_among(term_query(term), among) for term in terms}
        for pk in among:
            said = spaced(self._passages[pk].text)
            if all(pk in words[term] or spaced(term.text) in said for term in terms):
                yield pk

    def _look_up(self, pks: Collection[int]) -> None:
        """Read the passages that are not known yet."""
        missing = [pk for pk in pks if pk not in self._passages]
        if missing:
            for row in self._run(_DETAILS, (json.dumps(missing),)):
                self._passages[row[0]] = _Passage(*row)

    def _by_project(
        self, scores: Mapping[int, float], match: str | None
    ) -> dict[str, ProjectScore]:
        """Count what was found by project and kind; of the cut, the best score too."""
        counts: dict[str, Counter[str]] = {}
        best: dict[str, float] = {}
        for pk, score in scores.items():
            passage = self._passages[pk]
            counts.setdefault(passage.project, Counter())[passage.kind] += 1
            best[passage.project] = max(best.get(passage.project, 0.0), score)
        if match and len(scores) >= self._cut:
            counts = {}
            for project, kind, count in self._run(_BY_PROJECT, {**self._filters, "match": match}):
                counts.setdefault(project, Counter())[kind] = count
        return {
            project: ProjectScore(counts=dict(counted), best=best.get(project, 0.0))
            for project, counted in counts.items()
        }


def same_name(name: str, text: str) -> float:
    """Return the bonus of a name that is what was asked for: whole, or its last dotted part."""
    last = name.rpartition(".")[2]
    if text in {name, last}:
        return SAME_NAME_BONUS_SCORE
    if text.casefold() in {name.casefold(), last.casefold()}:
        return SAME_NAME_BONUS_SCORE - OTHER_CASE_SCORE
    return 0.0


def iso_time(nanoseconds: int) -> str:
    """Format a time of the store as ISO 8601, UTC, to the second."""
    return datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC).isoformat()


def shown_only(connection: sqlite3.Connection, query: Query) -> dict[str, object]:
    """Return what ``SHOWN_PASSAGE`` needs to know of a question."""
    projects: str | None = None
    if query.projects is not None:
        ids = (json.dumps(sorted(query.projects)),)
        found = "SELECT pk FROM project WHERE id IN (SELECT value FROM json_each(?))"
        projects = json.dumps([row[0] for row in connection.execute(found, ids)])
    return {
        "templates": query.templates,
        "kinds": json.dumps(sorted(query.kinds)) if query.kinds else None,
        "projects": projects,
        "since": query.changed_since_ns,
    }


def _order(passage: _Passage, score: float) -> tuple[object, ...]:
    return (
        -round(score, TIE_DIGITS),
        _UNLISTED
        if passage.kind == "memory" and not passage.listed
        else _KIND_ORDER.get(passage.kind, _UNLISTED),
        passage.project,
        passage.path,
        passage.start,
    )


def _candidate(passage: _Passage, score: float) -> Candidate:
    return Candidate(
        project=passage.project,
        kind=_KINDS[passage.kind],
        tier=TIER_OF_KIND.get(passage.kind),
        path=passage.path,
        name=passage.name,
        start=passage.start,
        end=passage.end,
        score=score,
        sha256=passage.sha256,
        indexed_at=iso_time(passage.read_at),
        symbol=passage.name if passage.is_symbol else None,
    )
