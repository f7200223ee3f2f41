"""``agentic-os graph``: what every command prints, where there is something and where not."""

import json
from pathlib import Path

import pytest

from support.fleet.builder import FleetBuilder
from support.graph.builder import GRAPH, graph_of
from support.graph.code import pyproject
from support.process.cli_call import call

LIB = {
    "pyproject.toml": pyproject("fancy"),
    "fancy/__init__.py": "def load(): ...\n\ndef load_all(): ...\n\ndef unused(): ...\n",
}
APP = {
    "pyproject.toml": pyproject("app", "fancy"),
    "app.py": "import fancy\n\ndef main():\n    fancy.load()\n\ndef alone(): ...\n",
    "other.py": "def load_all(): ...\n",
}
COLUMNS = {"find": 5, "neighbors": 7, "path": 7, "impact": 5}


def coded(fleet: FleetBuilder, name: str, files: dict[str, str]) -> Path:
    built = fleet.project(name, "obsidian-graphify")
    for path, text in files.items():
        built.write(path, text)
    return built.write(GRAPH, json.dumps(graph_of(files, externals=("os",))))


@pytest.fixture
def linked(fleet: FleetBuilder) -> FleetBuilder:
    coded(fleet, "lib", LIB)
    coded(fleet, "app", APP)
    return fleet


def ask(fleet: FleetBuilder, *words: str) -> tuple[int, list[list[str]], str]:
    done = call("graph", *words, "--root", fleet.root)
    return done.code, [line.split("\t") for line in done.text.splitlines()], done.words


def test_rows_name_project_file_line_and_whether_it_holds(linked: FleetBuilder) -> None:
    code, rows, _ = ask(linked, "find", "load")
    ((label, project, place, holds, node_id),) = rows
    assert (code, label, place, holds) == (0, "load()", "fancy/__init__.py:1", "yes")
    assert node_id.startswith(f"{project}::")

    code, rows, _ = ask(linked, "neighbors", "load", "--direction", "in")
    crossing = [row for row in rows if row[4]]
    assert {(row[1], row[4], row[5], row[6]) for row in crossing} == {
        ("calls", "R3", "app.py:4 -> fancy/__init__.py:1", "yes yes")
    }
    assert all(len(row) == COLUMNS["neighbors"] for row in rows)

    code, rows, words = ask(linked, "path", "app.py:main", "load")
    assert (code, len(rows), "1 hops" in words) == (0, 1, True)

    code, rows, words = ask(linked, "impact", "load")
    assert rows[0][:2] == ["1", "main()"]
    assert "depend on it, the nearest at 1" in words


def test_an_edit_is_seen_by_every_question(linked: FleetBuilder) -> None:
    ask(linked, "find", "load")
    target = linked.root / "lib/fancy/__init__.py"
    target.write_text("# moved\n" + target.read_text())

    _, found, _ = ask(linked, "find", "load")
    _, near, _ = ask(linked, "neighbors", "load")
    _, links, _ = ask(linked, "links", "--rule", "R3", "--no-near")
    _, unread, _ = ask(linked, "find", "load", "--no-check")

    assert [row[3] for row in found] == ["changed"]
    assert {row[6] for row in near if not row[4]} == {"changed"}
    assert [row[6] for row in links] == ["yes changed"]
    assert [row[3] for row in unread] == ["?"]


def test_limits_are_said(linked: FleetBuilder) -> None:
    for words, said in (
        (("find", "load_", "--limit", "1"), "2 found; --limit shows more"),
        (("neighbors", "app.py", "--limit", "1"), "more is connected; --limit shows more"),
        (("impact", "fancy/__init__.py", "--limit", "1"), "in all; --limit shows more"),
        (("links", "--limit", "1"), "edges; --limit shows more"),
    ):
        code, rows, stderr = ask(linked, *words)
        assert (code, said in stderr) == (0, True), (words, stderr)
        assert rows


