"""The layout in the fleet's store, brought up to date a changed project at a time.

A file is a disc whose area is the number of its nodes; a community is the disc around files that
belong together, a project the disc around its communities. A
project that did not change keeps its island; one that grew pushes its neighbours aside and leaves
the rest where it was.
"""

import math
import sqlite3
from collections import Counter, defaultdict
from typing import Final

from agentic_os.aggregate.graph.layout.communities import grouped
from agentic_os.aggregate.graph.layout.discs import Link, Place, extent, placed, spiral
from agentic_os.aggregate.graph.tables import PROJECT_SHIFT, node_range

LAYOUT_DDL: Final = """
CREATE TABLE layout_project(
    rid INTEGER PRIMARY KEY,
    x REAL NOT NULL,
    y REAL NOT NULL,
    r REAL NOT NULL,
    nodes INTEGER NOT NULL,
    files INTEGER NOT NULL,
    content TEXT NOT NULL           -- graph_repo.content that it was laid out from
);
CREATE TABLE layout_community(
    cid INTEGER PRIMARY KEY,        -- the project's number in the upper half, as of a node
    rid INTEGER NOT NULL,
    x REAL NOT NULL,                -- from the middle of the project
    y REAL NOT NULL,
    r REAL NOT NULL,
    nodes INTEGER NOT NULL,
    files INTEGER NOT NULL,
    lead INTEGER NOT NULL           -- layout_file with most nodes
);
CREATE INDEX layout_community_rid ON layout_community(rid, r DESC);
CREATE TABLE layout_file(
    fid INTEGER PRIMARY KEY,
    rid INTEGER NOT NULL,
    cid INTEGER NOT NULL,
    x REAL NOT NULL,                -- from the middle of the project
    y REAL NOT NULL,
    r REAL NOT NULL,
    nodes INTEGER NOT NULL
);
CREATE INDEX layout_file_rid ON layout_file(rid);
CREATE INDEX layout_file_cid ON layout_file(cid, nodes DESC);
CREATE TABLE layout_link(
    rid INTEGER NOT NULL,
    a INTEGER NOT NULL,             -- layout_file
    b INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    PRIMARY KEY(rid, a, b)
) WITHOUT ROWID;
CREATE INDEX layout_link_a ON layout_link(a);
CREATE TABLE layout_tie(
    rid INTEGER NOT NULL,
    a INTEGER NOT NULL,             -- layout_community
    b INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    PRIMARY KEY(a, b)
) WITHOUT ROWID;
CREATE INDEX layout_tie_rid ON layout_tie(rid);
CREATE TABLE layout_cross(
    a INTEGER NOT NULL,             -- layout_project
    b INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    certain INTEGER NOT NULL,       -- edges that are not ambiguous
    PRIMARY KEY(a, b)
) WITHOUT ROWID;
"""

_AMBIGUOUS: Final = 2
_RING: Final = 1.05
"""A disc around others is a little larger than they need."""


def update_layout(connection: sqlite3.Connection) -> int:
    """Lay out what changed since the last time; inside the caller's transaction.

    Returns:
        How many projects were laid out.
    """
    wanted = {
        rid: f"{content}:{nodes}"
        for rid, content, nodes in connection.execute(
            "SELECT rid, content, nodes FROM graph_repo WHERE nodes > 0"
        )
    }
    standing = dict(connection.execute("SELECT rid, content FROM layout_project"))
    gone = [rid for rid in standing if rid not in wanted]
    changed = sorted(rid for rid, content in wanted.items() if standing.get(rid) != content)
    if not gone and not changed:
        return 0
    for rid in (*gone, *changed):
        for table in ("layout_file", "layout_link", "layout_community", "layout_tie"):
            connection.execute(f"DELETE FROM {table} WHERE rid=?", (rid,))  # noqa: S608 - a constant
    connection.executemany("DELETE FROM layout_project WHERE rid=?", [(rid,) for rid in gone])
    sizes = {rid: _island(connection, rid) for rid in changed}
    _crossings(connection)
    _projects(connection, wanted, sizes)
    return len(changed)


