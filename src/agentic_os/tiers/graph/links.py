"""The edges between projects and what was nearly one; what the store holds of each graph."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agentic_os.aggregate.graph.codes import (
    GRAPH_CODES,
    NEAR_MISS_CODES,
    graph_diagnostic,
)
from agentic_os.aggregate.graph.links.edges import RULES
from agentic_os.aggregate.graph.store import stored_manifests
from agentic_os.aggregate.graph.tables import (
    CONFIDENCE_WORDS,
    FLAG_SYNTHETIC,
    PROJECT_SHIFT,
    STATUS_OWN,
    STATUS_REFUSED,
    STATUS_STALE,
    node_range,
)
from agentic_os.code.roles import PATH_ROLES, role_of
from agentic_os.errors import UsageError
from agentic_os.results import Answer
from agentic_os.text.fencing import one_line
from agentic_os.tiers.graph.analytics import analytics as analysed
from agentic_os.tiers.graph.answers import (
    GraphProjectStats,
    LinkCount,
    LinksData,
    NearMissView,
    StatsData,
    UnlinkedProject,
)
from agentic_os.tiers.graph.context import (
    DEFAULT_LIMIT_NODES,
    CodeGraph,
    check_limit,
    check_roles,
)
from agentic_os.tiers.graph.views import CROSS_QUERY


def links(
    graph: CodeGraph,
    *,
    projects: frozenset[str] | None = None,
    rules: Sequence[str] = (),
    roles: Sequence[str] = (),
    limit: int = DEFAULT_LIMIT_NODES,
    near: bool = True,
) -> Answer[LinksData]:
    """List the edges between projects, and what was nearly linked, with the reason.

    A project in ``projects`` counts on either side.

    Raises:
        UsageError: the limit is out of bounds, or there is no such rule or role.
    """
    check_limit(limit)
    check_roles(roles)
    for rule in rules:
        if rule not in RULES:
            raise UsageError(
                f"there is no rule {one_line(rule)}", hint=f"The rules are {', '.join(RULES)}."
            )
    wanted = set(rules)
    rows = [
        row
        for row in graph.connection.execute(
            f"{CROSS_QUERY} ORDER BY edge.conf, edge.rule, edge.src, edge.dst, edge.line"
        )
        if _touches(graph, projects, row[0], row[1]) and (not wanted or row[3] in wanted)
    ]
    # Product code before tests, documents and vendored code; the order stays otherwise.
    seen_in = {path: role_of(path) for path in {row[7] for row in rows}}
    counted = Counter(seen_in[row[7]] for row in rows)
    rows = [row for row in rows if not roles or seen_in[row[7]] in roles]
    rows.sort(key=lambda row: (row[5], PATH_ROLES.index(seen_in[row[7]])))
    misses = [
        row
        for row in graph.connection.execute(
            "SELECT consumer, rule, code, subject, path, line, candidates, detail"
            " FROM graph_near ORDER BY rule, code, subject, consumer, path, line"
        )
        if _involves(graph, projects, row) and (not wanted or row[1] in wanted)
    ]
    with graph.viewer() as viewer:
        shown = rows[:limit]
        views = viewer.nodes(nid for row in shown for nid in row[:2])
        data = LinksData(
            counts=tuple(_counted(rows, graph.projects)),
            roles=dict(sorted(counted.items())),
            total=len(rows),
            nodes=tuple(views[nid] for nid in sorted(views)),
            edges=tuple(viewer.cross(row, views) for row in shown),
            near_total=len(misses),
            near=tuple(
                NearMissView(
                    rule=row[1],
                    code=row[2],
                    subject=one_line(row[3]),
                    reason=one_line(row[7]) or NEAR_MISS_CODES[row[2]].meaning,
                    place=viewer.place(row[0], row[4], row[5]),
                    candidates=tuple(json.loads(row[6])),
                )
                for row in (misses[:limit] if near else ())
            ),
            unlinked=tuple(_unlinked(graph, projects)),
        )
        omissions = [
            GRAPH_CODES.omission(
                "NEAR_MISSES_DROPPED",
                graph.projects[rid],
                f"more near-misses of {rule} than are kept",
                count=count,
            )
            for rid, dropped in graph.connection.execute(
                "SELECT rid, dropped FROM graph_derived WHERE dropped != '{}' ORDER BY rid"
            )
            if projects is None or graph.projects[rid] in projects
            for rule, count in json.loads(dropped).items()
        ]
        return graph.answer(data, projects, viewer, omissions)


def _touches(graph: CodeGraph, projects: frozenset[str] | None, *nodes: int) -> bool:
    return projects is None or any(
        graph.projects.get(nid >> PROJECT_SHIFT) in projects for nid in nodes
    )


def _involves(graph: CodeGraph, projects: frozenset[str] | None, row: tuple[object, ...]) -> bool:
    if projects is None:
        return True
    consumer = graph.projects.get(int(str(row[0])), "")
    return consumer in projects or bool(projects & set(json.loads(str(row[6]))))


def _unlinked(graph: CodeGraph, projects: frozenset[str] | None) -> Iterator[UnlinkedProject]:
    """Yield the projects that no edge leaves or reaches, of any rule, and the reason."""
    run = graph.connection.execute
    linked = {
        nid >> PROJECT_SHIFT for row in run("SELECT src, dst FROM graph_cross") for nid in row
    }
    for rid, project in sorted(graph.projects.items(), key=lambda item: item[1]):
        if rid not in linked and (projects is None or project in projects):
            yield UnlinkedProject(project=project, reason=_reason(graph, rid))


def _reason(graph: CodeGraph, rid: int) -> str:
    if len(graph.projects) == 1:
        return "no other project has a code graph"
    run = graph.connection.execute
    (near,) = run("SELECT count(*) FROM graph_near WHERE consumer=?", (rid,)).fetchone()
    manifests = stored_manifests(graph.connection, rid)
    needed = {item.name for manifest in manifests for item in manifest.dependencies if item.name}
    offered = {item.name for manifest in manifests for item in manifest.packages}
    (read, imports) = run(
        "SELECT count(*), (SELECT count(*) FROM graph_ext_use WHERE rid=?1) FROM graph_file"
        " WHERE rid=?1 AND length(facts) > 0",
        (rid,),
    ).fetchone()
    parts = [
        f"{len(needed)} declared dependencies, none of them a package of another project"
        if needed
        else "no manifest declares a dependency",
        f"no other project uses {', '.join(sorted(map(one_line, offered))[:3])}"
        if offered
        else "it declares no package that others could name",
        f"{read} of its sources were read, with {imports} external names in its graph",
    ]
    return "; ".join([*parts, *([f"{near} near-misses"] if near else [])])


def stats(
    graph: CodeGraph, *, projects: frozenset[str] | None = None, analytics: bool = False
) -> Answer[StatsData]:
    """Say what the store holds, by project, and how the projects are linked."""
    listed = tuple(
        _project_stats(graph, rid, project)
        for rid, project in sorted(graph.projects.items(), key=lambda item: item[1])
        if projects is None or project in projects
    )
    rows = [
        row
        for row in graph.connection.execute(CROSS_QUERY)
        if _touches(graph, projects, row[0], row[1])
    ]
    near: dict[str, int] = {}
    for row in graph.connection.execute(
        "SELECT consumer, rule, code, subject, path, line, candidates FROM graph_near"
    ):
        if _involves(graph, projects, row):
            near[row[2]] = near.get(row[2], 0) + 1
    with graph.viewer() as viewer:
        data = StatsData(
            projects=listed,
            nodes=sum(item.nodes for item in listed),
            edges=sum(item.edges for item in listed),
            cross_edges=len(rows),
            links=tuple(_counted(rows, graph.projects)),
            near_misses=dict(sorted(near.items())),
            relations=_relations(graph, projects),
            analytics=analysed(graph, projects=projects) if analytics else None,
        )
        return graph.answer(data, projects, viewer)


def _relations(graph: CodeGraph, projects: frozenset[str] | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for rid, project in graph.projects.items():
        if projects is not None and project not in projects:
            continue
        for name, count in graph.connection.execute(
            "SELECT term.text, count(*) FROM graph_out AS edge"
            " JOIN graph_term AS term ON term.tid = edge.rel"
            " WHERE edge.src BETWEEN ? AND ? GROUP BY edge.rel",
            node_range(rid),
        ):
            found[name] = found.get(name, 0) + count
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _project_stats(graph: CodeGraph, rid: int, project: str) -> GraphProjectStats:
    row = graph.connection.execute(
        "SELECT graph_path, status, code, message, nodes, edges, graphify_version,"
        " built_at_commit, counts FROM graph_repo WHERE rid=?",
        (rid,),
    ).fetchone()

    def count(query: str, *values: int) -> int:
        return int(graph.connection.execute(query, values).fetchone()[0])

    folder = graph.folders.get(project)
    commit = folder.commit if folder is not None else None
    built = row[7]
    return GraphProjectStats(
        project=project,
        path=one_line(row[0]),
        status=row[1],
        origin="own" if row[1] == STATUS_OWN else "graphify" if row[4] else None,
        nodes=row[4],
        edges=row[5],
        files=count("SELECT count(*) FROM graph_file WHERE rid=?", rid),
        external=count("SELECT count(*) FROM graph_ext_use WHERE rid=?", rid),
        synthetic=count(
            "SELECT count(*) FROM graph_node WHERE nid BETWEEN ? AND ? AND flags & ?",
            *node_range(rid),
            FLAG_SYNTHETIC,
        ),
        hyperedges=count("SELECT count(*) FROM graph_hyper WHERE rid=?", rid),
        graphify_version=one_line(row[6]),
        built_at_commit=one_line(built),
        behind=None if not built or not commit else built != commit,
        refused=json.loads(row[8]),
        diagnostic=graph_diagnostic(row[2], one_line(row[3]), one_line(row[0]))
        if row[1] in {STATUS_STALE, STATUS_REFUSED}
        else None,
    )


def _counted(rows: Iterable[tuple[object, ...]], projects: Mapping[int, str]) -> list[LinkCount]:
    found: dict[tuple[str, str, str, str, str], int] = {}
    for row in rows:
        source, target = (projects.get(int(str(nid)) >> PROJECT_SHIFT, "") for nid in row[:2])
        confidence = CONFIDENCE_WORDS[int(str(row[5]))]
        key = (source, target, str(row[3]), one_line(str(row[2])), confidence)
        found[key] = found.get(key, 0) + 1
    return [
        LinkCount(
            source=key[0],
            target=key[1],
            rule=key[2],
            relation=key[3],
            confidence=key[4],
            count=count,
        )
        for key, count in sorted(found.items())
    ]
