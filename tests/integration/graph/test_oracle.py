"""Every EXTRACTED symbol edge between real packages, checked against the running interpreter.

The interpreter is asked in its own words: the consumer's module is imported, the expression at
the edge's line is evaluated in the module's namespace, and the object's own file and line are
compared with where the edge ends. Recall goes the other way: every name that the consumer's
code uses and that evaluates to something defined in the provider must have an edge.
"""

import importlib
import inspect
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentic_os.aggregate.graph.intake.refresh import refresh_graphs
from agentic_os.aggregate.graph.projects import GraphProject
from agentic_os.aggregate.graph.tables import GRAPH_DDL
from support.graph.graphify import installed_graphify, package_project
from support.graph.interpreter import (
    evaluated,
    first_line,
    imported,
    module_at,
    origin,
    used_names,
)

pytestmark = [
    # Importing every module of other people's packages meets their deprecations.
    pytest.mark.filterwarnings("ignore"),
    # Graphify builds nine graphs first: a minute of one processor, many where it is shared.
    pytest.mark.timeout(1_200),
]

PAIRS = (
    ("httpx", "httpx", "httpcore", "httpcore"),
    ("starlette", "starlette", "anyio", "anyio"),
    ("jsonschema", "jsonschema", "referencing", "referencing"),
    ("httpcore", "httpcore", "h11", "h11"),
    ("uvicorn", "uvicorn", "h11", "h11"),
    ("import-linter", "importlinter", "grimp", "grimp"),
)


@dataclass(frozen=True)
class Edge:
    """One derived edge as the store has it."""

    consumer: str
    provider: str
    relation: str
    rule: str
    confidence: int
    path: str
    line: int
    provider_path: str
    provider_line: int
    detail: str
    target: str
    target_line: int


@pytest.fixture(scope="module")
def edges(tmp_path_factory: pytest.TempPathFactory) -> list[Edge]:
    tool = installed_graphify(tmp_path_factory.mktemp("graphify-home"))
    root = tmp_path_factory.mktemp("oracle")
    wanted: dict[str, tuple[str, set[str]]] = {}
    for consumer, package, provider, provided in PAIRS:
        wanted.setdefault(consumer, (package, set()))[1].add(provider)
        wanted.setdefault(provider, (provided, set()))
    projects = []
    for name, (package, needs) in sorted(wanted.items()):
        folder = package_project(root, name, package, dependencies=tuple(sorted(needs)))
        tool.build(folder)
        projects.append(
            GraphProject(id=name, name=name, folder=folder, graph_path="graphify-out/graph.json")
        )
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(GRAPH_DDL)
    assert refresh_graphs(connection, projects).diagnostics == {}
    rows = connection.execute(
        "SELECT consumer.project, provider.project, term.text, edge.rule, edge.conf,"
        " edge.consumer_path, edge.line, edge.provider_path, edge.provider_line, edge.detail,"
        " node.label, node.line"
        " FROM graph_cross AS edge"
        " JOIN graph_repo AS consumer ON consumer.rid = edge.src >> 24"
        " JOIN graph_repo AS provider ON provider.rid = edge.dst >> 24"
        " JOIN graph_term AS term ON term.tid = edge.rel"
        " JOIN graph_node AS node ON node.nid = edge.dst"
    ).fetchall()
    return [Edge(*row) for row in rows]


def package_of(provider: str) -> str:
    return next(item[3] for item in PAIRS if item[2] == provider)


def test_every_extracted_symbol_edge_is_what_the_interpreter_resolves(edges: list[Edge]) -> None:
    wrong = []
    checked: dict[str, int] = {}
    unchecked = []
    for edge in edges:
        if edge.confidence != 0 or edge.rule not in {"R3", "R3b"}:
            continue
        try:
            if edge.relation == "imports":
                found = imported(edge.detail)
            else:
                found = evaluated(edge.detail, module_at(edge.path))
            hash(found)
        except (ImportError, AttributeError, TypeError):
            unchecked.append(edge)
            continue
        package = package_of(edge.provider)
        where = origin(found, package)
        if where is None:
            # A constant or a typing alias: the interpreter knows no line; the name must be there.
            unchecked.append(edge)
            continue
        checked[f"{edge.consumer}->{edge.provider}"] = (
            checked.get(f"{edge.consumer}->{edge.provider}", 0) + 1
        )
        root = Path(importlib.import_module(package).__file__ or "").parent.parent
        ours = first_line(root / Path(edge.provider_path).relative_to("src"), edge.provider_line)
        if where != (edge.provider_path, ours):
            wrong.append((edge, where))
    assert wrong == []
    assert sum(count >= 5 for count in checked.values()) >= 3, checked
    assert len(unchecked) <= 0.25 * (len(unchecked) + sum(checked.values())), unchecked


def test_almost_everything_the_interpreter_resolves_has_an_edge(edges: list[Edge]) -> None:
    report = {}
    for consumer, package, provider, provided in PAIRS:
        have = {
            (edge.path, edge.line, edge.provider_path, edge.target.strip(".()"))
            for edge in edges
            if edge.consumer == consumer and edge.provider == provider and edge.confidence == 0
        }
        root = Path(importlib.import_module(package).__file__ or "").parent.parent
        expected = set()
        for file in sorted((root / package).rglob("*.py")):
            if {"tests", "benchmarks"} & set(file.parts):
                continue
            path = "src/" + file.relative_to(root).as_posix()
            try:
                module = module_at(path)
            except (ImportError, SystemExit):
                continue
            source = file.read_text()
            for dotted, line in used_names(source, path):
                root_name = dotted.partition(".")[0]
                if root_name not in vars(module) and root_name != provided:
                    continue
                try:
                    found = evaluated(dotted, module)
                    hash(found)
                except (AttributeError, TypeError):
                    continue
                where = origin(found, provided)
                if where is not None:
                    name = getattr(
                        inspect.unwrap(found) if callable(found) else found, "__name__", ""
                    )
                    expected.add((path, line, where[0], name))
        missing = sorted(expected - have)
        report[f"{consumer}->{provider}"] = (len(expected), len(missing), missing[:10])
    assert all(total for total, _, _ in report.values()), report
    for pair, (total, lost, examples) in report.items():
        assert lost <= 0.05 * total, (pair, total, lost, examples)
