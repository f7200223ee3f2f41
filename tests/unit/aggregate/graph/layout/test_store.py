"""The layout follows the graph, a changed project at a time, and other projects stay in place."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_os.aggregate.graph.layout.store import LAYOUT_DDL, update_layout
from support.graph.builder import GraphFleet

Row = tuple[object, ...]


@pytest.fixture
def graphs(tmp_path: Path) -> Iterator[GraphFleet]:
    fleet = GraphFleet.at(tmp_path)
    fleet.connection.executescript(LAYOUT_DDL)
    for name in ("app", "lib", "tool"):
        fleet.write(name, sources(name, 6))
    fleet.refresh("app", "lib", "tool")
    yield fleet
    fleet.close()


def sources(name: str, files: int) -> dict[str, str]:
    """Return files of which each calls the next."""
    return {
        f"src/{name}/part{at}.py": (
            f"from {name}.part{at + 1} import run{at + 1}\n\n\n"
            f"def run{at}():\n    return run{at + 1}()\n"
        )
        for at in range(files)
    }


def rows(graphs: GraphFleet, table: str) -> list[Row]:
    return graphs.connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()  # noqa: S608


def test_every_project_and_file_has_a_place(graphs: GraphFleet) -> None:
    assert update_layout(graphs.connection) == 3

    projects = rows(graphs, "layout_project")
    assert [row[5] for row in projects] == [6, 6, 6]
    files = graphs.connection.execute("SELECT count(*) FROM layout_file").fetchone()[0]
    assert files == 18
    inside = graphs.connection.execute(
        "SELECT max(sqrt(file.x * file.x + file.y * file.y) + file.r - project.r)"
        " FROM layout_file AS file JOIN layout_project AS project USING(rid)"
    ).fetchone()[0]
    assert inside <= 0


def test_nothing_changed_lays_out_nothing(graphs: GraphFleet) -> None:
    update_layout(graphs.connection)
    before = rows(graphs, "layout_file")
    graphs.refresh("app", "lib", "tool")
    assert update_layout(graphs.connection) == 0
    assert rows(graphs, "layout_file") == before


def test_one_changed_project_leaves_the_other_islands_as_they_were(graphs: GraphFleet) -> None:
    update_layout(graphs.connection)
    query = (
        "SELECT repo.project, file.path, layout.x, layout.y FROM layout_file AS layout"
        " JOIN graph_file AS file USING(fid) JOIN graph_repo AS repo ON repo.rid = layout.rid"
        " WHERE repo.project <> 'lib' ORDER BY 1, 2"
    )
    before = graphs.connection.execute(query).fetchall()
    graphs.write("lib", sources("lib", 12))
    graphs.refresh("app", "lib", "tool")

    assert update_layout(graphs.connection) == 1

    assert graphs.connection.execute(query).fetchall() == before
    assert [row[5] for row in rows(graphs, "layout_project")] == [6, 12, 6]


def test_a_project_that_is_gone_has_no_place(graphs: GraphFleet) -> None:
    update_layout(graphs.connection)
    graphs.refresh("app", "tool")
    update_layout(graphs.connection)
    assert len(rows(graphs, "layout_project")) == 2
    assert len(rows(graphs, "layout_file")) == 12


def test_the_same_fleet_comes_to_the_same_layout(graphs: GraphFleet, tmp_path: Path) -> None:
    update_layout(graphs.connection)
    other = GraphFleet.at(tmp_path)
    other.connection.executescript(LAYOUT_DDL)
    other.refresh("app", "lib", "tool")
    update_layout(other.connection)
    assert rows(other, "layout_project") == rows(graphs, "layout_project")
    assert rows(other, "layout_file") == rows(graphs, "layout_file")
    other.close()
