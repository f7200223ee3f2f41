"""The router: one question, every surface that may answer, one merged list.

Additive (design section 5): every project with memory contributes it, higher tiers add their
surfaces, a surface that a project lacks degrades to the next and is listed. Where there is a
semantic index, words and meaning are asked together and their ranks fused; a question that is an
identifier, or one word, is answered by its words first, and what is called exactly what was asked
for goes before all. Engines of projects' own are asked where the person
granted it. Whatever surface a candidate comes from, it is shown only after ``confirm`` has read
its file again.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agentic_os.aggregate.workspace import Unread, Workspace
from agentic_os.errors import UsageError
from agentic_os.registry.project import Project
from agentic_os.results import (
    Answer,
    Coverage,
    Hit,
    Omission,
    ProjectFailure,
    ProjectRank,
    SearchData,
)
from agentic_os.text.fencing import one_line
from agentic_os.tiers.confirm import Confirmer, Dropped, Source
from agentic_os.tiers.explain import SURFACE_KINDS, surface_traces
from agentic_os.tiers.interface import (
    ARM_CANDIDATES,
    ENGINE,
    MAX_LIMIT_HITS,
    MAX_QUERY_CHARS,
    SEMANTIC,
    Candidate,
    Found,
    Query,
)
from agentic_os.tiers.lexical import Lexical
from agentic_os.tiers.meaning import (
    SemanticAnswer,
    ask_index,
    ask_own_engines,
    merge,
    wants_words,
)
from agentic_os.tiers.passage import LineMatcher
from agentic_os.tiers.ranking import rank_projects

if TYPE_CHECKING:
    from agentic_os.tiers.engines.surface import Engines

_NO_CORPUS = "no code or documents were taken in yet: agentic-os index build"
_HAS_GRAPH = "SELECT 1 FROM graph_repo WHERE nodes > 0 LIMIT 1"
_SCOPE_COVERAGE = """
SELECT project.id, document.kind, count(*) FROM document
JOIN project ON project.pk = document.project GROUP BY document.project, document.kind
UNION ALL SELECT project, 'graph', nodes FROM graph_repo WHERE nodes > 0
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """The answers of every surface that was asked, before they are merged."""

    by_words: list[Found]
    timed_out: tuple[Omission, ...]
    semantic: SemanticAnswer
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
    def omissions(self) -> tuple[Omission, ...]:
        """What the surfaces left out."""
        of_engines = self.engines.omissions if self.engines else ()
        return (*self.timed_out, *self.semantic.omissions, *of_engines)

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
    scope = [
        project
        for project in workspace.fleet.projects
        if query.projects is None or project.id in query.projects
    ]
    answers = _ask(workspace, query, scope)
    merged, meaning_only = merge(query, answers.by_words, answers.by_meaning)
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
        hits, dropped = _confirmed(workspace, query, merged)
        found = sum(answer.total for answer in answers.by_words) + len(meaning_only)
        total = found - len(dropped)
    ids = {project.id for project in scope}
    documents = _documents(workspace, ids)
    unread = workspace.unread(ids)
    unanswerable = workspace.unanswerable(query.projects)
    data = SearchData(
        query=one_line(query.text),
        total=total,
        hits=tuple(hits),
        coverage=_coverage(workspace, scope, answers, documents, unread),
        projects=ranked[: query.limit],
        explain=surface_traces(
            scope, documents, answers.by_words, answers.semantic, answers.engines
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


def _coverage(
    workspace: Workspace,
    scope: list[Project],
    answers: _Answers,
    documents: dict[str, dict[str, int]],
    unread: Unread,
) -> Coverage:
    """Say what the answer was made from."""
    index = answers.semantic.index
    surfaces = {
        surface: sum(not kinds_here.keys().isdisjoint(kinds) for kinds_here in documents.values())
        for surface, kinds in SURFACE_KINDS.items()
    }
    surfaces[SEMANTIC] = sum(project.id in answers.semantic.indexed for project in scope)
    surfaces[ENGINE] = len(answers.engines_answered)
    return Coverage(
        projects_searched=sum(bool(kinds) for kinds in documents.values()),
        projects_failed=_failures(scope, unread.projects),
        surfaces=surfaces,
        embedder=index.embedder if index else None,
        unindexed=len(unread.omissions) + (index.unindexed if index else 0),
        stale=workspace.stale,
        relaxed=any(answer.relaxed for answer in answers.by_words),
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
    return _Answers(by_words=by_words, timed_out=timed_out, semantic=semantic, engines=engines)


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
