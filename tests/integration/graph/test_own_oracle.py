"""A graph of our own against judges: ``ast`` for definitions, the interpreter for names.

Packages that are installed with the product or its tests are read as projects. An edge to a
definition is judged where the module it starts in has an attribute of that name: it must be the
very object that the definition made. Where a module binds the name itself as well, the judge
takes that for a fault; those few are why not all agree.
"""

import ast
import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

from agentic_os.aggregate.graph.links.code import CodeSource, ProjectCode
from agentic_os.aggregate.graph.own.build import own_graph
from agentic_os.aggregate.graph.values import EXTRACTED, Graph
from agentic_os.code.reading import read_source

PACKAGES = ("yaml", "rich", "typer", "_pytest", "hypothesis")
LEAST_AGREEING = 0.98


def top_of(name: str) -> Path:
    return Path(inspect.getfile(importlib.import_module(name))).parent


def read(name: str) -> Graph:
    top = top_of(name)
    facts = {
        path.relative_to(top.parent).as_posix(): read_source(path.name, path.read_bytes())
        for path in top.rglob("*.py")
    }
    return own_graph(
        ProjectCode(
            project=name,
            folder=f"/fleet/{name}-checkout",
            remote=None,
            files=dict.fromkeys(facts, True),
            folders={},
            manifests=(),
            source=CodeSource(nodes=lambda _path: [], packages=list, facts=facts.get, stubs=list),
        )
    )


def module_of(path: str) -> ModuleType | None:
    if path.endswith("/__main__.py"):
        return None  # importing it starts the program
    try:
        return importlib.import_module(
            path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        )
    except Exception:  # noqa: BLE001 - what cannot be imported here judges nothing
        return None


@pytest.mark.parametrize("name", PACKAGES)
def test_every_definition_has_its_node(name: str) -> None:
    top = top_of(name)
    found = {
        (node.path, node.line, node.label.strip(".").partition("(")[0]) for node in read(name).nodes
    }
    written = {
        (path.relative_to(top.parent).as_posix(), node.lineno, node.name)
        for path in top.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    assert written - found == set()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PACKAGES)
def test_extracted_edges_lead_to_what_the_interpreter_finds(name: str) -> None:
    graph = read(name)
    agreed, refused = 0, []
    for edge in graph.edges:
        source, target = graph.nodes[edge.source], graph.nodes[edge.target]
        label = target.label.partition("(")[0]
        if edge.confidence != EXTRACTED or target.key != f"{target.path}:{label}":
            continue
        start, end = module_of(source.path), module_of(target.path)
        if hasattr(start, label) and hasattr(end, label):
            if getattr(start, label) is getattr(end, label):
                agreed += 1
            else:
                refused.append((edge.relation, source.path, edge.line, label, target.path))
    assert agreed > 200
    assert agreed >= LEAST_AGREEING * (agreed + len(refused)), refused