def test_nothing_found_says_why(linked: FleetBuilder) -> None:
    code, rows, words = ask(linked, "find", "lod_all")
    assert (code, rows) == (0, [])
    assert "no node is called lod_all" in words
    assert "near names:\n  load_all() (" in words

    code, rows, words = ask(linked, "find", "zzzzqqqq")
    assert (code, rows, "near names" in words) == (0, [], False)

    code, rows, words = ask(linked, "impact", "lod_all")
    assert (code, rows) == (1, [])
    assert "GRAPH_NAME_UNKNOWN" in words
    assert "load_all()" in words

    code, rows, words = ask(linked, "impact", "load_all")
    assert (code, len(rows), "GRAPH_NAME_AMBIGUOUS" in words) == (1, 2, True)
    assert {row[2] for row in rows} == {"fancy/__init__.py:3", "other.py:1"}


def test_nothing_connected_says_why(linked: FleetBuilder) -> None:
    code, rows, words = ask(linked, "neighbors", "alone", "--direction", "out")
    assert (code, rows) == (0, [])
    assert "no edge leads there" in words

    _, rows, words = ask(linked, "neighbors", "load", "--relation", "flies")
    assert (rows, "GRAPH_RELATION_UNKNOWN" in words) == ([], True)

    code, rows, words = ask(linked, "path", "load", "app.py:main")
    assert (code, rows, "there is no path" in words) == (0, [], True)
    code, _, words = ask(linked, "path", "load", "app.py:main", "--undirected")
    assert (code, "1 hops" in words) == (0, True)
    code, _, words = ask(linked, "path", "load", "app.py:main", "--undirected", "--budget", "1")
    assert (code, "gave up after" in words) == (2, True)


def test_doubtful_edges_are_counted(linked: FleetBuilder) -> None:
    coded(linked, "twin", LIB)

    _, rows, words = ask(linked, "neighbors", "app.py:main", "--direction", "out")

    assert rows == []
    assert "AMBIGUOUS edges were not followed" in words


def test_nothing_linked_says_why(fleet: FleetBuilder) -> None:
    fleet.project("plain")
    code, rows, words = ask(fleet, "links")
    assert (code, rows) == (0, [])
    assert "needs two graphs; there are 0" in words
    assert "left out: GRAPH_NONE: fleet:" in words

    coded(fleet, "lib", LIB)
    assert "needs two graphs; there are 1" in ask(fleet, "links")[2]

    coded(fleet, "loner", {"pyproject.toml": pyproject("loner"), "x.py": "def x(): ...\n"})
    assert "none uses what another one provides" in ask(fleet, "links")[2]

    coded(
        fleet, "near", {"pyproject.toml": pyproject("near", "fancy"), "y.py": "import fancy.gone\n"}
    )
    code, rows, words = ask(fleet, "links", "--rule", "R2")
    assert "were nearly linked" in words
    assert rows[0][0] == "fancy.gone"
    assert ask(fleet, "links", "--rule", "R2", "--no-near")[1] == []
    assert ask(fleet, "links", "--rule", "R9")[0] == 64


def test_what_was_not_linked_is_listed_to_the_limit(fleet: FleetBuilder) -> None:
    coded(fleet, "lib", LIB)
    files = {"pyproject.toml": pyproject("near", "fancy")}
    files["y.py"] = "import fancy.gone\nimport fancy.lost\n"
    coded(fleet, "near", files)

    _, rows, words = ask(fleet, "links", "--rule", "R2", "--limit", "1")

    assert len(rows) == 1
    assert "2 were nearly linked; --limit shows more" in words


def test_statistics_and_analytics(linked: FleetBuilder) -> None:
    code, rows, _ = ask(linked, "stats")
    assert code == 0
    assert {row[0].rpartition("-")[0]: row[1] for row in rows[:2]} == {
        "app": "current",
        "lib": "current",
    }
    assert any(row[2:4] == ["calls", "R3"] for row in rows[2:])
    _, more, _ = ask(linked, "stats", "--analytics")
    assert len(more) > len(rows)
    assert any(row[0] == "load()" for row in more[len(rows) :])


