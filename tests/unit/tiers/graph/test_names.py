"""Names in the graph: scopes, bounds, near spellings, and what is said where nothing is found."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_os.errors import UsageError
from agentic_os.tiers.graph import context as graph_context
from agentic_os.tiers.graph import names as graph_names
from agentic_os.tiers.graph import views as graph_views
from agentic_os.tiers.graph.context import CodeGraph, GraphFolder
from agentic_os.tiers.graph.links import links, stats
from agentic_os.tiers.graph.near import find, neighbors
from agentic_os.tiers.graph.paths import path
from support.graph.builder import GraphFleet, graph_of

FILES = {
    "one": {"pkg/__init__.py": "def configure(): ...\n", "pkg/deep/__init__.py": "x = 1\n"},
    "two": {"pkg/__init__.py": "def configure(): ...\n\ndef configure_all(): ...\n"},
}


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[GraphFleet]:
    built = GraphFleet.at(tmp_path / "fleet")
    for name, files in FILES.items():
        built.write(name, files, externals=("os",))
    built.refresh(*FILES)
    yield built
    built.connection.close()


@pytest.fixture
def graph(fleet: GraphFleet) -> CodeGraph:
    return CodeGraph(
        fleet.connection, {name: GraphFolder(folder=fleet.root / name) for name in FILES}
    )


def only(*names: str) -> frozenset[str]:
    return frozenset(names)


def test_a_scope_binds_ids_paths_and_names_alike(graph: CodeGraph) -> None:
    for name, found in (
        ("one::pkg/__init__.py:configure", ["one"]),
        ("one::configure", ["one"]),
        ("pkg/__init__.py:configure", ["one", "two"]),
        ("__init__.py", ["one", "two", "one"]),
        ("configure", ["one", "two"]),
        ("onfigur", ["one", "two", "two"]),
    ):
        everywhere = find(graph, name).data.nodes
        scoped = find(graph, name, projects=only("two")).data.nodes
        assert sorted(node.project or "" for node in everywhere) == sorted(found), name
        assert [node.project for node in scoped] == ["two"] * found.count("two"), name


def test_a_scope_is_applied_before_a_bound_cuts(
    graph: CodeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_names, "MAX_MATCHES_ENTRIES", 1)

    everywhere = find(graph, "configure")
    scoped = find(graph, "configure", projects=only("two"))

    assert [item.code for item in everywhere.omissions] == ["GRAPH_MATCHES_CUT"]
    assert len(everywhere.data.nodes) == 1
    assert [node.project for node in scoped.data.nodes] == ["two"]
    assert scoped.omissions == ()


def test_a_part_is_found_among_many_that_share_its_grams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = GraphFleet.at(tmp_path / "grams")
    names = ["abc_bcd_cde", "cde_abc_bcd", "x_abcde"]
    fleet.write("p", {"a.py": "".join(f"def {name}(): ...\n" for name in names)})
    fleet.refresh("p")
    monkeypatch.setattr(graph_names, "MAX_MATCHES_ENTRIES", 1)

    answer = find(CodeGraph(fleet.connection, {}), "abcde")

    assert [node.label for node in answer.data.nodes] == ["x_abcde()"]
    assert answer.omissions == ()
    fleet.connection.close()


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("configrue", ["configure()", "configure()"]),
        ("confgure", ["configure()", "configure()"]),
        ("configure_al", []),
        ("config_all", ["configure_all()"]),
        ("zzconfigurezz", []),
        ("ab", []),
        ("src/app.py:cofigure_all", ["configure_all()"]),
    ],
)
def test_names_spelled_nearly_so_are_offered(graph: CodeGraph, name: str, near: list[str]) -> None:
    data = find(graph, name).data
    assert [node.label for node in data.near][: len(near)] == near
    assert not near or data.total == 0
    if data.total == 0:
        assert neighbors(graph, name).data.candidates == data.near


def test_a_fleet_without_graphs_says_so(tmp_path: Path) -> None:
    fleet = GraphFleet.at(tmp_path)
    empty = CodeGraph(fleet.connection, {})

    answers = (
        find(empty, "x"),
        links(empty),
        stats(empty),
        neighbors(empty, "x", projects=only("p")),
    )

    for answer in answers:
        assert {(item.code, item.scope) for item in answer.omissions} == {("GRAPH_NONE", "fleet")}
        assert not answer.incomplete
    fleet.close()


def test_relations_that_no_graph_has_are_said(graph: CodeGraph) -> None:
    for answer in (
        neighbors(graph, "configure_all", relations=("flies", "contains", "flies")),
        path(graph, "configure_all", "one::configure", relations=("flies", "contains")),
    ):
        (omission,) = answer.omissions
        assert (omission.code, "flies" in omission.reason) == ("GRAPH_RELATION_UNKNOWN", True)


def test_rules_are_named_as_they_are(graph: CodeGraph) -> None:
    with pytest.raises(UsageError, match="there is no rule R9"):
        links(graph, rules=("R9",))
    assert links(graph, rules=("R1",)).data.total == 0


# -- whether a line holds --------------------------------------------------------------------------


def test_a_line_holds_to_the_bytes_of_the_build_whatever_was_read_since(
    fleet: GraphFleet, graph: CodeGraph
) -> None:
    def held() -> bool | None:
        place = find(graph, "configure_all").data.nodes[0].place
        assert place is not None
        return place.holds

    target = fleet.root / "two/pkg/__init__.py"
    before = target.read_text()
    assert held() is True
    target.write_text("# moved\n" + before)
    fleet.refresh(*FILES)
    assert held() is False
    (fleet.root / "two/pyproject.toml").write_text('[project]\nname = "two"\n')
    fleet.refresh(*FILES)
    assert held() is False

    # A graph that was built again is held to what it was built from.
    document = graph_of({"pkg/__init__.py": target.read_text()})
    fleet.graph("two", document)
    fleet.refresh(*FILES)
    assert held() is True


def test_graphifys_own_record_of_the_build_is_what_counts(
    fleet: GraphFleet, graph: CodeGraph
) -> None:
    def held() -> bool | None:
        place = find(graph, "configure_all").data.nodes[0].place
        assert place is not None
        return place.holds

    data = (fleet.root / "two/pkg/__init__.py").read_bytes()
    record = fleet.root / "two/graphify-out/manifest.json"
    for digest, holds in ((hashlib.md5(data).hexdigest(), True), ("0" * 32, False)):  # noqa: S324
        record.write_text(json.dumps({"pkg/__init__.py": {"ast_hash": digest}}))
        fleet.graph("two", {**graph_of(FILES["two"]), "built_at_commit": digest})
        fleet.refresh(*FILES)
        assert held() is holds

    # A file that nobody ever read has nothing to be held to.
    fleet.graph("two", {"nodes": [{"id": "configure_all", "source_file": "gone.py"}], "links": []})
    fleet.refresh(*FILES)
    assert held() is None


def test_what_is_too_large_or_too_many_to_look_at_is_not_said_to_have_changed(
    fleet: GraphFleet, graph: CodeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentic_os.aggregate.graph.holds.MAX_CHECKED_BYTES", 5)
    assert {node.place.holds for node in find(graph, "configure").data.nodes if node.place} == {
        None
    }
    monkeypatch.undo()

    monkeypatch.setattr(graph_views, "MAX_CHECKED_FILES", 1)
    answer = find(graph, "configure")
    assert [node.place.holds for node in answer.data.nodes if node.place] == [True, None]
    assert [(item.code, item.count) for item in answer.omissions] == [("FILES_NOT_CHECKED", 1)]
    monkeypatch.undo()

    gone = CodeGraph(fleet.connection, {"one": GraphFolder(folder=fleet.root / "nowhere")})
    assert {node.place.holds for node in find(gone, "configure").data.nodes if node.place} == {None}


def test_an_external_name_is_shown_without_a_place(graph: CodeGraph) -> None:
    data = neighbors(graph, "two::pkg/__init__.py", externals=True).data
    (external,) = (node for node in data.nodes if node.external)
    assert (external.id, external.label, external.project, external.place) == (
        "external::os",
        "os",
        None,
        None,
    )


def test_candidates_are_bounded(graph: CodeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_context, "MAX_CANDIDATES_ENTRIES", 1)
    assert len(neighbors(graph, "configure").data.candidates) == 1
