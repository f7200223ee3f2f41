"""What an answer was computed from: projects that contribute or failed, and what was left out."""

import json
import threading
from collections.abc import Iterator, Sequence

from agentic_os.aggregate.workspace import Unread, Workspace
from agentic_os.registry.project import Project
from agentic_os.results import KINDS, Coverage, ProjectFailure
from agentic_os.tiers.explain import SURFACE_KINDS
from agentic_os.tiers.interface import ENGINE, SEMANTIC, Found, Query
from agentic_os.tiers.meaning import SemanticAnswer

_SURFACE = " ".join(
    f"WHEN '{kind}' THEN '{surface}'" for surface, kinds in SURFACE_KINDS.items() for kind in kinds
)
_SURFACE_OF_KIND: dict[str, str] = {
    kind: surface for surface, kinds in SURFACE_KINDS.items() for kind in kinds
}
_CONTRIBUTING = f"""
WITH scope(pk) AS (SELECT pk FROM project
    WHERE :ids IS NULL OR id IN (SELECT value FROM json_each(:ids))),
contributing(project, surface) AS (
    SELECT DISTINCT project, CASE kind {_SURFACE} END FROM document
    WHERE :ids IS NULL OR project IN (SELECT pk FROM scope)
    UNION SELECT project.pk, 'graph' FROM graph_repo JOIN project ON project.id = graph_repo.project
        WHERE nodes > 0 AND project.pk IN (SELECT pk FROM scope)
)
SELECT surface, count(*) FROM contributing GROUP BY surface
UNION ALL SELECT '', count(DISTINCT project) FROM contributing
"""  # noqa: S608 - constants of this module
_PASSAGES = """
SELECT project.id, document.kind, count(*) FROM document
JOIN project ON project.pk = document.project GROUP BY document.project, document.kind
UNION ALL SELECT project, 'graph', nodes FROM graph_repo WHERE nodes > 0
"""
_KEPT_COUNTS = 16


def coverage_of(
    workspace: Workspace,
    query: Query,
    scope: Sequence[Project],
    *,
    by_words: Sequence[Found],
    semantic: SemanticAnswer,
    engines: frozenset[str],
    unread: Unread,
) -> Coverage:
    """Say what an answer was computed from.

    Args:
        workspace: the fleet and its open store.
        query: what was asked.
        scope: the projects that were asked.
        by_words: what surfaces of words found.
        semantic: what the semantic index found.
        engines: projects whose own engine answered.
        unread: evidence in scope that could not be read.
    """
    index = semantic.index
    counted = _contributing(workspace, query)
    surfaces = {surface: counted.get(surface, 0) for surface in SURFACE_KINDS}
    surfaces[SEMANTIC] = len(semantic.indexed.intersection(project.id for project in scope))
    surfaces[ENGINE] = len(engines)
    return Coverage(
        projects_searched=counted.get("", 0),
        projects_failed=tuple(_failures(scope, unread.projects)),
        surfaces=surfaces,
        kinds=tuple(
            kind
            for kind in KINDS
            if (not query.kinds or kind in query.kinds) and surfaces[_SURFACE_OF_KIND[kind]]
        ),
        embedder=index.embedder if index else None,
        unindexed=len(unread.omissions) + (index.unindexed if index else 0),
        stale=workspace.stale,
        relaxed=any(answer.relaxed for answer in by_words),
        left_out=next((answer.left_out for answer in by_words if answer.left_out), ()),
    )


def passages_by_project(workspace: Workspace, scope: set[str]) -> dict[str, dict[str, int]]:
    """Count the passages of each kind that each project in scope has in the store."""
    counts: dict[str, dict[str, int]] = {project: {} for project in scope}
    for project, kind, count in workspace.store.connection.execute(_PASSAGES):
        if project in counts:
            counts[project][kind] = count
    return counts


def _contributing(workspace: Workspace, query: Query) -> dict[str, int]:
    """Count the projects that contribute each surface, and anything at all."""
    ids = None if query.projects is None else json.dumps(sorted(query.projects))
    store = workspace.store
    seen = store.space.database.stat()
    nodes = store.connection.execute("SELECT count(*), sum(nodes) FROM graph_repo").fetchone()
    key = (seen.st_dev, seen.st_ino, store.generation, *nodes, ids)
    with _counting:
        counted = _counts.get(key)
    if counted is None:
        counted = dict(store.connection.execute(_CONTRIBUTING, {"ids": ids}).fetchall())
        with _counting:
            while len(_counts) >= _KEPT_COUNTS:
                del _counts[next(iter(_counts))]
            _counts[key] = counted
    return counted


# A question does not count the fleet again: the counts of one state of a store are kept.
_counting = threading.Lock()
_counts: dict[tuple[object, ...], dict[str, int]] = {}


def _failures(scope: Sequence[Project], unread: frozenset[str]) -> Iterator[ProjectFailure]:
    for project in scope:
        worst = next((item for item in project.diagnostics if item.severity == "error"), None)
        if worst is not None:
            yield ProjectFailure(project=project.id, code=worst.code, message=worst.message)
        elif project.id in unread:
            yield ProjectFailure(
                project=project.id,
                code="EVIDENCE_UNREAD",
                message="some of its files could not be read",
            )