@pytest.mark.parametrize(
    "words",
    [
        ("stats",),
        ("find", "load"),
        ("neighbors", "load"),
        ("path", "app.py:main", "load"),
        ("impact", "load"),
        ("links",),
        ("export",),
        ("export", "--format", "graphml"),
    ],
    ids=lambda words: "-".join(words[:3]),
)
def test_what_cannot_be_read_makes_every_answer_incomplete(
    linked: FleetBuilder, words: tuple[str, ...]
) -> None:
    complete = call("graph", *words, "--root", linked.root)
    broken = linked.project("broken", "obsidian-graphify")
    broken.write(GRAPH, "{")

    text = call("graph", *words, "--root", linked.root)
    document = call("graph", *words, "--root", linked.root, "--json")
    without = call("graph", *words, "--root", linked.root, "--project", "lib", "--project", "app")

    assert (complete.code, text.code, document.code, without.code) == (0, 2, 2, 0)
    assert "GRAPH_TRUNCATED" in text.words
    assert [item["code"] for item in document.document["omissions"]] == ["GRAPH_TRUNCATED"]
    assert document.document["error"]["code"] == "INCOMPLETE"
    assert without.text.splitlines()[0] == complete.text.splitlines()[0]


def test_a_project_that_cannot_be_read_is_reported_when_it_is_asked(linked: FleetBuilder) -> None:
    linked.project("odd", "obsidian-graphify").write(".agents/config.yaml", "a: [\n")

    fleet_wide = call("graph", "find", "load", "--root", linked.root)
    by_name = call("graph", "find", "load", "--root", linked.root, "--project", "odd")

    assert (fleet_wide.code, by_name.code) == (0, 2)
    assert "DESCRIPTOR_UNPARSEABLE" in fleet_wide.words
    assert "DESCRIPTOR_UNPARSEABLE" in by_name.words


def test_the_export_is_one_document_of_the_named_projects(linked: FleetBuilder) -> None:
    document = json.loads(call("graph", "export", "--root", linked.root).text)
    projects = {node["repo"].rpartition("-")[0] for node in document["nodes"] if "repo" in node}
    assert projects == {"app", "lib"}
    crossing = [link for link in document["links"] if link.get("context") == "cross_repo"]
    assert {link["rule"] for link in crossing} == {"R1", "R2", "R3"}

    done = call("graph", "export", "--root", linked.root, "--project", "lib")
    own = json.loads(done.text)
    assert {node["repo"].rpartition("-")[0] for node in own["nodes"] if "repo" in node} == {"lib"}
    assert not any(link.get("context") == "cross_repo" for link in own["links"])


@pytest.mark.parametrize(
    "words",
    [
        ("stats",),
        ("find", "load"),
        ("neighbors", "load"),
        ("path", "app.py:main", "load"),
        ("impact", "load"),
        ("links",),
        ("export",),
    ],
    ids="-".join,
)
def test_a_document_is_complete_where_every_graph_is(
    linked: FleetBuilder, words: tuple[str, ...]
) -> None:
    done = call("graph", *words, "--root", linked.root, "--json")

    assert done.code == 0
    assert done.document["schema"] == f"agentic-os/graph-{words[0]}/v1"
    assert done.document["omissions"] == []
    # The counts of statistics and of an export stand where other answers have their nodes.
    nodes, edges = (done.data.get(name) for name in ("nodes", "edges"))
    for node in nodes if isinstance(nodes, list) else ():
        assert node["place"] is None or node["place"]["holds"] is True
        assert node["project"]
    for edge in edges if isinstance(edges, list) else ():
        assert edge["evidence"]
        assert {place["holds"] for place in edge["evidence"]} == {True}
        assert all(place["project"] and place["line"] for place in edge["evidence"])


@pytest.mark.parametrize("words", [("neighbors", "x"), ("path", "x", "load"), ("impact", "x")])
def test_a_document_carries_the_error_of_a_name(
    linked: FleetBuilder, words: tuple[str, ...]
) -> None:
    done = call("graph", *words, "--root", linked.root, "--json")

    assert done.code == 1
    assert done.document["error"]["code"] == "GRAPH_NAME_UNKNOWN"
    assert done.data["outcome"] == "unknown"
