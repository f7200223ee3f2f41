"""Every variant of graph.json, and every way of it being broken."""

import json
import tracemalloc

import pytest

from agentic_os.aggregate.graph.intake.paths import relative_path
from agentic_os.aggregate.graph.intake.reader import read_graph
from agentic_os.aggregate.graph.values import Graph
from agentic_os.errors import GraphError

NODE = {
    "id": "a",
    "label": "a()",
    "file_type": "code",
    "source_file": "x.py",
    "source_location": "L3",
}
OTHER = {
    "id": "b",
    "label": "b",
    "file_type": "code",
    "source_file": "x.py",
    "source_location": "L9",
}
EDGE = {
    "source": "a",
    "target": "b",
    "relation": "calls",
    "confidence": "EXTRACTED",
    "source_file": "x.py",
    "source_location": "L4",
}


def document(**more: object) -> dict[str, object]:
    return {"directed": False, "multigraph": False, "graph": {}, "nodes": [NODE, OTHER], **more}


def read(value: object) -> Graph:
    return read_graph(json.dumps(value).encode())


def test_links_and_edges_are_one_list_and_links_win() -> None:
    as_links, as_edges = read(document(links=[EDGE])), read(document(edges=[EDGE]))
    assert as_links == as_edges
    both = read(document(links=[EDGE], edges=[EDGE, EDGE]))
    assert both == as_links
    assert [(edge.source, edge.target, edge.relation) for edge in both.edges] == [(0, 1, "calls")]


def test_the_direction_on_disk_is_true_whatever_directed_says() -> None:
    for directed in (True, False, None, "no"):
        assert read(document(directed=directed, links=[EDGE])).edges[0].source == 0
    turned = {**EDGE, "source": "b", "target": "a", "_src": "a", "_tgt": "b"}
    assert read(document(links=[turned])) == read(document(links=[EDGE]))


def test_parallel_edges_are_kept() -> None:
    links = [EDGE, {**EDGE, "source_location": "L5"}, {**EDGE, "relation": "uses"}]
    assert len(read(document(links=links)).edges) == 3


def test_defaults_of_confidence_and_unknown_words() -> None:
    def judged(**more: object) -> tuple[str, float]:
        edge = {key: value for key, value in EDGE.items() if key != "confidence"}
        (found,) = read(document(links=[{**edge, **more}])).edges
        return found.confidence, found.score

    assert judged(confidence="EXTRACTED") == ("EXTRACTED", 1.0)
    assert judged(confidence="INFERRED") == ("INFERRED", 0.55)
    assert judged(confidence="AMBIGUOUS") == ("AMBIGUOUS", 0.2)
    assert judged(confidence="inferred", confidence_score=0.8) == ("INFERRED", 0.8)
    assert judged() == ("INFERRED", 0.55)
    assert judged(confidence="CERTAINLY") == ("AMBIGUOUS", 0.2)
    assert judged(confidence=7, confidence_score="high") == ("AMBIGUOUS", 0.2)
    assert judged(confidence="EXTRACTED", confidence_score=9) == ("EXTRACTED", 1.0)


@pytest.mark.parametrize(
    ("location", "line"),
    [
        ("L12", 12),
        ("L12-L20", 12),
        ("12", 12),
        (12, 12),
        ("", 0),
        (None, 0),
        ("page 3", 0),
        (True, 0),
        (-3, 0),
    ],
)
def test_locations(location: object, line: int) -> None:
    assert (
        read({"nodes": [{**NODE, "source_location": location}], "links": []}).nodes[0].line == line
    )


def test_stubs_flagged_and_unflagged_and_what_is_none() -> None:
    nodes = [
        {
            "id": "yaml",
            "label": "yaml",
            "external": True,
            "type": "external",
            "file_type": "concept",
            "source_file": "",
        },
        {
            "id": "list",
            "label": "List",
            "file_type": "code",
            "source_file": "",
            "source_location": "",
        },
        {
            "id": "old",
            "label": "old",
            "file_type": "concept",
            "source_file": "",
            "source_location": None,
        },
        {
            "id": "doc",
            "label": "d",
            "file_type": "document",
            "source_file": "",
            "source_url": "https://x",
        },
        {
            "id": "pkg_app",
            "label": "app",
            "type": "package",
            "ecosystem": "python",
            "source_file": "",
        },
        {"id": "paper", "label": "p", "file_type": "paper", "source_file": ""},
    ]
    found = read({"nodes": nodes, "links": []}).nodes
    assert [node.external for node in found] == [True, True, True, False, False, False]
    assert [node.package for node in found] == ["", "", "", "", "python", ""]


def test_hyperedges_in_both_places_and_both_spellings() -> None:
    one = {
        "id": "h",
        "label": "flow",
        "relation": "part_of",
        "nodes": ["a", "b", "zz"],
        "confidence": "INFERRED",
    }
    two = {"label": "other", "members": ["a", 7]}
    graph = read(document(links=[], hyperedges=[one, "no", {}], graph={"hyperedges": [two, one]}))
    assert [(item.key, item.label, item.members) for item in graph.hyperedges] == [
        ("h", "flow", (0, 1)),
        ("", "other", (0,)),
    ]
    assert graph.counts == {"GRAPH_HYPEREDGE_INVALID": 2, "GRAPH_MEMBER_UNKNOWN": 3}


