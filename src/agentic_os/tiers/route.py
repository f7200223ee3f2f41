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
    Omission,
    ProjectFailure,
    ProjectRank,
    SearchData,
    SurfaceTrace,
)
from agentic_os.text.fencing import one_line
from agentic_os.tiers.confirm import Confirmer, Dropped, Source
from agentic_os.tiers.interface import MAX_LIMIT_HITS, MAX_QUERY_CHARS, Found, Query
from agentic_os.tiers.lexical import Lexical
from agentic_os.tiers.passage import LineMatcher

_NO_INDEX = "there is no semantic index; the words themselves are searched"
_SURFACE_KINDS = {"memory": ("memory", "index"), "vault": ("vault",), "capability": ("capability",)}
_SURFACE_TIERS: dict[str, int | None] = {"memory": 0, "vault": 1, "capability": None}
_SCOPE_COVERAGE = """
SELECT project.id, document.kind, count(*) FROM document
JOIN project ON project.pk = document.project GROUP BY document.project, document.kind
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
    found = Lexical(workspace.store).find(query)
    hits, dropped = ([], []) if projects_only else _confirmed(workspace, query, found)
    unread = workspace.unread({project.id for project in scope})
    documents = _documents(workspace, {project.id for project in scope})
    omissions = [*unread.omissions, *_dropped_omissions(dropped)]
    if query.mode == "hybrid":
        omissions.append(Omission(code="SEMANTIC_UNAVAILABLE", scope="semantic", reason=_NO_INDEX))
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
        relaxed=found.relaxed,
    )
    names = {project.id: project.name for project in scope}
    data = SearchData(
        query=one_line(query.text),
        total=found.total - len(dropped),
        hits=tuple(hits),
        coverage=coverage,
        projects=_ranked(found, names)[: query.limit] if projects_only else (),
        explain=_traces(scope, documents, found) if explain else (),
    )
    return Answer(
        data=data,
        omissions=tuple(omissions),
        warnings=workspace.warnings,
        incomplete=bool(unread.omissions) or workspace.asked_in_vain(query.projects),
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


def _confirmed(workspace: Workspace, query: Query, found: Found) -> tuple[list[Hit], list[Dropped]]:
    hits: list[Hit] = []
    dropped: list[Dropped] = []
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
        for candidate in found.candidates:
            if len(hits) >= query.limit:
                break
            answer = confirmer.confirm(candidate)
            if isinstance(answer, Dropped):
                dropped.append(answer)
            else:
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


def _ranked(found: Found, names: dict[str, str]) -> tuple[ProjectRank, ...]:
    ranked = sorted(
        found.by_project.items(), key=lambda item: (-item[1].best, -item[1].hits, item[0])
    )
    return tuple(
        ProjectRank(
            project=project,
            name=one_line(names[project]),
            hits=score.hits,
            score=round(score.best, 4),
        )
        for project, score in ranked
        if project in names
    )


def _traces(
    scope: list[Project], documents: dict[str, dict[str, int]], found: Found
) -> tuple[SurfaceTrace, ...]:
    traces = []
    for project in scope:
        own = documents[project.id]
        score = found.by_project.get(project.id)
        for surface, kinds in _SURFACE_KINDS.items():
            missing = _missing(project, surface) if not any(kind in own for kind in kinds) else None
            traces.append(
                SurfaceTrace(
                    project=project.id,
                    surface=surface,
                    tier=_SURFACE_TIERS[surface],
                    hits=0 if missing or score is None else score.kinds(kinds),
                    milliseconds=round(found.milliseconds, 3),
                    missing=missing,
                )
            )
    return tuple(traces)


def _missing(project: Project, surface: str) -> str:
    if surface == "capability":
        return "no inventory"
    if not project.retrieval:
        return "opted out of retrieval"
    declared = project.surfaces.memory if surface == "memory" else project.surfaces.vault
    if declared is None:
        return "its stack has none"
    return "empty" if declared.state == "present" else declared.state