def _island(connection: sqlite3.Connection, rid: int) -> tuple[float, int, int]:
    """Lay out one project's files; return its radius, nodes and files."""
    first, last = node_range(rid)
    files = connection.execute(
        "SELECT node.fid, count(*) FROM graph_node AS node JOIN graph_file AS file"
        " ON file.fid = node.fid WHERE node.nid BETWEEN ? AND ? AND file.rid = ?"
        " GROUP BY node.fid ORDER BY file.path",
        (first, last, rid),
    ).fetchall()
    number = {fid: at for at, (fid, _) in enumerate(files)}
    links: Counter[tuple[int, int]] = Counter()
    for one, other, weight in connection.execute(_FILE_LINKS, (first, last)):
        if one in number and other in number:
            links[min(one, other), max(one, other)] += weight
    radii = [math.sqrt(nodes) for _, nodes in files]
    drawn: list[Link] = [
        (number[a], number[b], float(weight)) for (a, b), weight in sorted(links.items())
    ]
    communities = _communities(connection, rid, files, drawn)
    places, around = _nested(
        connection, rid, communities, radii, [nodes for _, nodes in files], drawn
    )
    first_of = {community: files[at][0] for community, at in _leads(communities, radii).items()}
    connection.executemany(
        "UPDATE layout_community SET lead=? WHERE cid=?",
        [(lead, _community_number(rid, community)) for community, lead in first_of.items()],
    )
    connection.executemany(
        "INSERT INTO layout_file VALUES (?,?,?,?,?,?,?)",
        [
            (fid, rid, _community_number(rid, community), x, y, radius, nodes)
            for (fid, nodes), community, (x, y), radius in zip(
                files, communities, places, radii, strict=True
            )
        ],
    )
    connection.executemany(
        "INSERT INTO layout_link VALUES (?,?,?,?)",
        [(rid, a, b, weight) for (a, b), weight in links.items()],
    )
    nodes = connection.execute(
        "SELECT count(*) FROM graph_node WHERE nid BETWEEN ? AND ?", (first, last)
    ).fetchone()[0]
    return max(around * _RING, math.sqrt(nodes)), nodes, len(files)


def _community_number(rid: int, community: int) -> int:
    return rid << PROJECT_SHIFT | community


def _communities(
    connection: sqlite3.Connection, rid: int, files: list[tuple[int, int]], links: list[Link]
) -> list[int]:
    """Return the community of each file, as the graph states it or as the links say."""
    counted: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for fid, community, nodes in connection.execute(_STATED, node_range(rid)):
        counted[fid][community] = nodes
    stated = [
        min(counted[fid], key=lambda one: (-counted[fid][one], one)) if fid in counted else None
        for fid, _ in files
    ]
    return grouped(len(files), links, stated)


def _leads(communities: list[int], radii: list[float]) -> dict[int, int]:
    """Return the largest file of each community, by its position."""
    leads: dict[int, int] = {}
    for at, community in enumerate(communities):
        if community not in leads or radii[at] > radii[leads[community]]:
            leads[community] = at
    return leads


def _nested(
    connection: sqlite3.Connection,
    rid: int,
    communities: list[int],
    radii: list[float],
    nodes: list[int],
    links: list[Link],
) -> tuple[list[Place], float]:
    """Lay files out in their communities, and these in the project; store the communities."""
    members: defaultdict[int, list[int]] = defaultdict(list)
    for at, community in enumerate(communities):
        members[community].append(at)
    inner: defaultdict[int, list[Link]] = defaultdict(list)
    ties: Counter[tuple[int, int]] = Counter()
    for a, b, weight in links:
        one, other = communities[a], communities[b]
        if one == other:
            inner[one].append((a, b, weight))
        else:
            ties[min(one, other), max(one, other)] += int(weight)
    order = sorted(members)
    local: dict[int, Place] = {}
    sizes: list[float] = []
    for community in order:
        own = members[community]
        number = {at: position for position, at in enumerate(own)}
        found = placed(
            [radii[at] for at in own], [(number[a], number[b], w) for a, b, w in inner[community]]
        )
        local.update(zip(own, found, strict=True))
        sizes.append(extent(found, [radii[at] for at in own]) * _RING)
    middles = placed(sizes, [(a, b, float(weight)) for (a, b), weight in sorted(ties.items())])
    connection.executemany(
        "INSERT INTO layout_community VALUES (?,?,?,?,?,?,?,0)",
        [
            (
                _community_number(rid, community),
                rid,
                x,
                y,
                size,
                sum(nodes[at] for at in members[community]),
                len(members[community]),
            )
            for community, (x, y), size in zip(order, middles, sizes, strict=True)
        ],
    )
    connection.executemany(
        "INSERT INTO layout_tie VALUES (?,?,?,?)",
        [
            (rid, _community_number(rid, a), _community_number(rid, b), weight)
            for (a, b), weight in ties.items()
        ],
    )
    return [
        (middles[community][0] + local[at][0], middles[community][1] + local[at][1])
        for at, community in enumerate(communities)
    ], extent(middles, sizes)


