"""What every retrieval surface is asked and what it answers.

A surface proposes candidates from derived state; only ``confirm`` turns a candidate into a hit,
by reading the file again. So a surface may be out of date, but an answer never is.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from agentic_os.results import Kind, SearchMode

SEMANTIC = "semantic"
ENGINE = "engine"
DEFAULT_LIMIT_HITS = 5
ARM_CANDIDATES = 50
"""Candidates that each arm of a hybrid search contributes at least."""
MAX_LIMIT_HITS = 1_000
MAX_QUERY_CHARS = 2_000


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """One question.

    Attributes:
        text: what the person typed, bounded and free of surrogates.
        projects: ids it is limited to; ``None`` for the whole fleet.
        kinds: kinds it is limited to; empty for all.
        mode: which arms may answer.
        limit: how many hits are wanted.
        templates: whether unfilled templates count.
        changed_since_ns: only passages of files that changed at this time or later.
        per_project: whether the surfaces also count what they found in each project.
    """

    text: str
    projects: frozenset[str] | None = None
    kinds: frozenset[Kind] = frozenset()
    mode: SearchMode = "auto"
    limit: int = DEFAULT_LIMIT_HITS
    templates: bool = False
    changed_since_ns: int | None = None
    per_project: bool = False


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that may answer: whole lines ``start..end`` of a file as it was indexed.

    ``stated_in`` is another file that says so, with its hash: a code graph speaks of sources
    that may not be there. ``lines`` are those of the passage that are near in meaning, and
    ``text_hash`` is the hash of their text as it was embedded.
    """

    project: str
    kind: Kind
    tier: int | None
    path: str
    name: str
    start: int
    end: int
    score: float
    sha256: str
    indexed_at: str
    symbol: str | None = None
    stated_in: tuple[str, str] | None = None
    lines: tuple[int, int] | None = None
    text_hash: str | None = None


class ProjectScore(msgspec.Struct, frozen=True, kw_only=True):
    """What one surface found in one project: passages of each kind, and the best score."""

    counts: dict[str, int]
    best: float

    @property
    def hits(self) -> int:
        """All passages found."""
        return sum(self.counts.values())

    def kinds(self, kinds: Sequence[str]) -> int:
        """Passages found of these kinds."""
        return sum(self.counts.get(kind, 0) for kind in kinds)


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One surface's answer.

    Attributes:
        surface: which one answered.
        candidates: ranked, best first.
        total: how many passages answer, shown or not.
        by_project: what was found in each project, if the query asks for that.
        milliseconds: how long it took.
        relaxed: whether passages with only some of the words were taken.
        left_out: words of the question that were not asked for.
        weights: how much each term of the question tells, by its text.
        bounded: whether some passages were not looked into, which may hold the question.
    """

    surface: str
    candidates: Sequence[Candidate]
    total: int
    by_project: dict[str, ProjectScore]
    milliseconds: float
    relaxed: bool = False
    left_out: tuple[str, ...] = ()
    bounded: bool = False
    weights: dict[str, float] = {}


class Surface(Protocol):
    """One way of finding passages."""

    def find(self, query: Query) -> Found:
        """Rank the candidates that answer a query, best first."""
