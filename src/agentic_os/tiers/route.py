"""The router: one question, every surface that may answer, one merged list.

Additive (design section 5): every project with memory contributes it, higher tiers add their
surfaces, a surface that a project lacks degrades to the next and is listed. Where there is a
semantic index, words and meaning are asked together and their ranks fused; a question that is an
identifier is answered by its words first. Engines of projects' own are asked where the person
granted it. Whatever surface a candidate comes from, it is shown only after ``confirm`` has read
its file again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_os.aggregate.workspace import Workspace
from agentic_os.errors import SemanticIndexError, UsageError
from agentic_os.registry import Project
from agentic_os.results import (
    Answer,
    Coverage,
    Hit,
    Kind,
    Omission,
    ProjectFailure,
    ProjectRank,
    SearchData,
    SurfaceTrace,
)
from agentic_os.text.fencing import one_line
from agentic_os.text.tokens import is_identifier
from agentic_os.tiers.confirm import Confirmer, Dropped, Source
from agentic_os.tiers.fusion import RRF_K, fuse, place_of
from agentic_os.tiers.interface import MAX_LIMIT_HITS, MAX_QUERY_CHARS, Candidate, Found, Query
from agentic_os.tiers.lexical import Lexical
from agentic_os.tiers.passage import LineMatcher

if TYPE_CHECKING:
    from agentic_os.tiers.engine import Engines
    from agentic_os.tiers.semantic import Semantic

ARM_CANDIDATES = 50
"""Candidates that each arm contributes to a hybrid search (reference section 6)."""

_NO_CORPUS = "no code or documents were taken in yet: agentic-os index build"
_NO_INDEX = "there is no semantic index"
_WORDS_ONLY = "the words themselves were searched"
_ENGINES_ONLY = "projects' own engines were asked"
_SURFACE_KINDS: dict[str, tuple[Kind, ...]] = {
    "memory": ("memory", "index"),
    "vault": ("vault",),
    "graph": ("graph",),
    "capability": ("capability",),
    "corpus": ("code", "document"),
}
_SURFACE_TIERS: dict[str, int | None] = {
    "memory": 0,
    "vault": 1,
    "graph": 2,
    "capability": None,
    "corpus": 3,
}
_SEMANTIC = "semantic"
_ENGINE = "engine"
_SEMANTIC_TIER = 3
_HAS_GRAPH = "SELECT 1 FROM graph_repo WHERE nodes > 0 LIMIT 1"
_SCOPE_COVERAGE = """
SELECT project.id, document.kind, count(*) FROM document
JOIN project ON project.pk = document.project GROUP BY document.project, document.kind
UNION ALL SELECT project, 'graph', nodes FROM graph_repo WHERE nodes > 0
"""


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
    scope = [
        project
        for project in workspace.fleet.projects
        if query.projects is None or project.id in query.projects
    ]
    engines = _ask_engines(workspace, query, scope)
    heard = engines.heard if engines else frozenset()
    meant = _ask_index(workspace, query, alone=not heard)
    answers, timed_out = _ask(workspace, query, hybrid=meant.answer is not None or bool(heard))
    near = [found for found in (meant.found, engines.found if engines else None) if found]
    merged, unlike = _merged(query, answers, near)
    hits, dropped = ([], []) if projects_only else _confirmed(workspace, query, merged)
    unread = workspace.unread({project.id for project in scope})
    documents = _documents(workspace, {project.id for project in scope})
    vain = workspace.asked_in_vain(query.projects)
    omissions = [
        *unread.omissions,
        *vain,
        *timed_out,
        *meant.omissions,
        *(engines.omissions if engines else ()),
        *_without_corpus(workspace, query),
        *_dropped_omissions(dropped),
    ]
    answers += near
    names = {project.id: project.name for project in scope}
    coverage = Coverage(
        projects_searched=sum(bool(kinds) for kinds in documents.values()),
        projects_failed=_failures(scope, unread.projects),
        surfaces={
            surface: sum(
                any(kind in kinds_here for kind in kinds) for kinds_here in documents.values()
            )
            for surface, kinds in _SURFACE_KINDS.items()
        }
        | {_SEMANTIC: len(meant.indexed & names.keys()), _ENGINE: len(heard)},
        embedder=meant.answer.embedder if meant.answer else None,
        unindexed=len(unread.omissions) + (meant.answer.unindexed if meant.answer else 0),
        stale=workspace.stale,
        relaxed=any(answer.relaxed for answer in answers),
    )
    ranked = _ranked(answers, names) if projects_only else ()
    data = SearchData(
        query=one_line(query.text),
        total=len(ranked) if projects_only else _total(answers, unlike) - len(dropped),
        hits=tuple(hits),
        coverage=coverage,
        projects=ranked[: query.limit],
        explain=_traces(scope, documents, answers, meant, engines) if explain else (),
    )
    return Answer(
        data=data,
        omissions=tuple(omissions),
        warnings=workspace.noticed(query.projects),
        incomplete=bool(unread.omissions or vain or (engines and engines.failed))
        or any(item.code == "GRAPH_TIME_OUT" for item in timed_out),
    )


def _check(query: Query) -> None:
    if not query.text.strip():
        raise UsageError("the query is empty", hint="Ask for a word, a name or a phrase.")
    if len(query.text) > MAX_QUERY_CHARS:
        raise UsageError(f"the query has more than {MAX_QUERY_CHARS} characters")
    if not 1 <= query.limit <= MAX_LIMIT_HITS:
        raise UsageError(f"the limit must be between 1 and {MAX_LIMIT_HITS}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meant:
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


def _ask_engines(workspace: Workspace, query: Query, scope: list[Project]) -> "Engines | None":
    """Ask granted engines of projects' own; nothing is loaded where no project names one."""
    named = any(
        project.surfaces.rag is not None and project.surfaces.rag.state == "present"
        for project in scope
    )
    if query.mode == "lexical" or not named:
        return None
    from agentic_os.tiers.engine import ask_engines

    return ask_engines(scope, workspace.settings, query, workspace.environ)