def _crossings(connection: sqlite3.Connection) -> None:
    """Count the edges between each two projects."""
    connection.execute("DELETE FROM layout_cross")
    counted: defaultdict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for source, target, confidence, number in connection.execute(
        _CROSSINGS, (PROJECT_SHIFT, PROJECT_SHIFT)
    ):
        pair = counted[min(source, target), max(source, target)]
        pair[0] += number
        pair[1] += 0 if confidence == _AMBIGUOUS else number
    connection.executemany(
        "INSERT INTO layout_cross VALUES (?,?,?,?)",
        [(a, b, weight, certain) for (a, b), (weight, certain) in counted.items() if a != b],
    )


def _projects(
    connection: sqlite3.Connection, wanted: dict[int, str], sizes: dict[int, tuple[float, int, int]]
) -> None:
    """Place the projects: anew where there was no layout, else pushing aside what is in the way."""
    known = {
        rid: (x, y, r, nodes, files)
        for rid, x, y, r, nodes, files in connection.execute(
            "SELECT rid, x, y, r, nodes, files FROM layout_project"
        )
    }
    links = connection.execute("SELECT a, b, weight FROM layout_cross").fetchall()
    order = _neighbourly(sorted(wanted), links)
    radii = [sizes[rid][0] if rid in sizes else known[rid][2] for rid in order]
    start = None
    if len(known) * 2 > len(order):
        outward = spiral(radii)
        start = [
            known[rid][:2] if rid in known else outward[-1 - at] for at, rid in enumerate(order)
        ]
    number = {rid: at for at, rid in enumerate(order)}
    drawn = [(number[a], number[b], float(w)) for a, b, w in links if a in number and b in number]
    places = placed(radii, drawn, start)
    rows = []
    for rid, (x, y), radius in zip(order, places, radii, strict=True):
        nodes, files = sizes[rid][1:] if rid in sizes else known[rid][3:]
        rows.append((rid, x, y, radius, nodes, files, wanted[rid]))
    connection.executemany("INSERT OR REPLACE INTO layout_project VALUES (?,?,?,?,?,?,?)", rows)


def _neighbourly(projects: list[int], links: list[tuple[int, int, int]]) -> list[int]:
    """Order projects so that linked ones follow each other, the most linked first."""
    beside: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for a, b, weight in links:
        beside[a].append((-weight, b))
        beside[b].append((-weight, a))
    left = set(projects)
    ordered: list[int] = []
    for start in sorted(projects, key=lambda rid: (-len(beside[rid]), rid)):
        queue = [start]
        while queue:
            rid = queue.pop(0)
            if rid in left:
                left.remove(rid)
                ordered.append(rid)
                queue += [other for _, other in sorted(beside[rid])]
    return ordered


_FILE_LINKS = """
SELECT source.fid, target.fid, count(*) FROM graph_out AS edge
JOIN graph_node AS source ON source.nid = edge.src
JOIN graph_node AS target ON target.nid = edge.dst
WHERE edge.src BETWEEN ? AND ? AND edge.dst > 0 AND source.fid <> target.fid
GROUP BY source.fid, target.fid
"""
_STATED = """
SELECT fid, community, count(*) FROM graph_node
WHERE nid BETWEEN ? AND ? AND community >= 0 AND fid IS NOT NULL GROUP BY fid, community
"""
_CROSSINGS = """
SELECT src >> ?, dst >> ?, conf, count(*) FROM graph_cross GROUP BY 1, 2, 3
"""
