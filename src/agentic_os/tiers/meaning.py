"""Who answers by meaning: our semantic index, and engines of projects' own; and how they merge.

Nothing of either is loaded where there is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_os.aggregate.workspace import Workspace
from agentic_os.errors import SemanticIndexError
from agentic_os.registry.project import Project
from agentic_os.results import Omission
from agentic_os.text.tokens import is_identifier
from agentic_os.tiers.fusion import fuse, place_of
from agentic_os.tiers.interface import Candidate, Found, Query
from agentic_os.tiers.lexical import SURE_SCORE

if TYPE_CHECKING:
    from agentic_os.tiers.engines.surface import Engines
    from agentic_os.tiers.index.surface import Semantic

SEMANTIC = "semantic"
ENGINE = "engine"

_NO_INDEX = "there is no semantic index"
_WORDS_ONLY = "the words themselves were searched"
_ENGINES_ONLY = "projects' own engines were asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """What the semantic index answered, or why it did not."""

    answer: "Semantic | None" = None
    missing: str | None = None
    omissions: tuple[Omission, ...] = ()

    @property
    def found(self) -> Found | None:
        """What the index found, if it answered."""
        return self.answer.found if self.answer else None

    @property
    def indexed(self) -> frozenset[str]:
        """Projects that have rows in the index."""
        return self.answer.indexed if self.answer else frozenset()


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


def ask_index(workspace: Workspace, query: Query, *, alone: bool) -> Meant:
    """Ask the semantic index, where the mode wants it and there is one.

    Args:
        workspace: the fleet and its open store.
        query: what is asked.
        alone: no engine answered, so that nothing else can answer by meaning.

    Raises:
        SemanticIndexError: an answer by meaning alone was asked for, and nobody can give it.
    """
    if query.mode == "lexical":
        return Meant(missing="not asked")
    if not _has_index(workspace.store.space.folder):
        if query.mode == "semantic" and alone:
            raise SemanticIndexError(
                _NO_INDEX,
                code="SEMANTIC_UNAVAILABLE",
                hint="Make one: agentic-os model prepare, then agentic-os index build.",
            )
        fault = (
            Omission(
                code="SEMANTIC_UNAVAILABLE",
                scope=SEMANTIC,
                reason=f"{_NO_INDEX}; {_WORDS_ONLY if alone else _ENGINES_ONLY}",
            ),
        )
        return Meant(missing=_NO_INDEX, omissions=fault if query.mode != "auto" else ())
    # Not loaded where there is no index.
    from agentic_os.tiers.index import surface as semantic

    try:
        return Meant(answer=semantic.ask_index(workspace, query))
    except SemanticIndexError as fault:
        if query.mode == "semantic" and alone:
            raise
        reason = f"{fault.message}; {_WORDS_ONLY if alone else _ENGINES_ONLY}"
        return Meant(
            missing=fault.message,
            omissions=(Omission(code=fault.code, scope=SEMANTIC, reason=reason),),
        )


def _has_index(space: Path) -> bool:
    # Asked of the disk alone: a plain search loads nothing of the index.
    return (space / "vectors").is_dir()


def merge(
    query: Query, answers: list[Found], near: list[Found]
) -> tuple[list[Candidate], list[Candidate]]:
    """One ranked list, and those of it that were found by meaning only."""
    lists = [answer.candidates for answer in answers]
    if not near:
        return fuse(lists), []
    lists = [_meaningful(answer, near) for answer in answers]
    meant: list[Sequence[Candidate]] = []
    for found in near:
        meant.append(_aligned(found, [*lists, *meant]))
    said = {place_of(candidate) for ranked in lists for candidate in ranked}
    unlike = [candidate for candidate in fuse(meant) if place_of(candidate) not in said]
    if wants_words(query.text):
        # Who asks for a name wants that name; what is merely like it comes after.
        return [*fuse(lists), *unlike], unlike
    sure = fuse([[item for item in found.candidates if _is_sure(found, item)] for found in answers])
    first = {place_of(candidate) for candidate in sure}
    rest = [item for item in fuse([*lists, *meant]) if place_of(item) not in first]
    return [*sure, *rest], unlike


def wants_words(text: str) -> bool:
    """Return whether a question is a name or a single word: its words answer it first."""
    return is_identifier(text) or len(text.split()) == 1


def _is_sure(found: Found, candidate: Candidate) -> bool:
    """Return whether a passage is called exactly what was asked for."""
    return found.surface == "lexical" and candidate.score >= SURE_SCORE


def _meaningful(answer: Found, near: list[Found]) -> Sequence[Candidate]:
    """Where only some of the words were found, the lines that are near in meaning say more."""
    if not answer.relaxed:
        return answer.candidates
    nearer = {
        place_of(candidate): candidate
        for found in near
        for candidate in found.candidates
        if candidate.lines is not None
    }
    return [nearer.get(place_of(candidate), candidate) for candidate in answer.candidates]


def _aligned(found: Found, others: Sequence[Sequence[Candidate]]) -> Sequence[Candidate]:
    if found.surface != ENGINE:
        return found.candidates
    from agentic_os.tiers.engines.surface import align

    return align(found.candidates, others)
