"""How one node reaches another, and what depends on a node."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from agentic_os.aggregate.graph.tables import PROJECT_SHIFT
from agentic_os.code.roles import PATH_ROLES, PathRole, role_of
from agentic_os.errors import UsageError
from agentic_os.results import Answer
from agentic_os.tiers.graph.answers import (
    GraphEdgeView,
    GraphNodeView,
    ImpactData,
    ImpactProject,
    PathData,
)
from agentic_os.tiers.graph.context import (
    DEFAULT_LIMIT_NODES,
    MAX_DEPTH_HOPS,
    MAX_LIMIT_NODES,
    CodeGraph,
    Unsettled,
    check_depth,
    check_limit,
    check_roles,
)
from agentic_os.tiers.graph.views import QUERY_BATCH_ENTRIES, Viewer
from agentic_os.tiers.graph.walk import (
    CONTAINMENT,
    MAX_EXPLORED_NODES,
    NOT_DEPENDENCE,
    Scope,
    Walker,
    relation_numbers,
)

if TYPE_CHECKING:
    from agentic_os.tiers.graph.answers import Outcome

DEFAULT_IMPACT_HOPS = 5
MAX_DETOURS = 24
"""How often a path is looked for anew because what shows a hop refutes it."""
_PATHS = "SELECT nid, path FROM graph_node JOIN graph_file USING(fid)"
_SIDES: tuple[Literal["source", "target"], ...] = ("source", "target")


def path(
    graph: CodeGraph,
    source: str,
    target: str,
    *,
    projects: frozenset[str] | None = None,
    directed: bool = True,
    relations: Sequence[str] = (),
    externals: bool = False,
    budget: int = MAX_EXPLORED_NODES,
) -> Answer[PathData]:
    """Find a shortest path from one node to another.

    Raises:
        UsageError: the budget is out of bounds.
    """
    if not 1 <= budget <= MAX_EXPLORED_NODES * 10:
        raise UsageError("the budget is out of bounds")
    ends = []
    with graph.viewer() as viewer:
        for name, side in zip((source, target), _SIDES, strict=True):
            end = graph.meant(viewer, name, projects)
            if isinstance(end, Unsettled):
                data = PathData(
                    outcome=end.outcome,
                    directed=directed,
                    hops=0,
                    explored=0,
                    nodes=(),
                    edges=(),
                    unsettled=side,
                    candidates=end.candidates,
                )
                return graph.answer(data, projects, viewer)
            ends.append(end)
        walker = graph.walker(projects, relations=relations, externals=externals)
        avoided: set[frozenset[int]] = set()
        views: dict[int, GraphNodeView] = {}
        for _ in range(MAX_DETOURS):
            walked = walker.path(
                ends[0], ends[1], directed=directed, budget=budget, avoided=avoided
            )
            views = viewer.nodes(walked.nodes)
            edges = _edges(viewer, walked.nodes, views, directed=directed, wanted=set(relations))
            refuted = {hop for hop, edge in edges.items() if edge is None}
            if not refuted:
                break
            avoided |= refuted
        else:
            walked, edges = replace(walked, nodes=(), exhausted=True), {}
        outcome: Outcome = "found"
        if not walked.nodes:
            outcome = "budget-exhausted" if walked.exhausted else "no-path"
        data = PathData(
            outcome=outcome,
            directed=directed,
            hops=max(0, len(walked.nodes) - 1),
            explored=walked.explored,
            nodes=tuple(views[nid] for nid in walked.nodes),
            edges=tuple(edge for edge in edges.values() if edge is not None),
            refuted=len(avoided),
        )
        exhausted = outcome == "budget-exhausted"
        return graph.answer(data, projects, viewer, graph.unknown(relations), incomplete=exhausted)


def _edges(
    viewer: Viewer,
    nodes: Sequence[int],
    views: Mapping[int, GraphNodeView],
    *,
    directed: bool,
    wanted: AbstractSet[str],
) -> dict[frozenset[int], GraphEdgeView | None]:
    """Return the surest edge of each hop; ``None`` where what shows it refutes them all."""
    found: dict[frozenset[int], GraphEdgeView | None] = {}
    for first, second in pairwise(nodes):
        pairs = [(first, second)] if directed else [(first, second), (second, first)]
        ids = {views[nid].id: views[nid] for nid in (first, second)}
        usable = [
            edge
            for edge in viewer.edges_between(pairs, views)
            if edge.confidence != "AMBIGUOUS"
            and (not wanted or edge.relation in wanted)
            and not viewer.refutes(edge, ids[edge.target])
        ]
        surest = max(usable, key=lambda edge: edge.score, default=None)
        found[frozenset((first, second))] = surest
    return found


def impact(
    graph: CodeGraph,
    name: str,
    *,
    projects: frozenset[str] | None = None,
    depth: int = DEFAULT_IMPACT_HOPS,
    limit: int = DEFAULT_LIMIT_NODES,
    roles: Sequence[str] = (),
) -> Answer[ImpactData]:
    """Return what depends on a node, in any project: others first, product code first.

    What the node contains counts as the node: who calls a method depends on its class.
    ``projects`` limits who is asked about, not who depends on it; ``roles`` limits what
    is shown, not what is counted.

    Raises:
        UsageError: depth or limit out of bounds, or there is no such role.
    """
    check_limit(limit)
    check_depth(depth)
    check_roles(roles)
    with graph.viewer() as viewer:
        start = graph.meant(viewer, name, projects)
        if isinstance(start, Unsettled):
            data = ImpactData(
                outcome=start.outcome,
                start=None,
                candidates=start.candidates,
                nodes=(),
                edges=(),
                projects=(),
                roles={},
                total=0,
                truncated=False,
            )
            return graph.answer(data, projects, viewer)
        data = _impact(graph, viewer, start, depth, limit, frozenset(roles))
        return graph.answer(data, projects, viewer)


def _impact(
    graph: CodeGraph,
    viewer: Viewer,
    start: int,
    depth: int,
    limit: int,
    wanted: frozenset[str],
) -> ImpactData:
    inside = Walker(
        graph.connection,
        Scope(relations=relation_numbers(graph.connection, CONTAINMENT)),
    )
    seeds, _ = inside.around([start], "out", depth=MAX_DEPTH_HOPS, budget=MAX_LIMIT_NODES)
    refused = relation_numbers(graph.connection, NOT_DEPENDENCE)
    walker = Walker(graph.connection, Scope(refused=refused))
    distance, truncated = walker.around(sorted(seeds), "in", depth=depth, budget=MAX_EXPLORED_NODES)
    reached = {nid: hops for nid, hops in distance.items() if hops}
    role = _roles(graph, reached)
    own = start >> PROJECT_SHIFT
    ordered = sorted(
        reached,
        key=lambda nid: (
            nid >> PROJECT_SHIFT == own,
            PATH_ROLES.index(role[nid]),
            reached[nid],
            nid,
        ),
    )
    shown = [nid for nid in ordered if not wanted or role[nid] in wanted][:limit]
    views = viewer.nodes([start, *seeds, *shown], distance)
    known = set(shown) | set(seeds)
    pairs = {
        (source, target)
        for target, source in walker.step(sorted(known), "in")
        if source in reached and source in known
    }
    edges = [
        edge
        for edge in viewer.edges_between(sorted(pairs), views)
        if edge.confidence != "AMBIGUOUS" and edge.relation not in NOT_DEPENDENCE
    ]
    counted: dict[str, list[int]] = {}
    for nid, hops in reached.items():
        counted.setdefault(graph.projects.get(nid >> PROJECT_SHIFT, ""), []).append(hops)
    return ImpactData(
        outcome="found",
        start=views[start],
        candidates=(),
        nodes=tuple(views[nid] for nid in shown if nid in views),
        edges=tuple(edges),
        projects=tuple(
            ImpactProject(project=project, nodes=len(hops), nearest=min(hops))
            for project, hops in sorted(counted.items(), key=lambda item: (min(item[1]), item))
        ),
        roles=dict(sorted(Counter(role.values()).items())),
        total=len(reached),
        truncated=truncated,
    )


def _roles(graph: CodeGraph, nodes: Iterable[int]) -> dict[int, PathRole]:
    """Return what the file of each node is for; a node without one counts as product code."""
    paths: dict[int, str] = {}
    wanted = sorted(nodes)
    for start in range(0, len(wanted), QUERY_BATCH_ENTRIES):
        listed = ",".join(map(str, wanted[start : start + QUERY_BATCH_ENTRIES]))
        query = f"{_PATHS} WHERE nid IN ({listed})"
        paths.update(graph.connection.execute(query))
    return {nid: role_of(paths.get(nid, "")) for nid in wanted}
