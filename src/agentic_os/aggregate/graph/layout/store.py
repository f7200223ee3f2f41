"""The layout in the fleet's store, brought up to date a changed project at a time.

A file is a disc whose area is the number of its nodes; a project is the disc around its files. A
project that did not change keeps its island; one that grew pushes its neighbours aside and leaves
the rest where it was.
"""

import math
import sqlite3
from collections import Counter, defaultdict
from typing import Final

from agentic_os.aggregate.graph.layout.discs import Link, extent, placed, spiral
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
CREATE TABLE layout_file(
    fid INTEGER PRIMARY KEY,
    rid INTEGER NOT NULL,
    x REAL NOT NULL,                -- from the middle of the project
    y REAL NOT NULL,
    r REAL NOT NULL,
    nodes INTEGER NOT NULL
);
CREATE INDEX layout_file_rid ON layout_file(rid, nodes DESC);
CREATE TABLE layout_link(
    rid INTEGER NOT NULL,
    a INTEGER NOT NULL,             -- layout_file
    b INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    PRIMARY KEY(rid, a, b)
) WITHOUT ROWID;
CREATE TABLE layout_cross(
    a INTEGER NOT NULL,             -- layout_project
    b INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    certain INTEGER NOT NULL,       -- edges that are not ambiguous
    PRIMARY KEY(a, b)
) WITHOUT ROWID;
"""

_AMBIGUOUS: Final = 2


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
        for table in ("layout_file", "layout_link"):
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
    places = placed(radii, drawn)
    connection.executemany(
        "INSERT INTO layout_file VALUES (?,?,?,?,?,?)",
        [
            (fid, rid, x, y, radius, nodes)
            for (fid, nodes), (x, y), radius in zip(files, places, radii, strict=True)
        ],
    )
    connection.executemany(
        "INSERT INTO layout_link VALUES (?,?,?,?)",
        [(rid, a, b, weight) for (a, b), weight in links.items()],
    )
    nodes = connection.execute(
        "SELECT count(*) FROM graph_node WHERE nid BETWEEN ? AND ?", (first, last)
    ).fetchone()[0]
    return max(extent(places, radii) * 1.05, math.sqrt(nodes)), nodes, len(files)


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
_CROSSINGS = """
SELECT src >> ?, dst >> ?, conf, count(*) FROM graph_cross GROUP BY 1, 2, 3
"""
