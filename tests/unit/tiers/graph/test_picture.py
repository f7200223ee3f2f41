"""What a view shows: projects, files or symbols by their size, within bounds, with what is lit."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_os.aggregate.graph.layout.store import LAYOUT_DDL, update_layout
from agentic_os.tiers.graph import picture as room
from agentic_os.tiers.graph.context import CodeGraph
from agentic_os.tiers.graph.picture import CROSS, FILE, PROJECT, SYMBOL, Box, PictureData, picture
from support.graph.builder import GraphFleet


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[CodeGraph]:
    fleet = GraphFleet.at(tmp_path)
    fleet.connection.executescript(LAYOUT_DDL)
    fleet.write(
        "lib",
        {
            "pyproject.toml": '[project]\nname = "lib"\nversion = "1"\n',
            "lib/__init__.py": "",
            "lib/load.py": "def load():\n    return 1\n\n\ndef save():\n    return load()\n",
        },
    )
    fleet.write(
        "app",
        {
            "pyproject.toml": '[project]\nname = "app"\nversion = "1"\ndependencies = ["lib"]\n',
            "app/__init__.py": "",
            "app/main.py": "from lib.load import load\n\n\ndef main():\n    return load()\n",
        },
    )
    fleet.refresh("app", "lib")
    update_layout(fleet.connection)
    yield CodeGraph(fleet.connection, {}, check=False)
    fleet.close()


def kinds(data: PictureData) -> set[int]:
    return {mark[5] for mark in data.marks}


def around(data: PictureData, label: str, share: float = 1.0) -> Box:
    """A box around a mark of a picture."""
    _, x, y, r, *_ = next(mark for mark in data.marks if mark[6] == label)
    return Box(x0=x - r * share, y0=y - r * share, x1=x + r * share, y1=y + r * share)


def test_from_afar_a_project_is_one_mark_and_linked_projects_have_one_link(
    graph: CodeGraph,
) -> None:
    whole = picture(graph).data.extent
    far = Box(x0=whole.x0 * 400, y0=whole.y0 * 400, x1=whole.x1 * 400, y1=whole.y1 * 400)

    data = picture(graph, box=far, pixels=100).data

    assert kinds(data) == {PROJECT}
    assert {mark[0] for mark in data.marks} == {"app", "lib"}
    (link,) = data.links
    assert link[3] & CROSS
    assert link[2] >= 1
    assert data.totals.projects == 2


def test_nearer_there_are_files_and_then_symbols(graph: CodeGraph) -> None:
    data = picture(graph, pixels=200).data
    assert FILE in kinds(data)

    close = picture(graph, box=around(data, "load.py"), pixels=1000).data
    labels = {mark[6] for mark in close.marks if mark[5] == SYMBOL}
    assert {"load()", "save()"} <= labels
    names = {mark[0] for mark in close.marks if mark[5] == SYMBOL}
    assert "lib::lib/load.py:load" in names


def test_every_mark_of_a_project_lies_in_its_disc(graph: CodeGraph) -> None:
    data = picture(graph, pixels=2000).data
    discs = {mark[4]: mark for mark in data.marks if mark[5] == PROJECT}
    for mark in data.marks:
        _, x, y, r, project, *_ = mark
        disc = discs[project]
        assert ((x - disc[1]) ** 2 + (y - disc[2]) ** 2) ** 0.5 + r <= disc[3] * 1.01


def test_only_links_between_projects(graph: CodeGraph) -> None:
    every = picture(graph, pixels=2000).data.links
    between = picture(graph, pixels=2000, between=True).data.links
    assert between
    assert len(between) < len(every)
    assert all(link[3] & CROSS for link in between)


def test_what_is_lit_is_in_the_picture_wherever_it_lies(graph: CodeGraph) -> None:
    whole = picture(graph).data.extent
    elsewhere = Box(x0=whole.x1 + 10, y0=whole.y1 + 10, x1=whole.x1 + 20, y1=whole.y1 + 20)
    assert picture(graph, box=elsewhere).data.marks == ()

    lit = ["lib::lib/load.py:load", "app::nothing", "::", "x"]
    data = picture(graph, box=elsewhere, lit=lit).data
    assert {data.marks[at][0] for at in data.lit} == {"lib::lib/load.py:load"}


def test_bounds_are_kept_and_what_is_left_out_is_counted(
    graph: CodeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = picture(graph, pixels=2000).data
    monkeypatch.setattr(room, "MAX_MARKS", 4)
    monkeypatch.setattr(room, "MAX_LINKS", 1)

    data = picture(graph, pixels=2000).data

    assert len(data.marks) == 4
    assert data.left_out.marks > 0
    assert len(data.links) == 1
    assert len(every.marks) > 4
    assert all(max(a, b) < len(data.marks) for a, b, *_ in data.links)


def test_no_graph_is_an_empty_picture(tmp_path: Path) -> None:
    fleet = GraphFleet.at(tmp_path)
    fleet.connection.executescript(LAYOUT_DDL)
    data = picture(CodeGraph(fleet.connection, {}, check=False)).data
    assert (data.marks, data.links, data.lit) == ((), (), ())
    assert data.totals.nodes == 0
    fleet.close()
