"""What the picture of the graph shows of a view: projects, communities, files or symbols by size.

Rules:

- a project is one mark until its disc is 24 pixels wide on the screen; then its communities are
  shown, those of 36 pixels with their files, and a file of 80 pixels shows its symbols, on a spiral
  in the order of its nodes; a community of one file is that file;
- an answer has at most 2,000 marks and 4,000 links: the largest marks of the view first, links
  between projects before links inside one; what is left out is counted, never silent;
- the nodes that an answer names are lit: the mark that stands for each is in the picture, whatever
  its size.
"""

import math
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeVar

from agentic_os.aggregate.graph.layout.discs import GOLDEN_ANGLE
from agentic_os.aggregate.graph.tables import PROJECT_SHIFT, node_range
from agentic_os.results import Answer
from agentic_os.text.fencing import one_line
from agentic_os.tiers.graph.context import CodeGraph

T = TypeVar("T")

MAX_MARKS: Final = 2_000
MAX_LINKS: Final = 4_000
MAX_LIT: Final = 200
PROJECT_PIXELS: Final = 12.0
"""Radius on the screen from which a project shows its communities."""
COMMUNITY_PIXELS: Final = 18.0
"""Radius on the screen from which a community shows its files."""
FILE_PIXELS: Final = 40.0
"""Radius on the screen from which a file shows its symbols."""
PROJECT, FILE, SYMBOL, COMMUNITY = range(4)
CROSS, AMBIGUOUS = 1, 2
LEAST_PIXELS: Final = 1.0
"""A file alone that would be smaller is left to its project."""
_BATCH: Final = 400
_SHARE_OF_FILES: Final = 2
"""Half of the room is for files and symbols."""
_COMMUNITY_MASK: Final = (1 << PROJECT_SHIFT) - 1

