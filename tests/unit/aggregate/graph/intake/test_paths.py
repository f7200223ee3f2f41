"""Absolute and foreign paths of a graph are found in the project, or named."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.aggregate.graph.intake.listing import Listing
from agentic_os.aggregate.graph.intake.paths import is_absolute, located, relative_path
from agentic_os.aggregate.graph.intake.reader import read_graph
from agentic_os.files.reading import Folder

FILES = ("src/app/a.py", "src/app/b.py", "setup.py", "deep/src/app/a.py")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path in FILES:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    return tmp_path


def find(root: Path, *paths: str) -> dict[str, str]:
    with Folder.open(root) as folder:
        return dict(located(str(root), Listing(folder))(paths))


def test_a_path_below_the_folder_is_that_file_even_where_it_is_gone(root: Path) -> None:
    assert find(root, f"{root}/src/app/a.py", f"{root}/src/gone.py") == {
        f"{root}/src/app/a.py": "src/app/a.py",
        f"{root}/src/gone.py": "src/gone.py",
    }


@pytest.mark.parametrize("before", ["/home/x/work/proj/", "C:/Users/x/proj/", "~/proj/"])
def test_a_path_of_another_place_is_found_by_its_end(root: Path, before: str) -> None:
    found = find(root, f"{before}src/app/a.py", f"{before}setup.py", f"{before}src/new.py")
    assert found == {
        f"{before}src/app/a.py": "src/app/a.py",
        f"{before}setup.py": "setup.py",
        f"{before}src/new.py": "src/new.py",
    }


def test_a_backslash_is_a_slash(root: Path) -> None:
    assert find(root, r"C:\\p\\src\\app\\b.py".replace("\\\\", "\\")) == {
        r"C:\p\src\app\b.py": "src/app/b.py"
    }


def test_the_longest_end_counts(root: Path) -> None:
    assert find(root, "/x/deep/src/app/a.py") == {"/x/deep/src/app/a.py": "deep/src/app/a.py"}


def test_a_bare_name_is_too_little_to_go_by(root: Path) -> None:
    assert find(root, "/elsewhere/setup.py", "/elsewhere/other/nothing.py") == {}


def test_a_path_that_leaves_the_folder_is_refused(root: Path) -> None:
    assert find(root, f"{root}/../secret/a.py", "/x/../src/app/a.py") == {
        "/x/../src/app/a.py": "src/app/a.py"
    }


@given(st.text(max_size=40))
def test_what_is_found_is_always_a_relative_path(text: str) -> None:
    path = relative_path(text)
    assert path is None or (not is_absolute(path) and ".." not in path.split("/"))


def test_a_graph_with_absolute_paths_has_places(root: Path) -> None:
    document = {
        "nodes": [
            {"id": "a", "label": "a.py", "source_file": "/ci/build/src/app/a.py"},
            {"id": "b", "label": "b.py", "source_file": "/ci/build/src/app/b.py"},
            {"id": "c", "label": "c", "source_file": "/usr/lib/python3/json.py"},
        ],
        "links": [
            {
                "source": "a",
                "target": "b",
                "relation": "calls",
                "source_file": "/ci/build/src/app/a.py",
            }
        ],
    }
    with Folder.open(root) as folder:
        graph = read_graph(json.dumps(document).encode(), located(str(root), Listing(folder)))
    assert [node.path for node in graph.nodes] == ["src/app/a.py", "src/app/b.py", ""]
    assert [edge.path for edge in graph.edges] == ["src/app/a.py"]
    assert graph.counts == {"GRAPH_PATH_REFUSED": 1}
