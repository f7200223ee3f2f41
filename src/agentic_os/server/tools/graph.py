"""The tool ``query_graph``: one question to the code graph over all projects, in pages.

Each operation has one list that is paged (nodes, edges or projects); what belongs to the shown
part of it comes along. A path is one answer and has no pages.
"""

from typing import Any

from agentic_os.aggregate.workspace import Workspace
from agentic_os.results import Answer
from agentic_os.server.arguments import QueryGraph
from agentic_os.server.codes import ERRORS
from agentic_os.server.scope.hiding import NOTHING_HIDDEN, Hidden, hidden_by, hidden_omission
from agentic_os.server.scope.projects import chosen_projects, effective_memory
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.envelope import Document, document, plain, size, within
from agentic_os.server.tools.paging import read_cursor, write_cursor

NEIGHBORS_NODES = 200
"""Neighbours looked at for every page, so that the pages of one walk fit together."""

HIDDEN_NODES = 1_000
"""How many items are looked at if a memory choice hides some of them."""

NO_GRAPH_CODES = frozenset({"GRAPH_NONE", "GRAPH_MISSING"})
NO_GRAPH_HINT = (
    "Projects without a code graph are not in this answer; search_fleet finds words in them."
    " The graph is made by a project's own graph tool (graphify); `agentic-os graph stats` lists"
    " which projects have one."
)

_PAGED = {
    "find": "nodes",
    "neighbors": "nodes",
    "impact": "nodes",
    "links": "edges",
    "stats": "projects",
}
_NAMED = frozenset({"find", "neighbors", "path", "impact"})


def query_graph(served: ServedPerson, asked: QueryGraph) -> Document:
    """Answer ``query_graph``."""
    if asked.operation in _NAMED and not asked.name.strip():
        raise ERRORS.error("ARGUMENT_INVALID", f"{asked.operation} needs `name`")
    if asked.operation == "path" and not asked.to.strip():
        raise ERRORS.error("ARGUMENT_INVALID", "path needs `to`")
    memory = effective_memory(asked.memory, asked.projects)
    question = (
        f"{asked.operation}\0{asked.name}\0{asked.to}\0{asked.projects}\0{asked.depth}"
        f"\0{asked.undirected}\0{memory}"
    )
    offset = read_cursor(asked.cursor, question)
    with served.workspace(sources=True) as workspace:
        names = chosen_projects(served, workspace, memory, asked.projects)
        projects = workspace.project_ids(names, paths=False)
        hiding = hidden_by(memory, workspace, projects)
        # A hidden item takes a place in the walk, and none in the pages.
        limit = offset + asked.limit + 1 if hiding == NOTHING_HIDDEN else HIDDEN_NODES
        answer = _ask(workspace, asked, projects, limit)
    data, hidden = _visible_part(plain(answer.data), hiding)
    if hidden and asked.operation == "path":
        data |= {"nodes": [], "edges": []}
    noted = Answer(
        data=None,
        omissions=(*answer.omissions, *hidden_omission(memory, hidden)),
        warnings=answer.warnings,
    )
    member = _PAGED.get(asked.operation)
    if member is None:
        data, cut = within(data, asked.budget)
        return _hinted(document(noted, data, truncated=cut, cursor=""))
    shown, more, cut = _page(data, member, offset, asked)
    cursor = write_cursor(more, question) if more else ""
    return _hinted(document(noted, shown, truncated=bool(more) or cut, cursor=cursor))


def _hinted(made: Document) -> Document:
    """Say what to do where projects have no graph."""
    if any(item["code"] in NO_GRAPH_CODES for item in made["omissions"]):
        made["hint"] = NO_GRAPH_HINT
    return made


def _ask(
    workspace: Workspace, asked: QueryGraph, projects: frozenset[str] | None, limit: int
) -> Answer[Any]:
    from agentic_os.tiers.graph.context import code_graph
    from agentic_os.tiers.graph.links import links, stats
    from agentic_os.tiers.graph.near import find, neighbors
    from agentic_os.tiers.graph.paths import impact, path

    opened = code_graph(workspace)
    match asked.operation:
        case "find":
            return find(opened, asked.name, projects=projects, limit=limit)
        case "neighbors":
            return neighbors(
                opened, asked.name, projects=projects, depth=asked.depth, limit=NEIGHBORS_NODES
            )
        case "path":
            return path(
                opened, asked.name, asked.to, projects=projects, directed=not asked.undirected
            )
        case "impact":
            return impact(opened, asked.name, projects=projects, depth=asked.depth, limit=limit)
        case "links":
            return links(opened, projects=projects, limit=limit)
        case "stats":
            return stats(opened, projects=projects)


def _visible_part(data: Document, hiding: Hidden) -> tuple[Document, int]:
    """Return the data without what is hidden, and how many items were hidden."""
    hidden = 0
    for member, value in data.items():
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            data[member], count = hiding.keep(value)
            hidden += count
        elif isinstance(value, dict) and hiding.hides(value):
            data[member], hidden = None, hidden + 1
    if not hidden or not isinstance(data.get("edges"), list):
        return data, hidden
    if "start" in data and data["start"] is None:
        data["nodes"] = []
    known = {node["id"] for node in data["nodes"]}
    known |= {data["start"]["id"]} if data.get("start") else set()
    data["edges"] = [edge for edge in data["edges"] if {edge["source"], edge["target"]} <= known]
    return data, hidden


def _page(
    data: Document, member: str, offset: int, asked: QueryGraph
) -> tuple[Document, int, bool]:
    """Return one page, the offset of the next one (0 for none), and whether it was cut."""
    items = data[member]
    count = len(items[offset : offset + asked.limit])
    shown = _part(data, member, offset, count)
    while count > 1 and size(shown) > asked.budget:
        count = max(1, count * 3 // 4)
        shown = _part(data, member, offset, count)
    shown, cut = within(shown, asked.budget)
    after = offset + count
    return shown, after if count and after < len(items) else 0, cut


def _part(data: Document, member: str, offset: int, count: int) -> Document:
    """Return ``count`` items of the list from ``offset`` on, with what belongs to them."""
    items = data[member]
    part = {**data, member: items[offset : offset + count]}
    if offset:
        part |= {name: [] for name in ("near", "counts") if name in data}
    if not isinstance(data.get("edges"), list):
        return part
    if member == "edges":
        ends = {edge[end] for edge in part["edges"] for end in ("source", "target")}
        return part | {"nodes": [node for node in data["nodes"] if node["id"] in ends]}
    start = {data["start"]["id"]} if data.get("start") else set()
    seen = {node["id"] for node in items[: offset + count]} | start
    new = {node["id"] for node in part[member]} | (set() if offset else start)
    edges = [
        edge
        for edge in data["edges"]
        if {edge["source"], edge["target"]} <= seen and {edge["source"], edge["target"]} & new
    ]
    return part | {"edges": edges}