def _ask_index(workspace: Workspace, query: Query, *, alone: bool) -> _Meant:
    """Ask the semantic index, where the mode wants it and there is one.

    Args:
        workspace: the fleet and its open store.
        query: what is asked.
        alone: no engine answered, so that nothing else can answer by meaning.

    Raises:
        SemanticIndexError: an answer by meaning alone was asked for, and nobody can give it.
    """
    if query.mode == "lexical":
        return _Meant(missing="not asked")
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
                scope=_SEMANTIC,
                reason=f"{_NO_INDEX}; {_WORDS_ONLY if alone else _ENGINES_ONLY}",
            ),
        )
        return _Meant(missing=_NO_INDEX, omissions=fault if query.mode != "auto" else ())
    # Not loaded where there is no index.
    from agentic_os.tiers.semantic import ask_index

    try:
        return _Meant(answer=ask_index(workspace, query))
    except SemanticIndexError as fault:
        if query.mode == "semantic" and alone:
            raise
        reason = f"{fault.message}; {_WORDS_ONLY if alone else _ENGINES_ONLY}"
        return _Meant(
            missing=fault.message,
            omissions=(Omission(code=fault.code, scope=_SEMANTIC, reason=reason),),
        )


def _has_index(space: Path) -> bool:
    # Asked of the disk alone: a plain search loads nothing of the index.
    return (space / "vectors").is_dir()


def _merged(query: Query, answers: list[Found], near: list[Found]) -> tuple[list[Candidate], int]:
    """One ranked list, and how many of it were found by meaning only."""
    lists = [answer.candidates for answer in answers]
    if not near:
        return fuse(lists), 0
    meant: list[Sequence[Candidate]] = []
    for found in near:
        meant.append(_aligned(found, [*lists, *meant]))
    said = {place_of(candidate) for ranked in lists for candidate in ranked}
    unlike = [candidate for candidate in fuse(meant) if place_of(candidate) not in said]
    if is_identifier(query.text):
        # Who asks for a name wants that name; what is merely like it comes after.
        return [*fuse(lists), *unlike], len(unlike)
    return fuse([*lists, *meant]), len(unlike)