Mark = tuple[str, float, float, float, int, int, str, int]
"""Id, x, y, radius, project (a number of ``projects``), kind, label, nodes that it stands for."""
Link = tuple[int, int, int, int]
"""Two marks by number, the edges that it stands for, and flags: 1 between projects, 2 ambiguous."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A part of the layout's plane."""

    x0: float
    y0: float
    x1: float
    y1: float

    def meets(self, x: float, y: float, radius: float) -> bool:
        """Return whether a disc reaches into the box."""
        return (
            x + radius >= self.x0
            and x - radius <= self.x1
            and y + radius >= self.y0
            and y - radius <= self.y1
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureTotals:
    """What the whole layout holds."""

    projects: int
    files: int
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureLeftOut:
    """What of the view was left out for room."""

    marks: int = 0
    links: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureData:
    """One view of the layout: marks, links by the marks' numbers, and which marks are lit."""

    extent: Box
    totals: PictureTotals
    left_out: PictureLeftOut
    projects: tuple[str, ...]
    marks: tuple[Mark, ...]
    links: tuple[Link, ...]
    lit: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Disc:
    """A project, a community or a file as laid out: its number, place, radius, nodes, project."""

    number: int
    x: float
    y: float
    r: float
    nodes: int
    rid: int = 0


def picture(
    graph: CodeGraph,
    *,
    box: Box | None = None,
    pixels: int = 1_000,
    between: bool = False,
    lit: Sequence[str] = (),
) -> Answer[PictureData]:
    """Answer what a view shows.

    Args:
        graph: the opened graph.
        box: the part of the plane; None for all of it.
        pixels: how wide the view is on the screen.
        between: whether only links between projects are shown.
        lit: ids of nodes that an answer named, at most 200.
    """
    projects = [
        _Disc(*row)
        for row in graph.connection.execute(
            "SELECT rid, x, y, r, nodes FROM layout_project ORDER BY r DESC, rid"
        )
    ]
    whole = _around(projects)
    view = _View(graph, box or whole, pixels, tuple(_numbers(graph.connection, graph, lit)))
    view.show(projects)
    links, links_left = view.links(between=between)
    files = graph.connection.execute("SELECT count(*) FROM layout_file").fetchone()[0]
    return Answer(
        data=PictureData(
            extent=whole,
            totals=PictureTotals(
                projects=len(projects), files=files, nodes=sum(disc.nodes for disc in projects)
            ),
            left_out=PictureLeftOut(marks=view.left_out, links=links_left),
            projects=tuple(graph.projects.get(rid, "") for rid in view.projects),
            marks=tuple(view.marks),
            links=tuple(links),
            lit=tuple(sorted(view.lit_marks())),
        )
    )


def _around(projects: Sequence[_Disc]) -> Box:
    if not projects:
        return Box(x0=-1, y0=-1, x1=1, y1=1)
    return Box(
        x0=min(disc.x - disc.r for disc in projects),
        y0=min(disc.y - disc.r for disc in projects),
        x1=max(disc.x + disc.r for disc in projects),
        y1=max(disc.y + disc.r for disc in projects),
    )


def _numbers(
    connection: sqlite3.Connection, graph: CodeGraph, ids: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Yield the node and file of each id that names one."""
    rids = {project: rid for rid, project in graph.projects.items()}
    for one in ids[:MAX_LIT]:
        project, _, lid = one.partition("::")
        for nid, fid in connection.execute("SELECT nid, fid FROM graph_node WHERE lid=?", (lid,)):
            if nid >> PROJECT_SHIFT == rids.get(project):
                yield nid, fid or 0


@dataclass(slots=True)
class _View:
    """A view while it is filled: the marks so far, and which mark stands for what."""

    graph: CodeGraph
    box: Box
    pixels: int
    nodes: tuple[tuple[int, int], ...]
    marks: list[Mark] = field(default_factory=list)
    projects: list[int] = field(default_factory=list)
    left_out: int = 0
    _of_rid: dict[int, int] = field(default_factory=dict)
    _of_project: dict[int, int] = field(default_factory=dict)
    _of_community: dict[int, int] = field(default_factory=dict)
    _of_file: dict[int, int] = field(default_factory=dict)
    _of_node: dict[int, int] = field(default_factory=dict)
    _opened: set[int] = field(default_factory=set)

    def show(self, projects: Sequence[_Disc]) -> None:
        """Fill the view: every project of it, then what is large enough inside each."""
        scale = self.pixels / max(self.box.x1 - self.box.x0, 1e-9)
        seen = [disc for disc in projects if self.box.meets(disc.x, disc.y, disc.r)]
        lit = {nid >> PROJECT_SHIFT for nid, _ in self.nodes}
        seen += [disc for disc in projects if disc.number in lit and disc not in seen]
        for disc in self._within(seen, MAX_MARKS):
            label = self.graph.projects.get(disc.number, "")
            at = self._mark(label, disc, disc.number, PROJECT, label)
            self._of_project[disc.number] = at
        wanted = {fid for _, fid in self.nodes if fid}
        opened = {
            disc.number: disc
            for disc in seen
            if disc.r * scale >= PROJECT_PIXELS or disc.number in lit
        }
        communities = self._communities(opened, scale)
        files = sorted(
            self._files(communities, opened, wanted),
            key=lambda file: (file.number not in wanted, -file.r, file.number),
        )
        shown = list(self._within(files, MAX_MARKS - len(self.marks)))
        paths = self._paths([file.number for file in shown])
        for file in shown:
            path = paths.get(file.number, "")
            name = f"{self.graph.projects.get(file.rid, '')}::{path}"
            label = path.rpartition("/")[2]
            self._of_file[file.number] = self._mark(name, file, file.rid, FILE, label)
        for file in shown:
            if file.r * scale >= FILE_PIXELS or file.number in wanted:
                self._symbols(file)

    def _communities(self, opened: dict[int, _Disc], scale: float) -> list[int]:
        """Mark the communities of the view; return those whose files are shown."""
        found: list[tuple[_Disc, int, int]] = []
        for listed in _batches(sorted(opened)):
            query = f"SELECT cid, rid, x, y, r, nodes, files, lead FROM layout_community WHERE rid IN ({listed})"  # noqa: E501, S608 - numbers
            for cid, rid, x, y, r, nodes, files, lead in self.graph.connection.execute(query):
                around = opened[rid]
                disc = _Disc(cid, around.x + x, around.y + y, r, nodes, rid)
                if self.box.meets(disc.x, disc.y, disc.r):
                    found.append((disc, files, lead))
        found.sort(key=lambda item: (-item[0].r, item[0].number))
        alone = Counter(disc.rid for disc, _, _ in found)
        # A community that is its whole project says nothing that the project does not.
        several = [item for item in found if item[1] > 1 and alone[item[0].rid] > 1]
        shown = list(self._within(several, (MAX_MARKS - len(self.marks)) // _SHARE_OF_FILES))
        leads = self._paths([lead for _, _, lead in shown])
        for disc, files, lead in shown:
            project = self.graph.projects.get(disc.rid, "")
            name = f"{project}::{disc.number & _COMMUNITY_MASK}"
            label = f"{leads.get(lead, '').rpartition('/')[2]} +{files - 1}"
            self._of_community[disc.number] = self._mark(name, disc, disc.rid, COMMUNITY, label)
        self._opened = {
            disc.number
            for disc, files, _ in found
            if disc.r * scale >= COMMUNITY_PIXELS or (files == 1 and disc.r * scale >= LEAST_PIXELS)
        }
        return sorted(self._opened)

    def _within(self, items: Sequence[T], room: int) -> Iterator[T]:
        self.left_out += max(0, len(items) - max(room, 0))
        return islice(iter(items), max(room, 0))

    def _mark(self, name: str, disc: _Disc, project: int, kind: int, label: str) -> int:
        if project not in self._of_rid:
            self._of_rid[project] = len(self.projects)
            self.projects.append(project)
        place = round(disc.x, 3), round(disc.y, 3), round(disc.r, 3)
        # What has no name of its own (nodes of no file) bears the project's: a button needs words.
        shown = one_line(label).strip() or self.graph.projects.get(project, name)
        self.marks.append((name, *place, self._of_rid[project], kind, shown, disc.nodes))
        return len(self.marks) - 1

    def _files(
        self, communities: Sequence[int], opened: dict[int, _Disc], wanted: set[int]
    ) -> Iterator[_Disc]:
        """Yield the files of communities that the view shows, and those that are lit."""
        for column, numbers in (("cid", communities), ("fid", sorted(wanted))):
            for listed in _batches(numbers):
                query = (
                    f"SELECT fid, rid, x, y, r, nodes FROM layout_file WHERE {column} IN ({listed})"  # noqa: S608 - numbers
                )
                for fid, rid, x, y, r, nodes in self.graph.connection.execute(query):
                    if rid not in opened or (fid in wanted) != (column == "fid"):
                        continue
                    disc = _Disc(fid, opened[rid].x + x, opened[rid].y + y, r, nodes, rid)
                    if fid in wanted or self.box.meets(disc.x, disc.y, r):
                        yield disc

    def _paths(self, files: Sequence[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        for listed in _batches(files):
            query = f"SELECT fid, path FROM graph_file WHERE fid IN ({listed})"  # noqa: S608 - numbers
            found.update(self.graph.connection.execute(query))
        return found

    def _symbols(self, file: _Disc) -> None:
        """Put a file's nodes on a spiral in its disc, in the order of their lines."""
        rows = self.graph.connection.execute(
            "SELECT nid, lid, label FROM graph_node WHERE fid=? AND nid BETWEEN ? AND ?"
            " ORDER BY line, nid",
            (file.number, *node_range(file.rid)),
        ).fetchall()
        lit = {nid for nid, _ in self.nodes}
        name = self.graph.projects.get(file.rid, "")
        room = MAX_MARKS - len(self.marks)
        order = sorted(range(len(rows)), key=lambda at: (rows[at][0] not in lit, at))
        for at in self._within(order, room):
            nid, lid, label = rows[at]
            distance = file.r * 0.85 * math.sqrt((at + 0.5) / len(rows))
            angle = at * GOLDEN_ANGLE
            disc = _Disc(
                nid,
                file.x + distance * math.cos(angle),
                file.y + distance * math.sin(angle),
                file.r * 0.3 / math.sqrt(len(rows)),
                1,
            )
            own = f"{name}::{one_line(lid)}"
            self._of_node[nid] = self._mark(own, disc, file.rid, SYMBOL, label)

    def lit_marks(self) -> set[int]:
        """Return the marks that stand for the lit nodes: the finest that is shown of each."""
        found = set()
        for nid, fid in self.nodes:
            at = self._of_node.get(nid, self._of_file.get(fid))
            at = self._of_project.get(nid >> PROJECT_SHIFT) if at is None else at
            if at is not None:
                found.add(at)
        return found

    def links(self, *, between: bool) -> tuple[list[Link], int]:
        """Return the links of the shown marks, heaviest first, and how many are left out."""
        merged: dict[tuple[int, int], list[int]] = {}
        for one, other, weight, flags in self._crossing():
            pair = merged.setdefault((min(one, other), max(one, other)), [0, flags])
            pair[0] += weight
            pair[1] &= flags
        crossing = [(a, b, weight, flags) for (a, b), (weight, flags) in merged.items()]
        inner = [] if between else list(self._inner())
        every = sorted(crossing, key=_by_weight) + sorted(inner, key=_by_weight)
        return every[:MAX_LINKS], max(0, len(every) - MAX_LINKS)

    def _crossing(self) -> Iterator[Link]:
        """Yield links between projects, each between the finest marks of its ends."""
        seen: set[tuple[int, int]] = set()
        if self._of_file:
            for listed in _batches(sorted(self._of_file)):
                for source, target, src, dst, confidence in self.graph.connection.execute(
                    _CROSS_OF_FILES.format(listed)
                ):
                    if (src, dst) in seen:
                        continue
                    seen.add((src, dst))
                    one = self._stands(src, source)
                    other = self._stands(dst, target)
                    if one is not None and other is not None:
                        yield one, other, 1, CROSS | (AMBIGUOUS if confidence == AMBIGUOUS else 0)
        for a, b, weight, certain in self.graph.connection.execute(
            "SELECT a, b, weight, certain FROM layout_cross"
        ):
            one, other = self._of_project.get(a), self._of_project.get(b)
            if one is not None and other is not None:
                yield one, other, weight, CROSS | (0 if certain else AMBIGUOUS)

    def _stands(self, nid: int, fid: int | None) -> int | None:
        at = self._of_node.get(nid)
        if at is None and fid is not None:
            at = self._of_file.get(fid)
        return self._of_project.get(nid >> PROJECT_SHIFT) if at is None else at

    def _inner(self) -> Iterator[Link]:
        for listed in _batches(sorted(self._of_community)):
            query = f"SELECT a, b, weight FROM layout_tie WHERE a IN ({listed})"  # noqa: S608 - numbers
            for a, b, weight in self.graph.connection.execute(query):
                if b in self._of_community and not (a in self._opened and b in self._opened):
                    yield self._of_community[a], self._of_community[b], weight, 0
        for listed in _batches(sorted(self._of_file)):
            query = f"SELECT a, b, weight FROM layout_link WHERE a IN ({listed})"  # noqa: S608 - numbers
            for a, b, weight in self.graph.connection.execute(query):
                if b in self._of_file:
                    yield self._of_file[a], self._of_file[b], weight, 0
        for listed in _batches(sorted(self._of_node)):
            query = f"SELECT src, dst FROM graph_out WHERE src IN ({listed}) AND dst > 0"  # noqa: S608 - numbers
            for src, dst in self.graph.connection.execute(query):
                if dst in self._of_node:
                    yield self._of_node[src], self._of_node[dst], 1, 0


def _by_weight(link: Link) -> tuple[int, int, int]:
    return -link[2], link[0], link[1]


def _batches(numbers: Sequence[int]) -> Iterator[str]:
    """Yield lists of numbers for SQL, a bounded number in each."""
    for start in range(0, len(numbers), _BATCH):
        yield ",".join(map(str, numbers[start : start + _BATCH]))


_CROSS_OF_FILES = """
SELECT source.fid, target.fid, edge.src, edge.dst, edge.conf FROM graph_cross AS edge
JOIN graph_node AS source ON source.nid = edge.src
JOIN graph_node AS target ON target.nid = edge.dst
WHERE source.fid IN ({0}) OR target.fid IN ({0})
"""
