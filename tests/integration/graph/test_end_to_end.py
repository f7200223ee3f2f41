"""Two real packages, the real Graphify, the command line: a path that no merge finds.

PyYAML and a small project that imports it. ``graphify merge-graphs`` on the two graphs gives no
edge between them and no path; the union has both.
"""

import json
import os
from pathlib import Path

import pytest

from support.fleet.builder import FleetBuilder
from support.graph.graphify import OLD_VERSIONS, Graphify, installed_graphify, package_project
from support.process.cli_process import run

READING = '''"""Reads settings."""

import json

import yaml
from yaml import SafeLoader, YAMLError


class Reader(SafeLoader):
    """A reader."""


def read_settings(path):
    """Read."""
    with open(path) as handle:
        try:
            return yaml.safe_load(handle)
        except YAMLError:
            return json.loads("{}")
'''
CLI = """from confy.reading import read_settings


def main():
    print(read_settings("x.yaml"))
"""


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Graphify:
    return installed_graphify(tmp_path_factory.mktemp("graphify-home"))


@pytest.fixture(scope="module")
def root(tool: Graphify, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fleet")
    fleet = FleetBuilder(root=root)
    package_project(root, "PyYAML", "yaml")
    fleet.project("PyYAML", "obsidian-graphify")
    confy = fleet.project("confy", "obsidian-graphify")
    confy.write(
        "pyproject.toml",
        '[project]\nname = "confy"\ndependencies = ["pyyaml>=6"]\n'
        '[project.scripts]\nconfy = "confy.cli:main"\n',
    )
    confy.write("src/confy/__init__.py", "")
    confy.write("src/confy/reading.py", READING)
    confy.write("src/confy/cli.py", CLI)
    for name in ("PyYAML", "confy"):
        tool.build(root / name)
    fleet.project("plain", "auto")
    return root


def ask(root: Path, *words: str, code: int = 0) -> dict[str, object]:
    done = run(*words, "--root", str(root), "--json")
    assert done.code == code, done.words
    document = done.document
    assert isinstance(document, dict)
    return document


def test_graphify_merges_the_two_without_an_edge_between_them(
    tool: Graphify, root: Path, tmp_path: Path
) -> None:
    merged = tmp_path / "merged.json"
    graphs = [root / name / "graphify-out/graph.json" for name in ("PyYAML", "confy")]
    done = tool.run("merge-graphs", *graphs, "--out", merged)
    assert merged.is_file(), done.stdout + done.stderr
    document = json.loads(merged.read_text())
    repos = {node["id"]: node.get("repo") for node in document["nodes"]}
    between = [
        link
        for link in document["links"]
        if repos[link["source"]]
        and repos[link["target"]]
        and repos[link["source"]] != repos[link["target"]]
    ]
    assert between == []
    found = tool.run("path", "read_settings()", "safe_load()", "--graph", merged)
    assert "No directed path found" in found.stdout, found.stdout + found.stderr


def test_the_union_has_the_true_path(root: Path) -> None:
    document = ask(root, "graph", "path", "src/confy/cli.py:main", "safe_load")
    data = document["data"]
    assert isinstance(data, dict)
    assert data["outcome"] == "found"
    assert [node["label"] for node in data["nodes"]] == ["main()", "read_settings()", "safe_load()"]
    crossing = data["edges"][-1]
    assert (crossing["rule"], crossing["confidence"], crossing["relation"]) == (
        "R3",
        "EXTRACTED",
        "calls",
    )
    line = READING.splitlines().index("            return yaml.safe_load(handle)") + 1
    consumer, provider = crossing["evidence"]
    assert (consumer["path"], consumer["line"], consumer["holds"]) == (
        "src/confy/reading.py",
        line,
        True,
    )
    target = (root / "PyYAML" / provider["path"]).read_text().splitlines()[provider["line"] - 1]
    assert target.startswith("def safe_load(")


def test_impact_finds_who_depends_on_the_library(root: Path) -> None:
    data = ask(root, "graph", "impact", "safe_load")["data"]
    assert isinstance(data, dict)
    reached = {node["label"]: node["distance"] for node in data["nodes"]}
    assert reached["read_settings()"] == 1
    assert reached["main()"] == 2


def test_the_commands_answer_in_words_too(root: Path) -> None:
    places = ("--root", str(root))
    links = run("graph", "links", *places)
    assert links.code == 0
    assert "depends_on" in links.text
    found = run("graph", "find", "safe_lo", *places)
    assert "safe_load()" in found.text
    near = run("graph", "neighbors", "safe_load", "--direction", "in", *places)
    assert "read_settings()" in near.text
    several = run("graph", "neighbors", "__init__", *places)
    assert (several.code, "GRAPH_NAME_AMBIGUOUS" in several.words) == (1, True)
    assert "pyyaml-" in several.text
    unknown = run("graph", "impact", "no_such_thing_at_all", *places)
    assert (unknown.code, "GRAPH_NAME_UNKNOWN" in unknown.words) == (1, True)
    stats = run("graph", "stats", "--analytics", *places)
    assert "pyyaml-" in stats.text
    nowhere = run("graph", "path", "safe_load", "src/confy/cli.py:main", *places)
    assert (nowhere.code, "no path" in nowhere.words) == (0, True)
    missing = run("graph", "path", "main", "load", "--project", "no-such-project", *places)
    assert missing.code == 1


def test_graphify_reads_the_export_back_and_finds_the_path_in_it(
    tool: Graphify, root: Path, tmp_path: Path
) -> None:
    done = run("graph", "export", "--root", str(root))
    export = tmp_path / "union.json"
    export.write_bytes(done.stdout)
    found = tool.run("path", "read_settings()", "safe_load()", "--graph", export)
    assert "1 hops" in found.stdout, found.stdout + found.stderr


def test_an_edit_shows_in_the_next_answer(root: Path) -> None:
    target = root / "confy/src/confy/reading.py"
    before = target.read_text()
    try:
        target.write_text("# moved\n" + before)
        data = ask(root, "graph", "path", "src/confy/cli.py:main", "safe_load")["data"]
        assert isinstance(data, dict)
        consumer, provider = data["edges"][-1]["evidence"]
        assert (consumer["holds"], provider["holds"]) == (False, True)
    finally:
        target.write_text(before)


@pytest.fixture(scope="module")
def old_graphs(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The small project's graph as older releases write it."""
    found = {}
    for version in OLD_VERSIONS:
        old = installed_graphify(tmp_path_factory.mktemp(f"home-{version}"), version)
        copy = tmp_path_factory.mktemp(f"old-{version}") / "confy"
        for path in (
            "pyproject.toml",
            "src/confy/__init__.py",
            "src/confy/reading.py",
            "src/confy/cli.py",
        ):
            target = copy / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((root / "confy" / path).read_bytes())
        done = old.run("update", copy)
        graph = copy / "graphify-out/graph.json"
        assert graph.is_file(), done.stdout + done.stderr
        found[version] = graph
    return found


@pytest.mark.services
@pytest.mark.parametrize("version", OLD_VERSIONS)
def test_graphs_of_older_releases_are_linked_as_well(
    root: Path, old_graphs: dict[str, Path], version: str
) -> None:
    place = root / "confy/graphify-out/graph.json"
    before = place.read_bytes()
    try:
        place.write_bytes(old_graphs[version].read_bytes())
        os.utime(place)
        data = ask(root, "graph", "path", "src/confy/cli.py:main", "safe_load")["data"]
        assert isinstance(data, dict)
        assert data["outcome"] == "found", version
        assert data["edges"][-1]["rule"] == "R3"
    finally:
        place.write_bytes(before)
