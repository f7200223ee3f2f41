"""Bringing the graph tables up to date: what is read again, kept, forgotten, refused."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_os.aggregate.graph.intake import files as graph_files
from agentic_os.aggregate.graph.intake.refresh import refresh_graphs
from agentic_os.aggregate.graph.projects import GraphProject
from agentic_os.code.passages.density import MAX_SOURCE_MARKS
from support.graph.builder import GRAPH, GraphFleet, graph_of
from support.graph.code import pyproject

LIB = {
    "pyproject.toml": pyproject("fancy"),
    "src/fancy/__init__.py": "def load(): ...\n",
    "src/fancy/core.py": "class Loader:\n    def run(self): ...\n",
}
APP = {
    "pyproject.toml": pyproject("app", "fancy"),
    "app.py": "import fancy\nfrom fancy.core import Loader\n\ndef main():\n    fancy.load()\n",
}


@pytest.fixture
def graphs(tmp_path: Path) -> Iterator[GraphFleet]:
    fleet = GraphFleet.at(tmp_path / "fleet")
    fleet.write("lib", LIB, externals=("os",))
    fleet.write("app", APP, externals=("fancy", "os"))
    age(fleet.root)
    yield fleet
    fleet.close()


def age(root: Path) -> None:
    """Make every file old enough to be trusted by its times; a change time cannot be set."""
    for path in root.rglob("*"):
        if path.is_file():
            os.utime(path, ns=(1, 1))


def status(graphs: GraphFleet) -> dict[str, tuple[str, str]]:
    rows = graphs.connection.execute("SELECT project, status, code FROM graph_repo")
    return {row[0]: (row[1], row[2]) for row in rows}


def rules(graphs: GraphFleet) -> set[str]:
    return {row[0] for row in graphs.connection.execute("SELECT rule FROM graph_cross")}


def later() -> int:
    """A clock that has moved on far enough for times to be trusted."""
    return 10**19 // 5


def test_graphs_sources_and_manifests_are_taken_in(graphs: GraphFleet) -> None:
    done = graphs.refresh("lib", "app")
    assert (done.changed, done.diagnostics) == (True, {})
    assert done.files_read == 2 + len(LIB) + len(APP)
    assert status(graphs) == {"lib": ("current", ""), "app": ("current", "")}
    assert rules(graphs) == {"R1", "R2", "R3"}
    dump = graphs.dump()
    assert dump["names"] == [("fancy",), ("os",)]
    assert ("app", "os", "os") in dump["external"]
    assert ("lib", "pkg_python_fancy", "fancy", "code", "pyproject.toml", 2, -1, 5) in dump["nodes"]
    assert {row[2] for row in dump["edges"]} == {"contains", "method", "imports"}
    assert len(dump["backward"]) == len({(row[0], row[1], row[2], row[5]) for row in dump["edges"]})


def test_what_is_unchanged_is_not_read_and_changes_nothing(graphs: GraphFleet) -> None:
    projects = [graphs.project("lib"), graphs.project("app")]
    started: list[int] = []

    def refresh() -> tuple[bool, int]:
        done = refresh_graphs(
            graphs.connection, projects, start=lambda: started.append(1), now=later
        )
        return done.changed, done.files_read

    assert refresh()[0]
    assert started == [1]
    before = graphs.dump()
    assert refresh() == (False, 0)
    assert started == [1]
    assert graphs.dump() == before


def test_a_changed_source_alone_is_read_and_its_edges_follow(graphs: GraphFleet) -> None:
    projects = [graphs.project("lib"), graphs.project("app")]
    refresh_graphs(graphs.connection, projects, now=later)
    (graphs.root / "app/app.py").write_text("import fancy.core\n")
    assert refresh_graphs(graphs.connection, projects, sources=False, now=later).files_read == 0
    done = refresh_graphs(graphs.connection, projects, now=later)
    assert (done.changed, done.files_read) == (True, 1)
    assert rules(graphs) == {"R1", "R2"}


def test_a_changed_manifest_is_read_and_its_node_and_edges_follow(graphs: GraphFleet) -> None:
    graphs.refresh("lib", "app")
    (graphs.root / "app/pyproject.toml").write_text(pyproject("renamed"))
    graphs.refresh("lib", "app")
    labels = {row[2] for row in graphs.dump()["nodes"] if row[0] == "app"}
    assert "renamed" in labels
    assert "app" not in labels
    confidences = {row[5] for row in graphs.dump()["cross"]}
    assert confidences == {1}, "without the declaration the edges are INFERRED"
    (graphs.root / "app/pyproject.toml").unlink()
    graphs.refresh("lib", "app")
    assert "renamed" not in {row[2] for row in graphs.dump()["nodes"]}


def test_a_file_written_again_with_equal_bytes_changes_nothing_but_times(
    graphs: GraphFleet,
) -> None:
    graphs.refresh("lib", "app")
    before = graphs.dump()
    for path in (GRAPH, "app.py", "pyproject.toml"):
        target = graphs.root / "app" / path
        target.write_bytes(target.read_bytes())
    done = graphs.refresh("lib", "app")
    assert graphs.dump() == before
    assert done.diagnostics == {}


def test_a_project_that_leaves_takes_everything_with_it(graphs: GraphFleet) -> None:
    graphs.refresh("app")
    alone = graphs.dump()
    graphs.refresh("lib", "app")
    graphs.refresh("app")
    assert graphs.dump() == alone
    graphs.refresh()
    assert all(not rows for name, rows in graphs.dump().items() if not name.startswith("graph_"))
    for table in (
        "graph_file",
        "graph_manifest",
        "graph_folder",
        "graph_node",
        "graph_out",
        "graph_in",
    ):
        query = f"SELECT count(*) FROM {table}"  # noqa: S608 - fixed names
        assert graphs.connection.execute(query).fetchone() == (0,)


def test_a_missing_graph_is_normal_and_a_deleted_one_is_forgotten(graphs: GraphFleet) -> None:
    (graphs.root / "bare").mkdir()
    done = graphs.refresh("lib", "app", "bare")
    assert done.diagnostics == {}
    assert status(graphs)["bare"] == ("missing", "")
    (graphs.root / "lib" / GRAPH).unlink()
    graphs.refresh("lib", "app", "bare")
    assert status(graphs)["lib"] == ("missing", "")
    assert rules(graphs) == set()
    graphs.write("bare", LIB)
    graphs.refresh("lib", "app", "bare")
    assert rules(graphs) == {"R1", "R2", "R3"}


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "GRAPH_EMPTY"),
        (b"{", "GRAPH_TRUNCATED"),
        (b"not json", "GRAPH_NOT_JSON"),
        (b"version https://git-lfs.github.com/spec/v1\n", "GRAPH_LFS_POINTER"),
        (b'{"nodes":' + b"[" * 100_000, "GRAPH_NESTED"),
        (b"[]", "GRAPH_NOT_OBJECT"),
    ],
)
def test_a_broken_graph_keeps_the_last_good_one_and_is_reported(
    graphs: GraphFleet, content: bytes, code: str
) -> None:
    graphs.refresh("lib", "app")
    good = graphs.dump()
    graphs.graph("lib", content)
    done = graphs.refresh("lib", "app")
    assert done.diagnostics["lib"].code == code
    assert done.diagnostics["lib"].path == GRAPH
    assert status(graphs) == {"lib": ("stale", code), "app": ("current", "")}
    kept = graphs.dump()
    assert {name: rows for name, rows in kept.items() if name != "repos"} == {
        name: rows for name, rows in good.items() if name != "repos"
    }
    again = graphs.refresh("lib", "app")
    assert again.diagnostics["lib"].code == code
    graphs.graph("lib", graph_of(LIB, externals=("os",)))
    assert graphs.refresh("lib", "app").diagnostics == {}
    assert graphs.dump() == good


def test_a_broken_first_graph_is_refused_and_the_others_stand(graphs: GraphFleet) -> None:
    graphs.graph("bad", b"{")
    done = graphs.refresh("bad", "lib", "app")
    assert done.diagnostics["bad"].code == "GRAPH_TRUNCATED"
    assert status(graphs)["bad"] == ("refused", "GRAPH_TRUNCATED")
    assert rules(graphs) == {"R1", "R2", "R3"}


def test_links_fifos_and_folders_are_refused_and_nothing_outside_is_read(
    graphs: GraphFleet, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text(json.dumps(graph_of(LIB)))
    for name in ("linked", "fifo", "folder", "above"):
        (graphs.root / name / "graphify-out").mkdir(parents=True)
    (graphs.root / "linked" / GRAPH).symlink_to(outside)
    os.mkfifo(graphs.root / "fifo" / GRAPH)
    (graphs.root / "folder" / GRAPH).mkdir()
    (graphs.root / "above" / "graphify-out").rmdir()
    (graphs.root / "above" / "graphify-out").symlink_to(tmp_path)
    done = graphs.refresh("linked", "fifo", "folder", "above", "lib")
    codes = {name: item.code for name, item in done.diagnostics.items()}
    assert codes == {
        "linked": "LINK_REFUSED",
        "fifo": "NOT_REGULAR",
        "folder": "NOT_REGULAR",
        "above": "LINK_REFUSED",
    }
    assert {
        name: item for name, (item, _) in status(graphs).items() if name != "lib"
    } == dict.fromkeys(("linked", "fifo", "folder", "above"), "refused")


def test_a_graph_beyond_the_limit_is_refused_with_a_code(graphs: GraphFleet) -> None:
    done = graphs.refresh("lib", "app", limit_bytes=50)
    assert {item.code for item in done.diagnostics.values()} == {"FILE_TOO_LARGE"}
    assert status(graphs)["lib"] == ("refused", "FILE_TOO_LARGE")


def test_sources_outside_the_project_are_never_opened(graphs: GraphFleet, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("import fancy\n")
    files = {"inside.py": "x = 1\n"}
    graphs.write("sly", files)
    (graphs.root / "sly/linked.py").symlink_to(secret)
    (graphs.root / "sly/folder").symlink_to(tmp_path)
    document = graph_of(files)
    nodes = document["nodes"]
    assert isinstance(nodes, list)
    for path in ("../../secret.py", str(secret), "linked.py", "folder/secret.py"):
        nodes.append({"id": path, "label": path, "file_type": "code", "source_file": path})
    graphs.graph("sly", document)
    graphs.refresh("sly", "lib")
    stored = dict(graphs.connection.execute("SELECT path, sha256 FROM graph_file"))
    assert stored["inside.py"]
    assert (stored["linked.py"], stored["folder/secret.py"]) == ("", "")
    assert not any(".." in path or path.startswith("/") for path in stored)
    assert rules(graphs) == set()


def test_paths_of_old_graphs_are_found_below_the_folder_they_are_relative_to(
    graphs: GraphFleet,
) -> None:
    inner = {
        path.removeprefix("src/fancy/"): text for path, text in LIB.items() if path.endswith(".py")
    }
    graphs.graph("lib", graph_of(inner))
    graphs.refresh("lib", "app")
    paths = {row[1] for row in graphs.dump()["files"] if row[0] == "lib"}
    assert paths == {"src/fancy/__init__.py", "src/fancy/core.py", "pyproject.toml"}
    assert rules(graphs) == {"R1", "R2", "R3"}


def test_the_hash_that_graphify_recorded_is_taken_over(graphs: GraphFleet) -> None:
    md5 = hashlib.md5(APP["app.py"].encode(), usedforsecurity=False).hexdigest()
    record = {
        "app.py": {"ast_hash": md5, "mtime": 1},
        "/somewhere/else/app/other.py": {"hash": "ff"},
        "odd": 7,
    }
    (graphs.root / "app/graphify-out/manifest.json").write_text(json.dumps(record))
    graphs.refresh("app")
    assert {row[1:] for row in graphs.dump()["files"]} == {
        (path, hashlib.sha256(text.encode()).hexdigest(), md5 if path == "app.py" else "")
        for path, text in APP.items()
    }


def test_npm_workspaces_are_read_where_the_graph_names_no_file_of_them(graphs: GraphFleet) -> None:
    files = {
        "package.json": json.dumps({"name": "mono", "workspaces": ["packages/*", "tool", "../x"]}),
        "packages/one/package.json": json.dumps({"name": "@m/one"}),
        "tool/package.json": json.dumps({"name": "@m/tool"}),
        "index.js": "1\n",
    }
    graphs.write("mono", files)
    graphs.refresh("mono")
    labels = {row[2] for row in graphs.dump()["nodes"]}
    assert {"mono", "@m/one", "@m/tool"} <= labels


def test_a_project_whose_folder_is_gone_is_reported(graphs: GraphFleet) -> None:
    graphs.refresh("lib", "app")
    gone = GraphProject(id="gone", name="gone", folder=graphs.root / "gone", graph_path=GRAPH)
    done = refresh_graphs(graphs.connection, [gone, graphs.project("lib")])
    assert done.diagnostics["gone"].code == "FILE_MISSING"


def test_a_graph_that_moved_is_read_from_its_new_place(graphs: GraphFleet) -> None:
    graphs.refresh("lib")
    (graphs.root / "lib/other.json").write_text(json.dumps(graph_of({"a.py": "x = 1\n"})))
    moved = GraphProject(id="lib", name="lib", folder=graphs.root / "lib", graph_path="other.json")
    refresh_graphs(graphs.connection, [moved])
    assert {row[1] for row in graphs.dump()["nodes"]} == {"a.py", "pkg_python_fancy"}


def test_secrets_are_taken_out_before_anything_is_stored(tmp_path: Path) -> None:
    token = "ghp_" + "Zx9Kq2Lm7Rt4Wv8Yb3Nc6Pd1Sf5Gh0Jk2Ml4"
    fleet = GraphFleet.at(tmp_path / "fleet")
    files = {
        "pyproject.toml": pyproject("app", f"dep @ git+https://{token}@github.com/a/dep.git"),
        "app.py": (
            "import requests, subprocess\n"
            f"requests.get('https://api.example.com/bot/{token}/send')\n"
            f"subprocess.run(['tool', '--token', '{token}'])\n"
        ),
        ".mcp.json": json.dumps({"mcpServers": {"x": {"command": "npx", "args": ["p", token]}}}),
    }
    fleet.write("app", files)
    document = graph_of(files)
    nodes = document["nodes"]
    assert isinstance(nodes, list)
    for number in range(2):
        nodes.append({"id": f"{token}_{number}", "label": f"uses {token}", "source_file": "app.py"})
    document["hyperedges"] = [
        {"id": "h", "label": f"flow {token}", "relation": token, "nodes": ["app.py"]}
    ]
    links = document["links"]
    assert isinstance(links, list)
    ends = {"source": f"{token}_0", "target": f"{token}_1"}
    links.append({**ends, "relation": token, "context": f"with {token}"})
    fleet.graph("app", document)
    fleet.refresh("app")
    image = fleet.connection.serialize()
    assert token.encode() not in image
    assert token.lower().encode() not in image
    labels = [row[2] for row in fleet.dump()["nodes"] if "redacted:" in str(row[1])]
    assert len(labels) == 2
    counts = fleet.connection.execute("SELECT counts FROM graph_repo").fetchone()[0]
    assert json.loads(counts)["GRAPH_SECRET_REDACTED"] >= 3
    fleet.connection.close()


def test_secrets_in_sources_manifests_and_names_are_not_stored(tmp_path: Path) -> None:
    token = "ghp_" + "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6"
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    fleet = GraphFleet.at(tmp_path)
    fleet.write(
        "app",
        {
            "pyproject.toml": (
                '[project]\nname = "app"\n'
                f'dependencies = ["fancy", "other @ git+https://bob:{token}@github.com/a/b.git"]\n'
                f'[project.scripts]\nx = "{token}:main"\n'
            ),
            "package.json": json.dumps(
                {"name": "js", "dependencies": {"y": f"file:../{token}"}, "bin": {token: "x.js"}}
            ),
            "go.mod": f"module example.com/{token}\n\nrequire example.com/{key} v1\n",
            ".mcp.json": json.dumps({"mcpServers": {"f": {"command": "f", "args": [token]}}}),
            f"src/{key}.py": "def load(): ...\n",
            f"{key}/setup.py": "from setuptools import setup\nsetup(name='odd')\n",
            "app.py": (
                f"import fancy\nimport requests\nimport subprocess\nfrom fancy import {key}\n"
                f"requests.get('https://x.example.com/{token}')\n"
                f"def {key}():\n    subprocess.run(['{token}'])\n    fancy.{key}()\n"
                "def run():\n    fancy.load()\n"
            ),
        },
    )
    fleet.write(
        "lib",
        {
            "pyproject.toml": pyproject("fancy"),
            "fancy/__init__.py": f"def load(): ...\ndef {key}(): ...\n",
        },
    )

    fleet.refresh("app", "lib")

    stored = fleet.connection.serialize().lower()
    assert token.lower().encode() not in stored
    assert key.lower().encode() not in stored
    # What holds no secret is linked all the same, and what was masked is linked to nothing.
    assert {row[10] for row in fleet.dump()["cross"]} == {"fancy", "fancy.load"}
    fleet.close()


def test_sources_beyond_what_one_run_parses_are_read_by_the_next(
    graphs: GraphFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs.write("app", {**APP, "b.py": "import fancy\nfancy.load()\n"})
    graphs.refresh("lib", "app")
    complete = graphs.dump()
    fresh = GraphFleet.at(graphs.root)
    monkeypatch.setattr(graph_files, "MAX_RUN_MARKS", 1)

    projects = [fresh.project("lib"), fresh.project("app")]
    refresh_graphs(fresh.connection, projects, now=later)
    first = fresh.dump()
    again = refresh_graphs(fresh.connection, projects, now=later)
    last = refresh_graphs(fresh.connection, projects, now=later)

    # One source of each project a run: the first says that there is more, and links less.
    pending = {
        row[0]: json.loads(str(row[6])).get("GRAPH_SOURCES_PENDING") for row in first["repos"]
    }
    assert pending == {"app": 1, "lib": 1}
    assert len(first["cross"]) < len(complete["cross"])
    assert (again.changed, last.changed) == (True, False)
    assert fresh.dump() == complete
    fresh.connection.close()


def test_dense_sources_and_those_beyond_a_projects_bound_are_left_out_and_counted(
    graphs: GraphFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    dense = "x = 1\n" * (MAX_SOURCE_MARKS // 4 + 1)
    plain = "import fancy\nfancy.load()\n"
    files = {**APP, "dense.py": plain + dense, "zz.py": plain + "#" * 2_000}
    graphs.write("app", files)
    graphs.refresh("lib", "app")
    counts = {row[0]: json.loads(str(row[6])) for row in graphs.dump()["repos"]}
    users = {row[7] for row in graphs.dump()["cross"] if row[3] == "R3"}
    assert counts == {"app": {"GRAPH_SOURCES_LEFT_OUT": 1}, "lib": {}}
    assert users == {"app.py", "zz.py"}

    monkeypatch.setattr(graph_files, "MAX_PROJECT_SOURCE_BYTES", len(plain + dense) + 500)
    fresh = GraphFleet.at(graphs.root)
    projects = [fresh.project("lib"), fresh.project("app")]
    refresh_graphs(fresh.connection, projects, now=later)
    counts = {row[0]: json.loads(str(row[6])) for row in fresh.dump()["repos"]}
    users = {row[7] for row in fresh.dump()["cross"] if row[3] == "R3"}
    assert counts == {"app": {"GRAPH_SOURCES_LEFT_OUT": 2}, "lib": {}}
    assert users == {"app.py"}
    assert not refresh_graphs(fresh.connection, projects, now=later).changed
    fresh.connection.close()


def test_names_that_are_not_utf8_are_survived(graphs: GraphFleet) -> None:
    top = graphs.root / "app"
    for name in (b"\xff.py", b"requirements-\xfe.txt"):
        (top / os.fsdecode(name)).write_text("import fancy\n")
    (top / "packages" / os.fsdecode(b"\xfd")).mkdir(parents=True)
    (graphs.root / "app/package.json").write_text('{"workspaces": ["packages/*"]}')
    done = graphs.refresh("lib", "app")
    assert done.diagnostics == {}
    assert rules(graphs) == {"R1", "R2", "R3"}
