"""The tools ``search_fleet`` and ``fleet_overview``: renderings of the service functions' answers.

Paths are relative to their project; nothing here carries an absolute path (design section 6). The
memory choice binds: ``off`` closes memory and vault, ``project`` narrows to the projects that were
named (``scope``).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from agentic_os.aggregate import questions as answers
from agentic_os.aggregate.workspace import Workspace
from agentic_os.results import KINDS, Answer, Kind
from agentic_os.server.arguments import FleetOverview, SearchFleet
from agentic_os.server.scope.hiding import hidden_by, hidden_omission
from agentic_os.server.scope.projects import chosen_projects, effective_memory
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.envelope import Document, document, plain
from agentic_os.server.tools.hits import short_coverage, short_hit, since_ns
from agentic_os.server.tools.paging import page, read_cursor, write_cursor

MEMORY_KINDS: frozenset[Kind] = frozenset({"memory", "index", "vault"})


def search_fleet(served: ServedPerson, asked: SearchFleet) -> Document:
    """Answer ``search_fleet``."""
    from agentic_os.tiers.interface import Query
    from agentic_os.tiers.route import search

    memory = effective_memory(asked.memory, asked.projects)
    now = datetime.now().astimezone()
    since = since_ns(asked.changed_since, now) if asked.changed_since else None
    question = (
        f"{asked.query}\0{asked.projects}\0{asked.kinds}\0{asked.mode}\0{memory}"
        f"\0{asked.changed_since}"
    )
    offset = read_cursor(asked.cursor, question)
    kinds = frozenset(asked.kinds)
    if memory == "off":
        kinds = (kinds or frozenset(KINDS)) - MEMORY_KINDS
        if not kinds:
            return _nothing()
    with served.workspace() as workspace:
        names = chosen_projects(served, workspace, memory, asked.projects)
        projects = workspace.project_ids(names, paths=False)
        query = Query(
            text=asked.query,
            projects=projects,
            kinds=kinds,
            mode=asked.mode,
            limit=offset + asked.limit,
            changed_since_ns=since,
        )
        answer = search(workspace, query)
        hiding = hidden_by(memory, workspace, projects)
    found, total = plain(answer.data.hits)[offset:], answer.data.total
    # A hidden hit keeps its place in the order, so that pages fit together.
    shown = [(place, hit) for place, hit in enumerate(found, offset + 1) if not hiding.hides(hit)]
    told = [hit if asked.details else short_hit(hit) for _, hit in shown]
    fits = page(told, budget=asked.budget)
    hidden = len(found) - len(shown)
    after = shown[len(fits.items) - 1][0] if fits.truncated else offset + len(found)
    more = total > after and bool(found)
    noted = Answer(
        data=None,
        omissions=(*answer.omissions, *hidden_omission(memory, hidden)),
        warnings=answer.warnings,
    )
    coverage = plain(answer.data.coverage)
    data = {
        "total": total - hidden,
        "hits": list(fits.items),
        "coverage": coverage if asked.details else short_coverage(coverage),
    }
    if answer.data.nothing_found:
        data["nothing_found"] = True
    cursor = write_cursor(after, question) if more else ""
    return document(noted, data, truncated=more, cursor=cursor)


def fleet_overview(served: ServedPerson, asked: FleetOverview) -> Document:
    """Answer ``fleet_overview``: rows of the asked sections, in pages."""
    memory = effective_memory(asked.memory, asked.projects)
    question = f"{asked.projects}\0{asked.sections}\0{memory}"
    offset = read_cursor(asked.cursor, question)
    with served.workspace() as workspace:
        rows: list[Document] = []
        noted: list[Answer[Any]] = []
        names = chosen_projects(served, workspace, memory, asked.projects)
        hiding = hidden_by(memory, workspace, workspace.project_ids(names, paths=False))
        hidden = 0
        for section in dict.fromkeys(asked.sections):
            if section == "memory" and memory == "off":
                continue
            found, answer = _SECTIONS[section](workspace, names)
            kept, count = hiding.keep(found)
            rows += [{"section": section, **row} for row in kept]
            hidden += count
            noted.append(answer)
    fits = page(rows, budget=asked.budget, offset=offset, question=question)
    merged: Answer[None] = Answer(
        data=None,
        omissions=(
            *dict.fromkeys(item for one in noted for item in one.omissions),
            *hidden_omission(memory, hidden),
        ),
        warnings=tuple(dict.fromkeys(item for one in noted for item in one.warnings)),
    )
    return document(
        merged,
        {"total": len(rows), "rows": list(fits.items)},
        truncated=fits.truncated,
        cursor=fits.cursor,
    )


def _projects(workspace: Workspace, names: Sequence[str]) -> tuple[list[Document], Answer[Any]]:
    scope = workspace.project_ids(names, paths=False)
    rows = [
        {
            "id": project.id,
            "name": project.name,
            "tier": project.tier,
            "stack": project.descriptor.label,
            "surfaces": {
                name: surface.state
                for name in ("memory", "vault", "graph", "rag")
                if (surface := getattr(project.surfaces, name)) is not None
            },
            "branch": project.branch,
            "commit": project.commit,
            "codes": [item.code for item in project.diagnostics],
        }
        for project in workspace.fleet.projects
        if scope is None or project.id in scope
    ]
    return rows, Answer(data=None, warnings=workspace.warnings)


def _memory(workspace: Workspace, names: Sequence[str]) -> tuple[list[Document], Answer[Any]]:
    answer = answers.memory(workspace, names)
    rows = [
        {
            "project": fact.provenance.project,
            "title": fact.title,
            "type": fact.type,
            "description": fact.description,
            "path": fact.provenance.path,
            "line": fact.provenance.lines[0],
            "same_in": list(fact.equal_in),
            "names": [link.target for link in fact.links],
        }
        for fact in answer.data.facts
        if not fact.template
    ]
    return rows, answer


def _capabilities(workspace: Workspace, names: Sequence[str]) -> tuple[list[Document], Answer[Any]]:
    answer = answers.capabilities(workspace, names)
    rows: list[Document] = [
        {"kind": item.section, "name": item.name, "projects": list(item.projects)}
        for item in answer.data.capabilities
    ]
    return rows, answer


def _health(workspace: Workspace, names: Sequence[str]) -> tuple[list[Document], Answer[Any]]:
    from agentic_os.doctor.fleet import examine

    rows = [
        {
            "check": check.id,
            "status": check.status,
            "message": check.message,
            "project": check.project,
            "path": check.path,
            "line": check.line,
        }
        for check in examine(workspace, workspace.project_ids(names, paths=False))
        if check.status != "ok"
    ]
    return rows, Answer(data=None, warnings=workspace.warnings)


_SECTIONS = {
    "projects": _projects,
    "memory": _memory,
    "capabilities": _capabilities,
    "health": _health,
}


def _nothing() -> Document:
    empty: Answer[None] = Answer(data=None)
    return document(empty, {"total": 0, "hits": [], "coverage": None}, truncated=False, cursor="")
