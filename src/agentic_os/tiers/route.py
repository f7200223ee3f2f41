"""The router: one question, every surface that may answer, one merged list.

Additive (design section 5): every project with memory contributes it, higher tiers add their
surfaces, a surface that a project lacks degrades to the next and is listed. Whatever surface a
candidate comes from, it is shown only after ``confirm`` has read its file again.
"""

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
from agentic_os.tiers.confirm import Confirmer, Dropped, Source
from agentic_os.tiers.fusion import RRF_K, fuse
from agentic_os.tiers.interface import MAX_LIMIT_HITS, MAX_QUERY_CHARS, Candidate, Found, Query
from agentic_os.tiers.lexical import Lexical
from agentic_os.tiers.passage import LineMatcher

_NO_INDEX = "there is no semantic index"
_WORDS_ONLY = f"{_NO_INDEX}; the words themselves were searched"
_SURFACE_KINDS: dict[str, tuple[Kind, ...]] = {
    "memory": ("memory", "index"),
    "vault": ("vault",),
    "graph": ("graph",),
    "capability": ("capability",),
}
_SURFACE_TIERS: dict[str, int | None] = {"memory": 0, "vault": 1, "graph": 2, "capability": None}
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
    answers, timed_out = _ask(workspace, query)
    merged = fuse([answer.candidates for answer in answers])
    hits, dropped = ([], []) if projects_only else _confirmed(workspace, query, merged)
    unread = workspace.unread({project.id for project in scope})
    documents = _documents(workspace, {project.id for project in scope})
    vain = workspace.asked_in_vain(query.projects)
    omissions = [*unread.omissions, *vain, *timed_out, *_dropped_omissions(dropped)]
    if query.mode == "hybrid":
        omissions.append(
            Omission(code="SEMANTIC_UNAVAILABLE", scope="semantic", reason=_WORDS_ONLY)
        )
    coverage = Coverage(
        projects_searched=sum(bool(kinds) for kinds in documents.values()),
        projects_failed=_failures(scope, unread.projects),
        surfaces={
            surface: sum(
                any(kind in kinds_here for kind in kinds) for kinds_here in documents.values()
            )
            for surface, kinds in _SURFACE_KINDS.items()
        },
        unindexed=len(unread.omissions),
        stale=workspace.stale,
        relaxed=any(answer.relaxed for answer in answers),
    )
    names = {project.id: project.name for project in scope}
    data = SearchData(
        query=one_line(query.text),
        total=sum(answer.total for answer in answers) - len(dropped),
        hits=tuple(hits),
        coverage=coverage,
        projects=_ranked(answers, names)[: query.limit] if projects_only else (),
        explain=_traces(scope, documents, answers) if explain else (),
    )
    return Answer(
        data=data,
        omissions=tuple(omissions),
        warnings=workspace.noticed(query.projects),
        incomplete=bool(unread.omissions or vain),
    )


def _check(query: Query) -> None:
    if query.mode == "semantic":
        raise SemanticIndexError(
            _NO_INDEX, code="SEMANTIC_UNAVAILABLE", hint="Ask with --mode lexical or auto."
        )
    if not query.text.strip():
        raise UsageError("the query is empty", hint="Ask for a word, a name or a phrase.")
    if len(query.text) > MAX_QUERY_CHARS:
        raise UsageError(f"the query has more than {MAX_QUERY_CHARS} characters")
    if not 1 <= query.limit <= MAX_LIMIT_HITS:
        raise UsageError(f"the limit must be between 1 and {MAX_LIMIT_HITS}")


def _ask(workspace: Workspace, query: Query) -> tuple[list[Found], tuple[Omission, ...]]:
    """Ask every surface that may answer: the graph before full text."""
    answers: list[Found] = []
    omissions: tuple[Omission, ...] = ()
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
    scope: list[Project], documents: dict[str, dict[str, int]], answers: list[Found]
) -> tuple[SurfaceTrace, ...]:
    traces = []
    for project in scope:
        for surface, kinds in _SURFACE_KINDS.items():
            own = any(kind in documents[project.id] for kind in kinds)
            asked = [
                answer for answer in answers if (answer.surface == "graph") == (surface == "graph")
            ]
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
    return tuple(traces)


def _missing(project: Project, surface: str) -> str:
    if surface == "capability":
        return "no inventory"
    if project.descriptor.degraded:
        return "its descriptor cannot be read"
    if not project.retrieval:
        return "opted out of retrieval"
    surfaces = project.surfaces
    declared = {"memory": surfaces.memory, "vault": surfaces.vault, "graph": surfaces.graph}[
        surface
    ]
    if declared is None:
        return "its stack has none"
    return "empty" if declared.state == "present" else declared.state
