"""Dotted names, who depends on what first, and why nothing is linked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_os.errors import UsageError
from agentic_os.tiers.graph.context import CodeGraph
from agentic_os.tiers.graph.links import links
from agentic_os.tiers.graph.near import find
from agentic_os.tiers.graph.paths import impact
from support.graph.builder import GraphFleet
from support.graph.code import pyproject

CLIENT = (
    "class Client:\n    def send(self): ...\n\n"
    "class AsyncClient:\n    def send(self): ...\n\n"
    "def get():\n    return Client()\n"
)
FLEET = {
    "httpx": {
        "pyproject.toml": pyproject("httpx"),
        "httpx/__init__.py": "from httpx._client import AsyncClient, Client, get\n",
        "httpx/_client.py": CLIENT,
        "tests/test_client.py": "from httpx import Client\n\ndef test(): Client()\n",
    },
    "shop": {
        "pyproject.toml": pyproject("shop", "httpx"),
        "shop/__init__.py": "",
        "shop/ask.py": "from httpx import Client\n\ndef ask():\n    return Client()\n",
        "tests/test_ask.py": "from httpx import Client\n\ndef test_ask():\n    Client()\n",
        "docs/example.py": "from httpx import Client\n\ndef shown():\n    Client()\n",
    },
    "alone": {
        "pyproject.toml": pyproject("alone", "numpy", "attrs"),
        "alone/__init__.py": "import numpy\n",
    },
    "silent": {"a.py": "x = 1\n"},
}


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[CodeGraph]:
    fleet = GraphFleet.at(tmp_path / "fleet")
    for name, files in FLEET.items():
        fleet.write(name, files)
    fleet.refresh(*FLEET)
    yield CodeGraph(fleet.connection, {})
    fleet.close()


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("Client.send", [2]),
        ("AsyncClient.send", [5]),
        ("httpx.Client.send", [2]),
        ("httpx._client.AsyncClient.send()", [5]),
        ("httpx.Client", [1]),
        ("httpx.get", [7]),
        ("_client.get", [7]),
        ("httpx.send", []),
        ("other.Client.send", []),
        ("Client.httpx.send", []),
        ("Server.send", []),
    ],
)
def test_a_dotted_name_means_a_member_of_a_class_in_a_module(
    graph: CodeGraph, name: str, lines: list[int]
) -> None:
    found = find(graph, name).data
    assert [node.place.line for node in found.nodes if node.place is not None] == lines
    assert (found.how == "exact") == bool(lines)


def test_other_projects_come_first_and_product_code_before_tests_and_documents(
    graph: CodeGraph,
) -> None:
    data = impact(graph, "httpx.Client").data
    shown = [(node.project, node.place.path) for node in data.nodes if node.place is not None]
    assert shown == sorted(
        shown, key=lambda item: (item[0] != "shop", item[1].startswith(("tests/", "docs/")))
    )
    assert [path for project, path in shown if project == "shop"][-1].startswith("docs/")
    assert data.roles == {"document": 2, "product": data.total - 4, "test": 2}


def test_a_role_limits_what_is_shown_and_not_what_is_counted(graph: CodeGraph) -> None:
    data = impact(graph, "httpx.Client", roles=("test",)).data
    assert {node.place.path for node in data.nodes if node.place is not None} == {
        "tests/test_ask.py"
    }
    assert data.total == impact(graph, "httpx.Client").data.total
    with pytest.raises(UsageError, match="no role nonsense"):
        impact(graph, "httpx.Client", roles=("nonsense",))


def test_each_edge_says_what_its_file_is_for(graph: CodeGraph) -> None:
    data = links(graph).data
    assert {edge.role for edge in data.edges} == {"product", "test", "document"}
    assert data.edges[0].role == "product"
    assert sum(data.roles.values()) == data.total
    only = links(graph, roles=("document",)).data
    assert {place.path for edge in only.edges for place in edge.evidence[:1]} == {"docs/example.py"}
    assert only.roles == data.roles


def test_a_project_that_is_linked_to_none_says_why(graph: CodeGraph) -> None:
    reasons = {item.project: item.reason for item in links(graph).data.unlinked}
    assert set(reasons) == {"alone", "silent"}
    assert reasons["alone"].startswith("2 declared dependencies, none of them a package of another")
    assert "no other project uses alone" in reasons["alone"]
    assert reasons["silent"].startswith("no manifest declares a dependency")
    named = links(graph, projects=frozenset({"silent"})).data
    assert [item.project for item in named.unlinked] == ["silent"]
    assert links(graph, projects=frozenset({"shop"})).data.unlinked == ()


def test_one_graph_alone_can_be_linked_to_none(tmp_path: Path) -> None:
    fleet = GraphFleet.at(tmp_path / "one")
    fleet.write("silent", FLEET["silent"])
    fleet.refresh("silent")
    (item,) = links(CodeGraph(fleet.connection, {})).data.unlinked
    assert item.reason == "no other project has a code graph"
    fleet.close()
