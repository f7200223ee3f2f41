"""What the page is answered: one service function a document, as the commands call them.

A document of a command has that command's name and schema; its data differ in one point: no place
on the disk is absolute. A project's folder is named by its root's name and the path below it.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, Final, get_args
from urllib.parse import quote

import msgspec

from agentic_os.aggregate import questions
from agentic_os.aggregate.changes import ChangesData, recent_changes
from agentic_os.aggregate.instructions import instructions as told
from agentic_os.aggregate.instructions import rule_differences
from agentic_os.aggregate.workspace import Workspace
from agentic_os.doctor.fleet import examine
from agentic_os.results import Answer, DoctorData, ProjectView, ScanData, SearchData
from agentic_os.tiers.graph.context import code_graph
from agentic_os.tiers.graph.evidence import MarkKind, evidence
from agentic_os.tiers.graph.links import links, stats
from agentic_os.tiers.graph.near import find, neighbors
from agentic_os.tiers.graph.paths import impact
from agentic_os.tiers.graph.paths import path as path_between
from agentic_os.tiers.graph.picture import Box, picture
from agentic_os.tiers.index.status import index_status as status
from agentic_os.tiers.interface import Query
from agentic_os.tiers.place import MAX_LINES, PlaceData, read_place, read_text
from agentic_os.tiers.route import search as ask
from agentic_os.web.question import Question
from agentic_os.web.served import Served

SEARCH_LIMIT_HITS: Final = 50
MAX_LINE: Final = 10_000_000
EDITORS: Final = {
    "vscode": "vscode://file{path}:{line}",
    "cursor": "cursor://file{path}:{line}",
    "zed": "zed://file{path}:{line}",
    "idea": "idea://open?file={path}&line={line}",
}
"""Schemes that open a file at a line, by editor."""
GRAPH_LIMIT_NODES: Final = 200
IMPACT_HOPS: Final = 3


FleetDocument = Callable[[Workspace, Question], Answer[Any]]
OwnDocument = Callable[[Served, Question], Answer[Any]]


def scan(workspace: Workspace, _asked: Question) -> Answer[ScanData]:
    """Answer with the projects of the fleet, each in its root."""
    view = workspace.fleet.view
    named = {root.path: PurePath(root.path).name or root.path for root in view.roots}
    projects = tuple(_placed(project, named) for project in view.projects)
    roots = tuple(msgspec.structs.replace(root, path=named[root.path]) for root in view.roots)
    return Answer(data=ScanData(projects=projects, roots=roots), warnings=workspace.warnings)


def _placed(project: ProjectView, named: dict[str, str]) -> ProjectView:
    checkouts = tuple(
        msgspec.structs.replace(checkout, path=_place(checkout.path, named))
        for checkout in project.checkouts
    )
    return msgspec.structs.replace(
        project,
        path=_place(project.path, named),
        root=named.get(project.root, PurePath(project.root).name),
        checkouts=checkouts,
    )


def _place(path: str, named: dict[str, str]) -> str:
    """Name a folder by its root and the path below it; one outside every root by its own name."""
    for root, name in named.items():
        if PurePath(path).is_relative_to(root):
            return str(PurePath(name, PurePath(path).relative_to(root)))
    return PurePath(path).name


def doctor(workspace: Workspace, asked: Question) -> Answer[DoctorData]:
    """Answer with the checks of the fleet."""
    wanted = asked.texts("check")
    checks = tuple(
        check
        for check in examine(workspace, _scope(workspace, asked))
        if not wanted or check.id in wanted
    )
    counts: Counter[str] = Counter(check.status for check in checks)
    return Answer(data=DoctorData(checks=checks, counts=dict(counts)))


def search(workspace: Workspace, asked: Question) -> Answer[SearchData]:
    """Answer a question."""
    query = Query(
        text=asked.needed("q"),
        projects=_scope(workspace, asked),
        kinds=asked.kinds(),
        mode=asked.mode(),
        limit=asked.integer("limit", 10, least=1, most=SEARCH_LIMIT_HITS),
    )
    return ask(workspace, query, explain=bool(asked.text("explain")))


def memory(workspace: Workspace, asked: Question) -> Answer[Any]:
    """Answer with what projects remember."""
    return questions.memory(workspace, _names(workspace, asked))


def differences(workspace: Workspace, asked: Question) -> Answer[Any]:
    """Answer with what projects state differently."""
    return questions.differences(workspace, _names(workspace, asked))


def vault(workspace: Workspace, asked: Question) -> Answer[Any]:
    """Answer with the notes of projects."""
    return questions.vault(workspace, _names(workspace, asked))


def capabilities(workspace: Workspace, asked: Question) -> Answer[Any]:
    """Answer with what projects can do."""
    return questions.capabilities(workspace, _names(workspace, asked))


def instructions(workspace: Workspace, asked: Question) -> Answer[Any]:
    """Answer with what agents are told in projects, and what a path is told by each harness."""
    target = asked.text("target") or None
    return told(workspace, _names(workspace, asked), target=target)


def changes(workspace: Workspace, asked: Question) -> Answer[ChangesData]:
    """Answer with what changed last."""
    limit = asked.integer("limit", 20, least=1, most=GRAPH_LIMIT_NODES)
    return recent_changes(workspace, _names(workspace, asked), limit=limit)


def index_status(workspace: Workspace, _asked: Question) -> Answer[Any]:
    """Answer with the state of the vector index."""
    return status(workspace)


def graph_find(workspace: Workspace, asked: Question) -> Answer[Any]:
    """Answer with the nodes of a name."""
    name, limit = asked.needed("name"), _nodes(asked)
    return find(code_graph(workspace), name, projects=_scope(workspace, asked), limit=limit)


def graph_neighbors(workspace: Workspace, asked: Question) -> Answer[Any]:
    """Answer with what is one edge away."""
    name, limit = asked.needed("name"), _nodes(asked)
    scope = _scope(workspace, asked)
    return neighbors(code_graph(workspace), name, projects=scope, depth=1, limit=limit)


def graph_impact(workspace: Workspace, asked: Question) -> Answer[Any]:
    """Answer with what depends on a node, up to three edges away."""
    name, limit = asked.needed("name"), _nodes(asked)
    scope = _scope(workspace, asked)
    return impact(code_graph(workspace), name, projects=scope, depth=IMPACT_HOPS, limit=limit)


def graph_path(workspace: Workspace, asked: Question) -> Answer[Any]:
    """Answer with a path between two nodes."""
    ends = asked.needed("name"), asked.needed("to")
    return path_between(code_graph(workspace), *ends, projects=_scope(workspace, asked))


def graph_links(workspace: Workspace, asked: Question) -> Answer[Any]:
    """Answer with the edges between projects."""
    scope = _scope(workspace, asked)
    return links(code_graph(workspace), projects=scope, limit=_nodes(asked))


def graph_stats(workspace: Workspace, asked: Question) -> Answer[Any]:
    """Answer with the sizes of the graphs."""
    return stats(code_graph(workspace), projects=_scope(workspace, asked))


def graph_view(workspace: Workspace, asked: Question) -> Answer[Any]:
    """Answer with what a view of the graph's picture shows."""
    x0, y0, x1, y1 = (asked.real(name) for name in ("x0", "y0", "x1", "y1"))
    box = None
    if x0 is not None and y0 is not None and x1 is not None and y1 is not None:
        box = Box(x0=min(x0, x1), y0=min(y0, y1), x1=max(x0, x1), y1=max(y0, y1))
    return picture(
        code_graph(workspace, check=False),
        box=box,
        pixels=asked.integer("px", 1_000, least=100, most=8_000),
        between=bool(asked.text("between")),
        lit=asked.texts("lit"),
    )


