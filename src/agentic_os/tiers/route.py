"""The router: one question, every surface that may answer, one merged list.

Additive (design section 5): every project with memory contributes it, higher tiers add their
surfaces, a surface that a project lacks degrades to the next and is listed. Where there is a
semantic index, words and meaning are asked together and merged; a question that is an
identifier, or one word, is answered by its words first, and what is called exactly what was asked
for goes before all. Engines of projects' own are asked where the person
granted it. Whatever surface a candidate comes from, it is shown only after ``confirm`` has read
its file again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agentic_os.aggregate.codes import CODES
from agentic_os.aggregate.cross_links import named_in
from agentic_os.aggregate.workspace import Workspace
from agentic_os.errors import UsageError
from agentic_os.registry.project import Project
from agentic_os.results import (
    Answer,
    Hit,
    Omission,
    ProjectRank,
    SearchData,
)
from agentic_os.text.fencing import one_line
from agentic_os.tiers.confirm import Confirmer, Dropped, Source
from agentic_os.tiers.coverage import coverage_of, passages_by_project
from agentic_os.tiers.explain import SURFACE_KINDS, surface_traces
from agentic_os.tiers.interface import (
    ARM_CANDIDATES,
    MAX_LIMIT_HITS,
    MAX_QUERY_CHARS,
    Candidate,
    Found,
    Query,
)
from agentic_os.tiers.lexical import SPARE_CANDIDATES, Lexical
from agentic_os.tiers.meaning import (
    SemanticAnswer,
    ask_index,
    ask_own_engines,
    merge,
    nearness,
    own_word_first,
    wants_words,
)
from agentic_os.tiers.merging.fusion import Place, place_of
from agentic_os.tiers.merging.precedence import OWN_KINDS
from agentic_os.tiers.passage import LineMatcher
from agentic_os.tiers.ranking import rank_projects
from agentic_os.tiers.relevance import ANSWERS, FLOORS, NOISE, floor_of, relevance
from agentic_os.tiers.spelling import near_words

if TYPE_CHECKING:
    from agentic_os.tiers.engines.surface import Engines

_NO_CORPUS = "no code or documents were taken in yet: agentic-os index build"
LOOKED_AT_FACTOR = 3
"""Candidates that are read for each hit that is wanted, if some are not relevant."""
SHORT_QUERY = CODES.omission("SHORT_QUERY_BOUNDED", "lexical")
_HAS_GRAPH = "SELECT 1 FROM graph_repo WHERE nodes > 0 LIMIT 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """The answers of every surface that was asked, before they are merged."""

    by_words: list[Found]
    own: Sequence[Candidate]
    timed_out: tuple[Omission, ...]
    semantic: SemanticAnswer
    near: Mapping[Place, float]
    engines: "Engines | None"

    @property
    def by_meaning(self) -> list[Found]:
        """The answers of the semantic index and of engines."""
        found = (self.semantic.found, self.engines.found if self.engines else None)
        return [answer for answer in found if answer]

    @property
    def engines_answered(self) -> frozenset[str]:
        """The projects whose own engine answered."""
        return self.engines.answered if self.engines else frozenset()

    @property
    def measured(self) -> Mapping[Place, float]:
        """The cosines, if those of the embedder are measured; others are of unknown scale."""
        index = self.semantic.index
        return self.near if index and index.embedder in FLOORS else {}

    def judge(self) -> Callable[[Candidate, float], float]:
        """Return the rule that says how relevant a candidate is."""
        index = self.semantic.index
        floor = floor_of(index.embedder, index.rows) if index else None
        engines = self.engines.found if self.engines else None
        of_engines = {place_of(item) for item in engines.candidates} if engines else set()

        def judged(candidate: Candidate, words: float) -> float:
            if place_of(candidate) in of_engines:
                # An engine's own scores are measured by nobody, and no evidence against it.
                return relevance(1.0, words, floor=None)
            return relevance(self.near.get(place_of(candidate)), words, floor=floor)

        return judged

    @property
    def omissions(self) -> tuple[Omission, ...]:
        """What the surfaces left out."""
        bounded = any(answer.bounded for answer in self.by_words)
        of_words = (SHORT_QUERY,) if bounded else ()
        of_engines = self.engines.omissions if self.engines else ()
        return (*of_words, *self.timed_out, *self.semantic.omissions, *of_engines)

    @property
    def incomplete(self) -> bool:
        """Whether a surface that was to answer failed, or did not answer in time."""
        return bool(self.engines and self.engines.failed) or any(
            item.code == "GRAPH_TIME_OUT" for item in self.timed_out
        )


def search(
    workspace: Workspace, query: Query, *, explain: bool = False, projects_only: bool = False
) -> Answer[SearchData]:
    """Answer one question.

    Args:
        workspace: the fleet and its open store.
        query: what is asked, of which projects and kinds.
        explain: also say what each surface of each project did.
        projects_only: rank the projects instead of quoting passages.

    Raises:
        UsageError: the query is empty, or too long, or the limit is out of bounds.
    """
    _check(query)
    query = replace(query, per_project=explain or projects_only)
    scope = [
        project
        for project in workspace.fleet.projects
        if query.projects is None or project.id in query.projects
    ]
    answers = _ask(workspace, query, scope)
    merged, meaning_only = merge(query, answers.by_words, answers.by_meaning, answers.measured)
    merged = own_word_first(query, merged, answers.by_words, answers.own)
    hits: list[Hit] = []
    dropped: list[Dropped] = []
    ranked: tuple[ProjectRank, ...] = ()
    if projects_only:
        ranked = rank_projects(
            answers.by_words,
            answers.by_meaning,
            meaning_only=meaning_only,
            names={project.id: project.name for project in scope},
            words_first=wants_words(query.text),
        )
        total = len(ranked)
    else:
        hits, dropped = _confirmed(workspace, query, merged, answers)
        found = sum(answer.total for answer in answers.by_words) + len(meaning_only)
        total = max(len(hits), found - len(dropped)) if hits else 0
    ids = {project.id for project in scope}
    unread = workspace.unread(ids)
    unanswerable = workspace.unanswerable(query.projects)
    data = SearchData(
        query=one_line(query.text),
        total=total,
        hits=tuple(hits),
        coverage=coverage_of(
            workspace,
            query,
            scope,
            by_words=answers.by_words,
            semantic=answers.semantic,
            engines=answers.engines_answered,
            unread=unread,
        ),
        projects=ranked[: query.limit],
        nothing_found=not (hits or ranked),
        near=() if hits or ranked else near_words(workspace.store.connection, query),
        explain=surface_traces(
            scope,
            passages_by_project(workspace, ids),
            answers.by_words,
            answers.semantic,
            answers.engines,
        )
        if explain
        else (),
    )
    return Answer(
        data=data,
        omissions=(
            *unread.omissions,
            *unanswerable,
            *answers.omissions,
            *_without_corpus(workspace, query),
            *_dropped_omissions(dropped),
        ),
        warnings=workspace.warnings_for(query.projects),
        incomplete=bool(unread.omissions or unanswerable) or answers.incomplete,
    )


def _check(query: Query) -> None:
    if not query.text.strip():
        raise UsageError("the query is empty", hint="Ask for a word, a name or a phrase.")
    if len(query.text) > MAX_QUERY_CHARS:
        raise UsageError(f"the query has more than {MAX_QUERY_CHARS} characters")
    if not 1 <= query.limit <= MAX_LIMIT_HITS:
        raise UsageError(f"the limit must be between 1 and {MAX_LIMIT_HITS}")


def _ask(workspace: Workspace, query: Query, scope: list[Project]) -> _Answers:
    """Ask every surface that may answer."""
    engines = ask_own_engines(workspace, query, scope)
    answered = bool(engines and engines.answered)
    semantic = ask_index(workspace, query, alone=not answered)
    by_words, timed_out = _ask_words(
        workspace, query, hybrid=semantic.index is not None or answered
    )
    own = _own_word(workspace, query)
    found = [*(item for answer in by_words for item in answer.candidates), *own]
    return _Answers(
        by_words=by_words,
        own=own,
        timed_out=timed_out,
        semantic=semantic,
        near=nearness(workspace, semantic, found),
        engines=engines,
    )


def _ask_words(
    workspace: Workspace, query: Query, *, hybrid: bool
) -> tuple[list[Found], tuple[Omission, ...]]:
    """Ask every surface of words that may answer: the graph before full text."""
    answers: list[Found] = []
    omissions: tuple[Omission, ...] = ()
    if query.mode == "semantic":
        return answers, omissions
    if hybrid:
        query = replace(query, limit=max(query.limit, ARM_CANDIDATES))
    if _wants_graph(workspace, query):
        # Not loaded where no project has a graph.
        from agentic_os.tiers.graph.surface import GraphSurface

        asked = GraphSurface(workspace.store).find(query)
        answers.append(asked.found)
        omissions = asked.omissions
    if query.kinds != frozenset({"graph"}):
        # Memory goes first on equal ranks (MEMORY.md first), although the graph was asked first.
        answers.insert(0, Lexical(workspace.store).find(query))
    return answers, omissions


def _own_word(workspace: Workspace, query: Query) -> Sequence[Candidate]:
    """Ask what the projects that the question names say themselves about the rest of it."""
    if query.projects is not None or query.mode == "semantic":
        return ()
    named = named_in(query.text, workspace.fleet.projects)
    kinds = query.kinds & OWN_KINDS if query.kinds else OWN_KINDS
    if not (named.projects and named.rest and kinds):
        return ()
    asked = replace(query, text=named.rest, projects=named.projects, kinds=kinds)
    found = Lexical(workspace.store).find(asked)
    return () if found.relaxed else found.candidates[: query.limit]


def _without_corpus(workspace: Workspace, query: Query) -> tuple[Omission, ...]:
    """Say so where code or documents are asked for and none were ever taken in."""
    if query.kinds.isdisjoint(SURFACE_KINDS["corpus"]):
        return ()
    from agentic_os.aggregate.refresh.corpus import was_built

    if was_built(workspace.store.connection):
        return ()
    return (Omission(code="CORPUS_MISSING", scope="corpus", reason=_NO_CORPUS),)


def _wants_graph(workspace: Workspace, query: Query) -> bool:
    if query.kinds and "graph" not in query.kinds:
        return False
    return workspace.store.connection.execute(_HAS_GRAPH).fetchone() is not None


def _confirmed(
    workspace: Workspace, query: Query, candidates: list[Candidate], answers: _Answers
) -> tuple[list[Hit], list[Dropped]]:
    """Confirm candidates until enough are answers; none are if none is relevant enough."""
    hits: list[Hit] = []
    dropped: list[Dropped] = []
    told: dict[tuple[str, str], int] = {}
    taken: list[tuple[Candidate, Hit]] = []
    shown: set[tuple[str, str, tuple[int, int], str]] = set()
    named = {candidate.project for candidate in candidates}
    sources = {
        project.id: Source(
            folder=project.folder,
            branch=project.branch,
            commit=project.commit,
            personal=project.personal,
        )
        for project in workspace.fleet.projects
        if project.id in named
    }
    with LineMatcher(query.text) as matcher:
        confirmer = Confirmer(
            matcher=matcher,
            redactor=workspace.redactor,
            sources=sources,
            stale=workspace.stale,
            judge=answers.judge(),
            weights=next((found.weights for found in answers.by_words if found.weights), {}),
            changed_since_ns=query.changed_since_ns,
        )
        looked_at = query.limit * LOOKED_AT_FACTOR + SPARE_CANDIDATES
        for candidate in candidates[:looked_at]:
            if len(hits) >= query.limit:
                break
            answer = confirmer.confirm(candidate)
            if isinstance(answer, Dropped):
                dropped.append(answer)
                continue
            place = (answer.project, answer.path, answer.lines, answer.name)
            if answer.sha256 != candidate.sha256 and place in shown:
                # Two passages of a file that changed since have become one.
                dropped.append(Dropped(code="HIT_CHANGED", candidate=candidate))
                continue
            shown.add(place)
            if answer.relevance < NOISE or _is_shown(candidate, answer, taken):
                continue
            if answer.kind == "instruction":
                # One text under several names is one hit that lists the places.
                at = told.setdefault((answer.name, answer.snippet), len(hits))
                if at < len(hits):
                    hits[at] = replace(hits[at], also=(*hits[at].also, _place(answer)))
                    continue
            hits.append(answer)
            taken.append((candidate, answer))
    is_answered = any(hit.relevance >= ANSWERS for hit in hits)
    return (hits if is_answered else []), dropped


def _place(hit: Hit) -> str:
    return f"{hit.project}:{hit.path}:{hit.lines[0]}"


def _is_shown(candidate: Candidate, hit: Hit, taken: list[tuple[Candidate, Hit]]) -> bool:
    """Return whether a hit before stands for the same place: two surfaces may have found it."""
    for known, before in taken:
        if (before.project, before.path) != (hit.project, hit.path):
            continue
        if _meet(before.lines, hit.lines):
            return True
        # A code graph names the line of a definition; full text, the whole of it.
        if candidate.kind == "graph" and _meet((known.start, known.end), hit.lines):
            return True
        if known.kind == "graph" and _meet((candidate.start, candidate.end), before.lines):
            return True
    return False


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _dropped_omissions(dropped: list[Dropped]) -> list[Omission]:
    reasons = {
        "HIT_CHANGED": "the text is no longer in the file",
        "HIT_UNREADABLE": "the file can no longer be read",
    }
    counts: dict[tuple[str, str], int] = {}
    for item in dropped:
        if item.code not in reasons:
            continue
        key = (item.code, item.candidate.project)
        counts[key] = counts.get(key, 0) + 1
    return [
        Omission(code=code, scope=project, reason=reasons[code], count=count)
        for (code, project), count in sorted(counts.items())
    ]
