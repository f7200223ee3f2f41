"""How a query matches a text, and how a match is ranked (DotAIOS convention, search).

Four kinds, each a tier that nothing below it can cross: the phrase; all terms; some
terms; every term by its stem, asked only when nothing else matched. Inside a tier the
rarity of the matched terms counts, plus where a Markdown match stands, halved for every
30 days of age. Everything is lower-cased; nothing here touches the disk.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

MatchKind = Literal["phrase", "terms", "partial", "inflected"]

TIERS: Final[dict[MatchKind, int]] = {"phrase": 4, "terms": 3, "partial": 2, "inflected": 1}
TIER_WEIGHT: Final = 1_000_000
HALF_LIFE_DAYS: Final = 30
STEM_TERM_CHARS: Final = 5
"""Shortest term that is stemmed."""
STEM_CHARS: Final = 4
"""Shortest stem."""
PHRASE_SCORE: Final = 10
TERMS_SCORE: Final = 5
REPEAT_SCORE: Final = 5
"""Repetitions beyond the first add one each, up to this."""

_DAY_MS: Final = 86_400_000
_SPACE = re.compile(r"[\s\ufeff]+")
_TOKEN = re.compile(r"[a-z0-9_-]+")
# The first listed suffix that leaves a stem wins: Italian, English, then bare vowels.
_SUFFIX_WORDS: Final = (
    "azioni azione amento amenti endo ando arono erono irono iamo iate "
    "ata ate ati ato uta ute uti uto ita ite iti ito are ere ire arsi ersi irsi "
    "eremo eranno erebbe ization isation ations ation ings ing edly ed es s i e o a"
)
_SUFFIXES: Final = tuple(_SUFFIX_WORDS.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """How well a text matched."""

    kind: MatchKind
    score: int


class _Stem:
    """The test for a word that starts with a stem; the plain search comes first, for speed."""

    __slots__ = ("_pattern", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._pattern = re.compile(rf"(?<![^\W_]){re.escape(text)}")

    def starts_a_word(self, lowered: str) -> bool:
        return self._text in lowered and self._pattern.search(lowered) is not None


class Query:
    """A query, prepared to be matched against many texts.

    Args:
        text: the words as typed; case and runs of white space do not matter.
    """

    def __init__(self, text: str) -> None:
        """Normalise the words."""
        self.phrase = _SPACE.sub(" ", text).strip().lower()
        self.terms = tuple(term for term in self.phrase.split(" ") if term)

    @cached_property
    def _stems(self) -> "tuple[_Stem, ...]":
        """The word-prefix tests of all stems; none when a term has no stem."""
        stems = [folded for term in self.terms if (folded := stem(term)) is not None]
        if len(stems) < len(self.terms):
            return ()
        return tuple(_Stem(folded) for folded in stems)

    @cached_property
    def _whole_tokens(self) -> dict[str, re.Pattern[str] | None]:
        return {
            term: re.compile(rf"(?<![a-z0-9_-]){re.escape(term)}(?![a-z0-9_-])")
            if _TOKEN.fullmatch(term)
            else None
            for term in self.terms
        }

    def match(self, lowered: str) -> Match | None:
        """Match a lower-cased text."""
        if not self.phrase:
            return None
        count = lowered.count(self.phrase)
        if count:
            return Match(kind="phrase", score=PHRASE_SCORE + min(count - 1, REPEAT_SCORE))
        if len(self.terms) > 1:
            counts = [found for term in self.terms if (found := lowered.count(term))]
            if len(counts) == len(self.terms):
                more = min(sum(counts) - len(counts), REPEAT_SCORE)
                return Match(kind="terms", score=TERMS_SCORE + more)
            if counts:
                return Match(kind="partial", score=len(counts))
        stems = self._stems
        if stems and all(test.starts_a_word(lowered) for test in stems):
            return Match(kind="inflected", score=len(self.terms))
        return None

    def present(self, lowered: str) -> tuple[str, ...]:
        """Return the terms that occur in a lower-cased text."""
        return tuple(term for term in self.terms if term in lowered)

    def first_lines(self, lowered_lines: list[str]) -> list[int]:
        """Return, in order, the first line of each term, by its words or its stem."""
        tests = self._stems
        found: set[int] = set()
        for at, term in enumerate(self.terms):
            for number, line in enumerate(lowered_lines):
                if term in line or (tests and tests[at].starts_a_word(line)):
                    found.add(number)
                    break
        return sorted(found)

    def tokens(self, lowered: str) -> tuple[str, ...]:
        """Return the terms that are whole tokens of a lower-cased text."""
        return tuple(
            term
            for term, test in self._whole_tokens.items()
            if test is not None and term in lowered and test.search(lowered)
        )

    def mark(self, text: str) -> str:
        """Put ``>>`` and ``<<`` around what matched."""
        for words in ((self.phrase,), self.terms):
            pattern = "|".join(re.escape(word) for word in words if word)
            if pattern and re.search(pattern, text, re.IGNORECASE):
                return re.sub(pattern, r">>\g<0><<", text, flags=re.IGNORECASE)
        return text


class Corpus:
    """How many texts of a scope were scanned, and in how many each term is a token."""

    __slots__ = ("_frequency", "count")

    def __init__(self) -> None:
        """Start empty."""
        self.count = 0
        self._frequency: dict[str, int] = {}

    def add(self, query: Query, lowered: str) -> None:
        """Count one text, matched or not."""
        self.count += 1
        for term in query.tokens(lowered):
            self._frequency[term] = self._frequency.get(term, 0) + 1

    def weight(self, term: str) -> float:
        """Return the rarity of a term; 1 in an empty corpus."""
        if self.count == 0:
            return 1.0
        return rarity(self.count, self._frequency.get(term, 0))


def rarity(count: int, frequency: int) -> float:
    """Return ``ln(1 + (N - df + 0.5) / (df + 0.5))``."""
    return math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))


def decay(age_ms: float | None) -> float:
    """Return the share that whole days of age leave; 1 for none, unknown or negative."""
    if age_ms is None or not math.isfinite(age_ms) or age_ms <= 0:
        return 1.0
    days: int = math.floor(age_ms / _DAY_MS)
    return math.pow(2, -days / HALF_LIFE_DAYS)


def rank(
    kind: MatchKind,
    terms: Iterable[str],
    corpus: Corpus,
    *,
    age_ms: float | None,
    structural: float = 0.0,
) -> float:
    """Return the rank of a match: its tier, then rarity and place, decayed by age."""
    weight = sum(corpus.weight(term) for term in terms) + structural
    within = min(weight * decay(age_ms), TIER_WEIGHT - 1)
    return TIERS[kind] * TIER_WEIGHT + within


def stem(term: str) -> str | None:
    """Fold a term to its stem; ``None`` if folding it would do more harm than good."""
    token = term.lower()
    if len(token) < STEM_TERM_CHARS or not token.isalpha():
        return None
    for suffix in _SUFFIXES:
        folded = token.removesuffix(suffix)
        if folded != token and len(folded) >= STEM_CHARS:
            doubled = len(folded) > STEM_CHARS and folded[-1] == folded[-2]
            return folded[:-1] if doubled else folded
    return None