def graph_evidence(workspace: Workspace, asked: Question) -> Answer[Any]:
    """Answer with the edges that one link of the picture stands for."""
    kinds = get_args(MarkKind)
    one, other = (
        (asked.choice(f"{end}_kind", kinds, "project"), asked.needed(end)) for end in ("a", "b")
    )
    return evidence(code_graph(workspace), one, other)


def instruction_differences(workspace: Workspace, _asked: Question) -> Answer[Any]:
    """Answer with the rules that repositories state differently."""
    return rule_differences(workspace)


def file(workspace: Workspace, asked: Question) -> Answer[PlaceData]:
    """Answer with the lines around a place, read now."""
    project, path = asked.needed("project"), asked.needed("path")
    line = asked.integer("line", 1, least=1, most=MAX_LINE)
    return Answer(data=read_place(workspace, project, path, line=line, lines=MAX_LINES))


def editor_address(workspace: Workspace, asked: Question) -> str:
    """Return the address that opens a file in the editor that the person chose.

    It holds an absolute path, so it is a redirect of the person's own browser and stands in no
    document. Only files that answers may cite are opened, and only by these editors.

    Raises:
        UsageError: ``ARGUMENT_INVALID``; RegistryError: ``PLACE_UNKNOWN``.
    """
    project, path = asked.needed("project"), asked.needed("path")
    line = asked.integer("line", 1, least=1, most=MAX_LINE)
    editor = asked.choice("editor", tuple(EDITORS), "vscode")
    read_text(workspace, project, path)
    own = next(one for one in workspace.fleet.projects if one.id == project)
    place = quote(str(PurePath(own.folder, path)), safe="/")
    return EDITORS[editor].format(path=place, line=line)


def _nodes(asked: Question) -> int:
    return asked.integer("limit", 50, least=1, most=GRAPH_LIMIT_NODES)


def _scope(workspace: Workspace, asked: Question) -> frozenset[str] | None:
    return workspace.project_ids(asked.texts("project"), paths=False)


def _names(workspace: Workspace, asked: Question) -> tuple[str, ...]:
    """Return the ids of the named projects; a path is no name here."""
    return tuple(sorted(_scope(workspace, asked) or ()))


FLEET: Final[dict[str, FleetDocument]] = {
    "scan": scan,
    "doctor": doctor,
    "search": search,
    "file": file,
    "memory": memory,
    "memory-differences": differences,
    "vault": vault,
    "capabilities": capabilities,
    "changes": changes,
    "instructions": instructions,
    "instruction-differences": instruction_differences,
    "index-status": index_status,
    "graph-view": graph_view,
    "graph-evidence": graph_evidence,
    "graph-find": graph_find,
    "graph-neighbors": graph_neighbors,
    "graph-impact": graph_impact,
    "graph-path": graph_path,
    "graph-links": graph_links,
    "graph-stats": graph_stats,
}
"""Documents of the fleet by name; the name is that of the command."""