def _aligned(found: Found, others: Sequence[Sequence[Candidate]]) -> Sequence[Candidate]:
    if found.surface != _ENGINE:
        return found.candidates
    from agentic_os.tiers.engine import align

    return align(found.candidates, others)


def _total(answers: list[Found], unlike: int) -> int:
    by_meaning = {_SEMANTIC, _ENGINE}
    return sum(answer.total for answer in answers if answer.surface not in by_meaning) + unlike


def _ask(
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
        from agentic_os.tiers.graph_hits import GraphSurface

        asked = GraphSurface(workspace.store).find(query)
        answers.append(asked.found)
        omissions = asked.omissions
    if query.kinds != frozenset({"graph"}):
        # Memory goes first on equal ranks (MEMORY.md first), although the graph was asked first.
        answers.insert(0, Lexical(workspace.store).find(query))
    return answers, omissions


def _without_corpus(workspace: Workspace, query: Query) -> tuple[Omission, ...]:
    """Say so where code or documents are asked for and none were ever taken in."""
    if query.kinds.isdisjoint(_SURFACE_KINDS["corpus"]):
        return ()
    from agentic_os.aggregate.corpus import was_built

    if was_built(workspace.store.connection):
        return ()
    return (Omission(code="CORPUS_MISSING", scope="corpus", reason=_NO_CORPUS),)


def _wants_graph(workspace: Workspace, query: Query) -> bool:
    if query.kinds and "graph" not in query.kinds:
        return False
    return workspace.store.connection.execute(_HAS_GRAPH).fetchone() is not None


def _confirmed(
    workspace: Workspace, query: Query, candidates: list[Candidate]
) -> tuple[list[Hit], list[Dropped]]:
    hits: list[Hit] = []
    dropped: list[Dropped] = []
    shown: set[tuple[str, str, tuple[int, int], str]] = set()
    sources = {
        project.id: Source(folder=project.folder, branch=project.branch, commit=project.commit)
        for project in workspace.fleet.projects
    }
    with LineMatcher(query.text) as matcher:
        confirmer = Confirmer(
            matcher=matcher,
            redactor=workspace.redactor,
            sources=sources,
            stale=workspace.stale,
        )
        for candidate in candidates:
            if len(hits) >= query.limit:
                break
            answer = confirmer.confirm(candidate)
            if isinstance(answer, Dropped):
                dropped.append(answer)
                continue
            place = (answer.project, answer.path, answer.lines, answer.name)
            if answer.stale and place in shown:
                # Two passages of a file that changed since have become one.
                dropped.append(Dropped(code="HIT_CHANGED", candidate=candidate))
                continue
            shown.add(place)
            hits.append(answer)
    return hits, dropped


def _dropped_omissions(dropped: list[Dropped]) -> list[Omission]:
    reasons = {
        "HIT_CHANGED": "the text is no longer in the file",
        "HIT_UNREADABLE": "the file can no longer be read",
    }
    counts: dict[tuple[str, str], int] = {}
    for item in dropped:
        key = (item.code, item.candidate.project)
        counts[key] = counts.get(key, 0) + 1
    return [
        Omission(code=code, scope=project, reason=reasons[code], count=count)
        for (code, project), count in sorted(counts.items())
    ]


def _documents(workspace: Workspace, scope: set[str]) -> dict[str, dict[str, int]]:
    """How many passages of each kind each project in scope has in the store."""
    counts: dict[str, dict[str, int]] = {project: {} for project in scope}
    for project, kind, count in workspace.store.connection.execute(_SCOPE_COVERAGE):
        if project in counts:
            counts[project][kind] = count
    return counts


def _failures(scope: list[Project], unread: frozenset[str]) -> tuple[ProjectFailure, ...]:
    failures = []
    for project in scope:
        worst = next((item for item in project.diagnostics if item.severity == "error"), None)
        if worst is not None:
            failures.append(
                ProjectFailure(project=project.id, code=worst.code, message=worst.message)
            )
        elif project.id in unread:
            failures.append(
                ProjectFailure(
                    project=project.id,
                    code="EVIDENCE_UNREAD",
                    message="some of its files could not be read",
                )
            )
    return tuple(failures)


def _ranked(answers: list[Found], names: dict[str, str]) -> tuple[ProjectRank, ...]:
    """Projects by the fused rank of their best passage, then by how many they have."""
    scores: dict[str, float] = {}
    hits: dict[str, int] = {}
    for answer in answers:
        order = sorted(
            answer.by_project, key=lambda project: (-answer.by_project[project].best, project)
        )
        for rank, project in enumerate(order, 1):
            scores[project] = scores.get(project, 0.0) + 1 / (RRF_K + rank)
            hits[project] = hits.get(project, 0) + answer.by_project[project].hits
    ranked = sorted(
        scores.keys() & names.keys(),
        key=lambda project: (-scores[project], -hits[project], project),
    )
    return tuple(
        ProjectRank(
            project=project,
            name=one_line(names[project]),
            hits=hits[project],
            score=round(scores[project], 4),
        )
        for project in ranked
    )


def _traces(
    scope: list[Project],
    documents: dict[str, dict[str, int]],
    answers: list[Found],
    meant: _Meant,
    engines: "Engines | None",
) -> tuple[SurfaceTrace, ...]:
    traces = []
    for project in scope:
        for surface, kinds in _SURFACE_KINDS.items():
            own = any(kind in documents[project.id] for kind in kinds)
            source = "graph" if surface == "graph" else "lexical"
            asked = [answer for answer in answers if answer.surface == source]
            scores = [
                answer.by_project[project.id] for answer in asked if project.id in answer.by_project
            ]
            traces.append(
                SurfaceTrace(
                    project=project.id,
                    surface=surface,
                    tier=_SURFACE_TIERS[surface],
                    hits=sum(score.kinds(kinds) for score in scores),
                    milliseconds=round(sum(answer.milliseconds for answer in asked), 3),
                    missing=None if own else _missing(project, surface),
                )
            )
        traces.append(_semantic_trace(project, meant))
        if engines is not None and project.id in engines.answers:
            traces.append(_engine_trace(project, engines))
    return tuple(traces)


def _semantic_trace(project: Project, meant: _Meant) -> SurfaceTrace:
    found = None if meant.answer is None else meant.answer.found
    missing = meant.missing
    if not project.retrieval:
        missing = "opted out of retrieval"
    elif missing is None and project.id not in meant.indexed:
        missing = "not in the index"
    score = None if found is None else found.by_project.get(project.id)
    return SurfaceTrace(
        project=project.id,
        surface=_SEMANTIC,
        tier=_SEMANTIC_TIER,
        hits=0 if score is None else score.hits,
        milliseconds=0.0 if found is None else round(found.milliseconds, 3),
        missing=missing,
    )


def _engine_trace(project: Project, engines: "Engines") -> SurfaceTrace:
    answer = engines.answers[project.id]
    fault = answer.fault
    return SurfaceTrace(
        project=project.id,
        surface=_ENGINE,
        tier=_SEMANTIC_TIER,
        hits=len(answer.placed.candidates),
        milliseconds=round(answer.milliseconds, 3),
        missing=None if fault is None else f"{fault.reason} ({fault.code})",
    )


def _missing(project: Project, surface: str) -> str:
    if surface == "capability":
        return "no inventory"
    if project.descriptor.degraded:
        return "its descriptor cannot be read"
    if not project.retrieval:
        return "opted out of retrieval"
    surfaces = project.surfaces
    declared = {
        "memory": surfaces.memory,
        "vault": surfaces.vault,
        "graph": surfaces.graph,
        "corpus": surfaces.rag,
    }[surface]
    if declared is None:
        return "its stack has none"
    if surface == "corpus":
        return "not taken yet: agentic-os index build"
    return "empty" if declared.state == "present" else declared.state
