"""Graphs of our own in a real fleet: made, followed, and given up for a graph file."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from agentic_os.aggregate.refresh import own_graphs
from agentic_os.aggregate.refresh.corpus import corpus_projects
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.tiers.graph.build import build_graphs
from agentic_os.tiers.graph.context import CodeGraph, code_graph
from agentic_os.tiers.graph.links import links, stats
from agentic_os.tiers.graph.near import find
from support.fleet.builder import FleetBuilder, descriptor
from support.fleet.git_repository import repository
from support.graph.code import pyproject

FILES = {
    "lib/pyproject.toml": pyproject("lib"),
    "lib/lib/__init__.py": "def load(): ...\n",
    "app/pyproject.toml": pyproject("app", "lib"),
    "app/app/__init__.py": "",
    "app/app/main.py": "from lib import load\n\ndef go():\n    load()\n",
    "app/node_modules/x/index.js": "export function hidden() {}\n",
    "plain/a.py": "def plain(): ...\n",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fleet = tmp_path / "fleet"
    for path, text in FILES.items():
        (fleet / path).parent.mkdir(parents=True, exist_ok=True)
        (fleet / path).write_text(text)
    for name, stack in (
        ("lib", "obsidian-graphify"),
        ("app", "obsidian-graphify"),
        ("plain", "auto"),
    ):
        config = fleet / name / ".agents/config.yaml"
        config.parent.mkdir(parents=True)
        config.write_text(descriptor(name, stack))
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"AGENTIC_OS_{name}_DIR", str(tmp_path / name.lower()))
    return fleet


def ask(root: Path) -> tuple[Mapping[str, str], set[str], list[tuple[str, str]]]:
    """Each project's status, the edges between projects, and where ``go`` is."""
    with open_workspace(Person.here(), [str(root)], sources=True) as workspace:
        graph: CodeGraph = code_graph(workspace)
        status = {
            item.project.rpartition("-")[0]: item.status for item in stats(graph).data.projects
        }
        edges = {
            f"{edge.rule} {edge.relation} {edge.confidence}" for edge in links(graph).data.edges
        }
        nodes = [
            (node.label, "" if node.place is None else f"{node.place.path}:{node.place.line}")
            for node in find(graph, "go").data.nodes
        ]
    return status, edges, nodes


def test_a_graph_is_made_followed_and_given_up(root: Path) -> None:
    assert ask(root)[0] == {"app": "missing", "lib": "missing"}

    built = build_graphs(Person.here(), [str(root)]).data.projects
    assert [(item.project.rpartition("-")[0], item.sources) for item in built] == [
        ("app", 2),
        ("lib", 1),
    ]
    status, edges, nodes = ask(root)
    assert status == {"app": "own", "lib": "own"}
    assert edges == {
        "R1 depends_on EXTRACTED",
        "R2 imports EXTRACTED",
        "R3 imports EXTRACTED",
        "R3 calls EXTRACTED",
    }
    assert nodes == [("go()", "app/main.py:3")]

    (root / "app/app/main.py").write_text("x = 1\n\n\ndef go(): ...\n")
    assert ask(root)[1:] == ({"R1 depends_on EXTRACTED"}, [("go()", "app/main.py:4")])

    (root / "app/graphify-out").mkdir()
    document = {"nodes": [{"id": "n", "label": "go()", "source_file": "app/main.py"}], "links": []}
    (root / "app/graphify-out/graph.json").write_text(json.dumps(document))
    status, _, nodes = ask(root)
    assert (status["app"], nodes) == ("current", [("go()", "app/main.py:None")])
    rebuilt = build_graphs(Person.here(), [str(root)]).data.projects
    assert [item.project.rpartition("-")[0] for item in rebuilt] == ["lib"]


def test_every_project_can_be_asked_for_and_stays(root: Path) -> None:
    built = build_graphs(Person.here(), [str(root)], everything=True).data.projects
    assert [item.project.rpartition("-")[0] for item in built] == ["app", "lib", "plain"]
    for _ in range(2):
        assert ask(root)[0] == {"app": "own", "lib": "own", "plain": "own"}


def test_nothing_is_written_below_a_project(root: Path) -> None:
    before = sorted(path for path in root.rglob("*"))
    build_graphs(Person.here(), [str(root)], everything=True)
    assert sorted(path for path in root.rglob("*")) == before


def test_graphs_that_were_committed_stay_when_the_rest_is_interrupted(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_workspace(Person.here(), [str(root)]):
        pass
    portions = own_graphs._portions
    monkeypatch.setattr(own_graphs, "PORTION_SOURCES", 1)

    def interrupted(own: dict[str, list[str]]) -> Iterator[dict[str, list[str]]]:
        yield next(portions(own))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(own_graphs, "_portions", interrupted)
        with pytest.raises(KeyboardInterrupt):
            build_graphs(Person.here(), [str(root)])
    assert ask(root)[0]["app"] == "own"
    assert ask(root)[0].get("lib") != "own"

    build_graphs(Person.here(), [str(root)])

    assert ask(root)[0]["lib"] == "own"
    assert ask(root)[1]


def test_a_project_that_was_taken_in_has_a_graph_and_the_person_none(
    fleet: FleetBuilder, places: Path
) -> None:
    repository(fleet.root / "taken", {"go.py": "def go():\n    return go\n"})
    kept = places / ".codex/memories"
    kept.mkdir(parents=True)
    (kept / "MEMORY.md").write_text("# Mine\n")
    (places / ".codex/secret.py").write_text("def secret(): ...\n")
    (places / "config").mkdir(exist_ok=True)
    (places / "config/projects.toml").write_text(
        f'[[root]]\npath = "{fleet.root}"\nadopt = true\n[harness_memory]\ncodex = true\n'
    )
    for everything in (False, True):
        built = build_graphs(Person.here(), (), everything=everything).data.projects
        assert [(item.project.rpartition("-")[0], item.sources) for item in built] == [("taken", 1)]
    with open_workspace(Person.here(), ()) as workspace:
        assert "@person" in {project.id for project in workspace.fleet.projects}
        assert "@person" not in {
            project.id for project in corpus_projects(workspace.fleet, everyone=True)
        }
