"""The fleet's tools: search, overview, graph. Pure renderings of the service functions' answers.

Every answer is a JSON object with ``data``, ``omissions``, ``warnings``, ``truncated`` and
``cursor``. Paths are relative to their project; nothing here carries an absolute path (design
section 6). The memory choice binds: ``off`` closes memory and vault, ``project`` narrows to the
projects that were named (``scope``).
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from agentic_os.aggregate import answers
from agentic_os.aggregate.workspace import Workspace
from agentic_os.errors import UsageError
from agentic_os.results import KINDS, Answer, Kind
from agentic_os.server.arguments import FleetOverview, QueryGraph, SearchFleet
from agentic_os.server.paging import page, read_cursor, write_cursor
from agentic_os.server.scope import check_memory, chosen_projects
from agentic_os.server.seat import Seat

MEMORY_KINDS: frozenset[Kind] = frozenset({"memory", "index", "vault"})
MAX_NOTED_ENTRIES = 20
"""Omissions and warnings in one answer; the rest is counted."""

Document = dict[str, Any]


def search_fleet(seat: Seat, asked: SearchFleet) -> Document:
    """Answer ``search_fleet``."""
    from agentic_os.tiers.interface import Query
    from agentic_os.tiers.route import search

    question = f"{asked.query}\0{asked.projects}\0{asked.kinds}\0{asked.mode}\0{asked.memory}"
    offset = read_cursor(asked.cursor, question)
    kinds = frozenset(asked.kinds)
    if asked.memory == "off":
        kinds = (kinds or frozenset(KINDS)) - MEMORY_KINDS
        if not kinds:
            return _closed()
    check_memory(asked.memory, asked.projects)
    with seat.workspace() as workspace:
        answer = search(
            workspace,
            Query(
                text=asked.query,
                projects=workspace.project_ids(
                    chosen_projects(seat, workspace, asked.memory, asked.projects),
                    paths=False,
                ),
                kinds=kinds,
                mode=asked.mode,
                limit=offset + asked.limit,
            ),
        )
    hits = answer.data.hits
    fits = page(hits, budget=asked.budget, offset=offset, question=question)
    more = answer.data.total > offset + len(fits.items)
    data = {
        "total": answer.data.total,
        "hits": _plain(fits.items),
        "coverage": _plain(answer.data.coverage),
    }
    cursor = fits.cursor
    if more and not cursor:
        cursor = write_cursor(offset + len(fits.items), question)
    return _document(answer, data, truncated=more, cursor=cursor)


def fleet_overview(seat: Seat, asked: FleetOverview) -> Document:
    """Answer ``fleet_overview``: rows of the asked sections, in pages."""
    question = f"{asked.projects}\0{asked.sections}\0{asked.memory}"
    offset = read_cursor(asked.cursor, question)
    check_memory(asked.memory, asked.projects)
    with seat.workspace() as workspace:
        rows: list[Document] = []
        noted: list[Answer[Any]] = []
        names = chosen_projects(seat, workspace, asked.memory, asked.projects)
        for section in dict.fromkeys(asked.sections):
            if section == "memory" and asked.memory == "off":
                continue
            found, answer = _SECTIONS[section](workspace, names)
            rows += [{"section": section, **row} for row in found]
            noted.append(answer)
    fits = page(rows, budget=asked.budget, offset=offset, question=question)
    merged: Answer[None] = Answer(
        data=None,
        omissions=tuple(dict.fromkeys(item for one in noted for item in one.omissions)),
        warnings=tuple(dict.fromkeys(item for one in noted for item in one.warnings)),
    )
    return _document(
        merged,
        {"total": len(rows), "rows": list(fits.items)},
        truncated=fits.truncated,
        cursor=fits.cursor,
    )


def query_graph(seat: Seat, asked: QueryGraph) -> Document:
    """Answer ``query_graph``."""
    from agentic_os.tiers import graph

    if asked.operation in {"find", "neighbors", "path", "impact"} and not asked.name.strip():
        raise UsageError(f"{asked.operation} needs `name`", code="ARGUMENT_INVALID")
    if asked.operation == "path" and not asked.to.strip():
        raise UsageError("path needs `to`", code="ARGUMENT_INVALID")
    with seat.workspace(sources=True) as workspace:
        projects = workspace.project_ids(asked.projects, paths=False)
        opened = graph.code_graph(workspace)
        answer: Answer[Any]
        match asked.operation:
            case "find":
                answer = graph.find(opened, asked.name, projects=projects, limit=asked.limit)
            case "neighbors":
                answer = graph.neighbors(
                    opened, asked.name, projects=projects, depth=asked.depth, limit=asked.limit
                )
            case "path":
                answer = graph.path(
                    opened, asked.name, asked.to, projects=projects, directed=not asked.undirected
                )
            case "impact":
                answer = graph.impact(
                    opened, asked.name, projects=projects, depth=asked.depth, limit=asked.limit
                )
            case "links":
                answer = graph.links(opened, projects=projects, limit=asked.limit)
            case "stats":
                answer = graph.stats(opened, projects=projects)
    data, cut = _within(_plain(answer.data), asked.budget)
    return _document(answer, data, truncated=cut, cursor="")


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
    from agentic_os.doctor import examine

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


def _closed() -> Document:
    empty: Answer[None] = Answer(data=None)
    return _document(empty, {"total": 0, "hits": [], "coverage": None}, truncated=False, cursor="")


def _plain(value: object) -> Any:
    """A value as JSON has it: objects, lists, texts, numbers."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _within(data: Document, budget: int) -> tuple[Document, bool]:
    """Drop from the end of the longest list until the JSON fits."""
    cut = False
    while len(msgspec.json.encode(data)) > budget:
        lists = [value for value in data.values() if isinstance(value, list) and value]
        if not lists:
            break
        longest = max(lists, key=len)
        del longest[max(1, len(longest) * 3 // 4) if len(longest) > 1 else 0 :]
        cut = True
    return data, cut


def _document(answer: Answer[Any], data: Document, *, truncated: bool, cursor: str) -> Document:
    return {
        "data": data,
        "omissions": _plain(answer.omissions[:MAX_NOTED_ENTRIES]),
        "warnings": [
            {"code": item.code, "message": item.message, "path": item.path}
            for item in answer.warnings[:MAX_NOTED_ENTRIES]
        ],
        "noted": len(answer.omissions) + len(answer.warnings),
        "truncated": truncated,
        "cursor": cursor or None,
    }
