"""Answers by meaning, from our semantic index and engines of projects' own, and how they merge.

Nothing of either is loaded if there is none.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from agentic_os.aggregate.workspace import Workspace
from agentic_os.code.roles import PathRole, role_of
from agentic_os.errors import SemanticIndexError
from agentic_os.registry.project import Project
from agentic_os.results import Omission
from agentic_os.text.tokens import is_identifier
from agentic_os.tiers.index.codes import NO_INDEX, index_error
from agentic_os.tiers.interface import ENGINE, SEMANTIC, Candidate, Found, Query
from agentic_os.tiers.lexical import SURE_SCORE
from agentic_os.tiers.merging.blend import NOTES, blend
from agentic_os.tiers.merging.fusion import Place, fuse, place_of
from agentic_os.tiers.merging.precedence import FACT_KINDS, ordered

if TYPE_CHECKING:
    from agentic_os.tiers.engines.surface import Engines
    from agentic_os.tiers.index.surface import IndexAnswer

RELAXED_NOTE_WEIGHT = 0.2
"""What a note is worth that holds only some of the words, beside one that is near in meaning."""
ROLE_WEIGHTS: Mapping[PathRole, float] = {
    "product": 1.0,
    "document": 0.8,
    "test": 0.6,
    "vendored": 0.5,
}
"""What a hit in a file is worth by the file's role: a question about code means own code."""
_OTHER_FILES = frozenset(
    (
        *("test", "tests", "testing", "tested", "pytest", "unittest", "fixture", "fixtures"),
        *("doc", "docs", "documentation", "documented", "readme", "changelog", "release"),
        *("example", "examples", "sample", "tutorial", "guide", "vendored", "vendor"),
    )
)
_WORD = re.compile(r"[a-z]+")
_WORDS_ONLY = "the words themselves were searched"
_ENGINES_ONLY = "projects' own engines were asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticAnswer:
    """The semantic index's answer, or why there is none."""

    index: "IndexAnswer | None" = None
    missing: str | None = None
    omissions: tuple[Omission, ...] = ()

    @property
    def found(self) -> Found | None:
        """The candidates of the index, if it answered."""
        return self.index.found if self.index else None

    @property
    def indexed(self) -> frozenset[str]:
        """The projects that have rows in the index."""
        return self.index.indexed if self.index else frozenset()


def ask_own_engines(workspace: Workspace, query: Query, scope: list[Project]) -> "Engines | None":
    """Ask granted engines of projects' own; nothing is loaded where no project names one."""
    named = any(
        project.surfaces.rag is not None and project.surfaces.rag.state == "present"
        for project in scope
    )
    if query.mode == "lexical" or not named:
        return None
    from agentic_os.tiers.engines.surface import ask_engines

    return ask_engines(scope, workspace.settings, query, workspace.environ)


def ask_index(workspace: Workspace, query: Query, *, alone: bool) -> SemanticAnswer:
    """Ask the semantic index, where the mode wants it and there is one.

    Args:
        workspace: the fleet and its open store.
        query: what is asked.
        alone: no engine answered, so that nothing else can answer by meaning.

    Raises:
        SemanticIndexError: an answer by meaning alone was asked for, and nobody can give it.
    """
    if query.mode == "lexical":
        return SemanticAnswer(missing="not asked")
    if not _has_index(workspace.store.space.folder):
        if query.mode == "semantic" and alone:
            raise index_error("SEMANTIC_UNAVAILABLE", NO_INDEX)
        fault = (
            Omission(
                code="SEMANTIC_UNAVAILABLE",
                scope=SEMANTIC,
                reason=f"{NO_INDEX}; {_WORDS_ONLY if alone else _ENGINES_ONLY}",
            ),
        )
        return SemanticAnswer(missing=NO_INDEX, omissions=fault if query.mode != "auto" else ())
    # Not loaded where there is no index.
    from agentic_os.tiers.index import surface as semantic

    try:
        return SemanticAnswer(index=semantic.ask_index(workspace, query))
    except SemanticIndexError as fault:
        if query.mode == "semantic" and alone:
            raise
        reason = f"{fault.message}; {_WORDS_ONLY if alone else _ENGINES_ONLY}"
        return SemanticAnswer(
            missing=fault.message,
            omissions=(Omission(code=fault.code, scope=SEMANTIC, reason=reason),),
        )


def nearness(
    workspace: Workspace, semantic: SemanticAnswer, by_words: Sequence[Candidate]
) -> dict[Place, float]:
    """Return how near each candidate is to the question, whichever arm found it."""
    index = semantic.index
    if index is None:
        return {}
    from agentic_os.tiers.index import surface

    known = {place_of(item): item.score for item in index.found.candidates}
    others = [item for item in by_words if place_of(item) not in known]
    try:
        return {**surface.similarities(workspace, index, others), **known}
    except SemanticIndexError:
        # The index was removed under the question: what it said before still holds.
        return known


def _has_index(space: Path) -> bool:
    # Asked of the disk alone: a plain search loads nothing of the index.
    return (space / "vectors").is_dir()


