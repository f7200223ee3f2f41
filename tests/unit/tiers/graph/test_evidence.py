"""The edges behind one link of the picture."""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_os.aggregate.graph.layout.store import LAYOUT_DDL, update_layout
from agentic_os.tiers.graph.context import CodeGraph
from agentic_os.tiers.graph.evidence import MarkKind, evidence
from agentic_os.tiers.graph.picture import COMMUNITY, CROSS, FILE, PROJECT, SYMBOL, Mark, picture
from support.graph.builder import GraphFleet
from support.graph.code import pyproject

KINDS: dict[int, MarkKind] = {
    PROJECT: "project",
    COMMUNITY: "community",
    FILE: "file",
    SYMBOL: "symbol",
}


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[CodeGraph]:
    fleet = GraphFleet.at(tmp_path)
    fleet.connection.executescript(LAYOUT_DDL)
    parts = {
        f"lib/part{part}/{name}.py": (
            f"from lib.part{part}.core import start\n\n\ndef {name}():\n    return start()\n"
            if name != "core"
            else "def start():\n    return 1\n"
        )
        for part in (1, 2)
        for name in ("core", "one", "two", "three")
    }
    fleet.write(
        "lib",
        {
            "pyproject.toml": '[project]\nname = "lib"\nversion = "1"\n',
            "lib/__init__.py": "",
            **parts,
        },
    )
    fleet.write(
        "app",
        {
            "pyproject.toml": pyproject("app", "lib"),
            "app/__init__.py": "",
            "app/main.py": "from lib.part1.core import start\n\ndef main():\n    return start()\n",
        },
    )
    fleet.refresh("app", "lib")
    update_layout(fleet.connection)
    yield CodeGraph(fleet.connection, {}, check=False)
    fleet.close()


def test_a_link_between_projects_is_shown_with_both_lines(graph: CodeGraph) -> None:
    data = evidence(graph, ("project", "app"), ("project", "lib")).data

    assert data.total == len(data.edges) > 0
    assert data == evidence(graph, ("project", "lib"), ("project", "app")).data
    seen = {place.project for edge in data.edges for place in edge.evidence}
    assert seen == {"app", "lib"}
    assert {edge.source.partition("::")[0] for edge in data.edges} == {"app"}


@pytest.mark.parametrize("pixels", [60, 400, 2_000, 60_000])
def test_every_link_of_a_view_has_evidence(graph: CodeGraph, pixels: int) -> None:
    view = picture(graph, pixels=pixels).data

    assert view.links
    for a, b, weight, flags in view.links:
        one, other = view.marks[a], view.marks[b]
        found = evidence(graph, (KINDS[one[5]], one[0]), (KINDS[other[5]], other[0])).data
        assert found.total >= 1, (one, other)
        assert weight >= 1
        assert bool(flags & CROSS) == (one[4] != other[4])


def test_communities_stand_between_a_project_and_its_files(graph: CodeGraph) -> None:
    levels = [
        {mark[5] for mark in picture(graph, pixels=pixels).data.marks}
        for pixels in (20, 150, 2_000, 60_000)
    ]

    assert levels[0] == {PROJECT}
    assert COMMUNITY in levels[1]
    assert FILE in levels[2]
    assert SYMBOL in levels[3]
    marks = picture(graph, pixels=2_000).data.marks
    regions = [mark for mark in marks if mark[5] == COMMUNITY]
    assert all(re.fullmatch(r"\w+\.py \+\d+", mark[6]) for mark in regions)
    inside = [
        mark for mark in marks if mark[5] == FILE and any(_holds(one, mark) for one in regions)
    ]
    assert len(inside) == sum(1 + int(mark[6].rpartition("+")[2]) for mark in regions)


def _holds(region: Mark, mark: Mark) -> bool:
    away = math.hypot(region[1] - mark[1], region[2] - mark[2])
    return away + mark[3] <= region[3] * 1.01


@pytest.mark.parametrize(
    ("kind", "mark"),
    [
        ("project", "none"),
        ("file", "lib::gone.py"),
        ("symbol", "lib::gone"),
        ("community", "lib::x"),
    ],
)
def test_a_mark_that_is_not_there_is_said(graph: CodeGraph, kind: MarkKind, mark: str) -> None:
    answer = evidence(graph, (kind, mark), ("project", "app"))

    assert answer.data.edges == ()
    if kind != "community":
        assert [item.code for item in answer.omissions] == ["GRAPH_NAME_UNKNOWN"]