def test_a_merged_file_of_one_repository_is_unprefixed_and_of_several_is_not() -> None:
    def merged(*tags: str) -> list[str]:
        nodes = [
            {**NODE, "id": f"{tag}::n{index}", "repo": tag, "local_id": f"n{index}"}
            for index, tag in enumerate(tags)
        ]
        links = [{**EDGE, "source": nodes[0]["id"], "target": nodes[-1]["id"]}]
        graph = read({"nodes": nodes, "links": links})
        assert graph.edges[0].target == len(tags) - 1
        return [node.key for node in graph.nodes]

    assert merged("one", "one") == ["n0", "n1"]
    assert merged("one", "two") == ["one::n0", "two::n1"]


def test_bad_items_cost_themselves_only_and_are_counted() -> None:
    nodes = [
        NODE,
        OTHER,
        {**NODE, "label": "twin"},
        "node",
        None,
        [1],
        {"id": 7, "label": "number"},
        {"id": None},
        {"label": "nameless"},
        {"id": ""},
        {"id": "c", "source_file": "/etc/passwd"},
        {"id": "d", "source_file": "../up.py"},
        {"id": "e", "source_file": "C:\\x.py", "label": None, "community": "seven"},
        {"id": "f", "source_file": ["x"], "source_location": {"line": 3}},
    ]
    links = [
        EDGE,
        {**EDGE, "target": "zz"},
        {**EDGE, "source": 7},
        {},
        "edge",
        {**EDGE, "target": None},
    ]
    graph = read({"nodes": nodes, "links": links})
    assert [node.key for node in graph.nodes] == ["a", "b", "c", "d", "e", "f"]
    assert {node.path for node in graph.nodes} == {"x.py", ""}
    assert graph.nodes[4].label == "e"
    assert len(graph.edges) == 1
    assert graph.counts == {
        "GRAPH_EDGE_DANGLING": 1,
        "GRAPH_EDGE_INVALID": 4,
        "GRAPH_NODE_DUPLICATE": 1,
        "GRAPH_NODE_ID": 4,
        "GRAPH_NODE_INVALID": 3,
        "GRAPH_PATH_REFUSED": 3,
    }


def test_versions_and_commit_are_taken_where_they_are() -> None:
    graph = read(
        document(
            links=[],
            graph={"schema_version": 1, "graphify_version": "0.9.96"},
            built_at_commit="abc",
        )
    )
    assert (graph.schema_version, graph.graphify_version, graph.built_at_commit) == (
        1,
        "0.9.96",
        "abc",
    )
    odd = read(document(links=[], graph=[1], built_at_commit=7))
    assert (odd.schema_version, odd.graphify_version, odd.built_at_commit) == (0, "", "")


@pytest.mark.parametrize("version", [-1, 10**6, 2**63, 10**40])
def test_versions_that_no_store_can_keep_are_none(version: int) -> None:
    graph = read(document(links=[], graph={"schema_version": version}))
    assert graph.schema_version == 0


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "GRAPH_EMPTY"),
        (b" \n\t ", "GRAPH_EMPTY"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "GRAPH_LFS_POINTER"),
        (b"<html>", "GRAPH_NOT_JSON"),
        (b"\xff\xfe{\x00}\x00", "GRAPH_NOT_JSON"),
        (b'{"nodes": [{"id": NaN}]}', "GRAPH_NOT_JSON"),
        (b'{"nodes": [{"id": "a"', "GRAPH_TRUNCATED"),
        (b"[1, 2]", "GRAPH_NOT_OBJECT"),
        (b'"text"', "GRAPH_NOT_OBJECT"),
        (b"null", "GRAPH_NOT_OBJECT"),
        (b"{}", "GRAPH_NO_NODES"),
        (b'{"nodes": {"a": 1}}', "GRAPH_NO_NODES"),
        (b'{"nodes": null, "links": []}', "GRAPH_NO_NODES"),
        (b'{"nodes": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "GRAPH_NESTED"),
        (b'{"x": ' + b'{"a":' * 200_000 + b"1" + b"}" * 200_000 + b"}", "GRAPH_NESTED"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_that_is_no_graph_has_a_code(data: bytes, code: str) -> None:
    with pytest.raises(GraphError) as caught:
        read_graph(data)
    assert caught.value.code == code
    assert "/" not in caught.value.message


def test_a_byte_order_mark_and_missing_edges_are_survived() -> None:
    graph = read_graph(b"\xef\xbb\xbf" + json.dumps({"nodes": [NODE]}).encode())
    assert (len(graph.nodes), graph.counts) == (1, {"GRAPH_EDGES_MISSING": 1})


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("a/b.py", "a/b.py"),
        ("./a//b.py", "a/b.py"),
        ("a\\b.py", "a/b.py"),
        ("/a.py", None),
        ("\\\\host\\a.py", None),
        ("~/a.py", None),
        ("c:/a.py", None),
        ("a/../b.py", None),
        ("a\nb.py", None),
        ("a\0b.py", None),
        ("./", None),
        ("x" * 5_000, None),
    ],
)
def test_paths(written: str, path: str | None) -> None:
    assert relative_path(written) == path


def test_memory_stays_within_four_times_the_file() -> None:
    nodes = [
        {**NODE, "id": f"module_function_{i}", "label": f"function_{i}()", "norm_label": "x" * 20}
        for i in range(8_000)
    ]
    links = [
        {
            **EDGE,
            "source": f"module_function_{i % 8_000}",
            "target": f"module_function_{i // 3}",
            "context": "call",
            "weight": 1.0,
        }
        for i in range(20_000)
    ]
    data = json.dumps(
        {
            "nodes": nodes,
            "links": [{**link, "source_location": f"L{i}"} for i, link in enumerate(links)],
        }
    ).encode()
    tracemalloc.start()
    try:
        graph = read_graph(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(graph.edges) == 20_000
    assert peak + len(data) <= 4 * len(data)