def merge(
    query: Query,
    by_words: list[Found],
    by_meaning: list[Found],
    near: Mapping[Place, float] = MappingProxyType({}),
) -> tuple[list[Candidate], list[Candidate]]:
    """Merge what all surfaces found; return one ranked list, and those found by meaning alone.

    Args:
        query: what was asked.
        by_words: the answers of full text and of the code graph.
        by_meaning: the answers of the semantic index and of engines.
        near: the cosines of candidates, if those of the embedder are measured: then what each
            says is weighed, otherwise its rank.
    """
    word_lists = [answer.candidates for answer in by_words]
    weights = _weights(query, by_words)
    if not by_meaning:
        if wants_words(query.text):
            return fuse(word_lists), []
        return _named_first(by_words, fuse(word_lists, weights)), []
    word_lists = [_with_near_lines(answer, by_meaning) for answer in by_words]
    meaning_lists: list[Sequence[Candidate]] = []
    for answer in by_meaning:
        meaning_lists.append(_aligned(answer, [*word_lists, *meaning_lists]))
    in_words = {place_of(candidate) for ranked in word_lists for candidate in ranked}
    meaning_only = [item for item in fuse(meaning_lists) if place_of(item) not in in_words]
    if wants_words(query.text):
        # A question that is a name asks for that name; what is merely like it comes after.
        return [*fuse(word_lists), *meaning_only], meaning_only
    lists = [*word_lists, *meaning_lists]
    ranked = (
        blend(by_words, lists, near, mind_roles=not asks_for_other_files(query))
        if near and by_words and all(answer.surface == SEMANTIC for answer in by_meaning)
        else fuse(lists, weights)
    )
    return _named_first(by_words, ranked), meaning_only


def _named_first(by_words: list[Found], ranked: list[Candidate]) -> list[Candidate]:
    """Put what is called exactly what was asked for before everything else."""
    named = fuse(
        [[item for item in answer.candidates if _is_named(answer, item)] for answer in by_words]
    )
    first = {place_of(candidate) for candidate in named}
    return [*named, *(item for item in ranked if place_of(item) not in first)]


def own_word_first(
    query: Query,
    merged: Sequence[Candidate],
    by_words: Sequence[Found],
    own: Sequence[Candidate],
) -> list[Candidate]:
    """Put one's own word first in the merged list; the rules are those of ``precedence``.

    Args:
        query: what was asked.
        merged: the merged list.
        by_words: the answers of full text and of the code graph.
        own: what the projects that the question names say themselves.
    """
    texts = [answer for answer in by_words if answer.surface == "lexical"]
    return ordered(
        merged,
        own=own,
        whole={
            place_of(item)
            for answer in texts
            if not answer.relaxed and not wants_words(query.text)
            for item in answer.candidates
            if item.kind in FACT_KINDS
        },
        called={
            place_of(item)
            for answer in texts
            for item in answer.candidates
            if _is_named(answer, item)
        },
    )


def _weights(query: Query, by_words: list[Found]) -> Callable[[int, Candidate], float]:
    """Return what a place in each list is worth.

    Own code goes before tests, documents and others' code, unless the question asks for these. If
    only some of the words were found, notes that are near in meaning go before notes that hold
    some word; of code, words say as much as meaning.
    """
    asks_for_others = asks_for_other_files(query)

    def weigh(position: int, candidate: Candidate) -> float:
        weight = 1.0
        if candidate.kind in NOTES:
            if position < len(by_words) and by_words[position].relaxed:
                weight = RELAXED_NOTE_WEIGHT
        elif not asks_for_others:
            weight = ROLE_WEIGHTS[role_of(candidate.path)]
        return weight

    return weigh


def asks_for_other_files(query: Query) -> bool:
    """Return whether a question asks for more than own code: by its words, or by its kinds."""
    if "document" in query.kinds:
        return True
    words = set(_WORD.findall(query.text.lower()))
    return not words.isdisjoint(_OTHER_FILES)


def wants_words(text: str) -> bool:
    """Return whether a question is a name or a single word: its words answer it first."""
    return is_identifier(text) or len(text.split()) == 1


def _is_named(found: Found, candidate: Candidate) -> bool:
    """Return whether a passage is called exactly what was asked for."""
    return found.surface == "lexical" and candidate.score >= SURE_SCORE


def _with_near_lines(answer: Found, by_meaning: list[Found]) -> Sequence[Candidate]:
    """Quote the lines near in meaning if only some of the words were found: they say more."""
    if not answer.relaxed:
        return answer.candidates
    nearer = {
        place_of(candidate): candidate
        for found in by_meaning
        for candidate in found.candidates
        if candidate.lines is not None
    }
    return [nearer.get(place_of(candidate), candidate) for candidate in answer.candidates]


def _aligned(found: Found, others: Sequence[Sequence[Candidate]]) -> Sequence[Candidate]:
    if found.surface != ENGINE:
        return found.candidates
    from agentic_os.tiers.engines.surface import align

    return align(found.candidates, others)
