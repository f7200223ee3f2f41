"""A graph of our own, made from sources in memory."""

import json
from dataclasses import replace

import pytest

from agentic_os.aggregate.graph.own.build import own_graph
from agentic_os.aggregate.graph.values import Graph
from support.fleet.languages import SOURCES
from support.graph.code import CodeBuilder, pyproject


def graph_of(files: dict[str, str]) -> Graph:
    return own_graph(CodeBuilder().project("p", files))


def shown(graph: Graph, *relations: str) -> set[str]:
    labels = [node.label for node in graph.nodes]
    return {
        f"{labels[edge.source]} -{edge.relation}-> {labels[edge.target]} {edge.confidence}"
        for edge in graph.edges
        if not relations or edge.relation in relations
    }


PYTHON = {
    "pyproject.toml": pyproject("p"),
    "app/__init__.py": "from .core import Base\n",
    "app/core.py": (
        "import os\nimport yaml\n\n"
        "class Base:\n    def run(self):\n        return self.step()\n\n    def step(self): ...\n\n"
        "def make():\n    return Base()\n\n"
        "def loop(make):\n    return make()\n"
    ),
    "app/more.py": (
        "from app import Base\nfrom app.core import make as build\nfrom . import core\n\n"
        "class Mine(Base):\n    def run(self):\n        build()\n        core.make()\n"
    ),
}


def test_python_files_definitions_and_what_they_use() -> None:
    graph = graph_of(PYTHON)
    assert [node.label for node in graph.nodes if node.path == "app/core.py"] == [
        "core.py",
        "Base",
        ".run()",
        ".step()",
        "make()",
        "loop()",
    ]
    assert shown(graph, "contains", "method") == {
        "core.py -contains-> Base EXTRACTED",
        "Base -method-> .run() EXTRACTED",
        "Base -method-> .step() EXTRACTED",
        "core.py -contains-> make() EXTRACTED",
        "core.py -contains-> loop() EXTRACTED",
        "more.py -contains-> Mine EXTRACTED",
        "Mine -method-> .run() EXTRACTED",
    }
    assert shown(graph, "calls", "inherits") == {
        ".run() -calls-> .step() INFERRED",
        "make() -calls-> Base EXTRACTED",
        ".run() -calls-> make() EXTRACTED",
        "Mine -inherits-> Base EXTRACTED",
    }
    assert shown(graph, "imports") == {
        "__init__.py -imports-> core.py EXTRACTED",
        "__init__.py -imports-> Base EXTRACTED",
        "core.py -imports-> os EXTRACTED",
        "core.py -imports-> yaml EXTRACTED",
        "more.py -imports-> __init__.py EXTRACTED",
        "more.py -imports-> Base EXTRACTED",
        "more.py -imports-> core.py EXTRACTED",
        "more.py -imports-> make() EXTRACTED",
    }
    assert {node.label for node in graph.nodes if node.external} == {"os", "yaml"}


def test_a_name_that_is_bound_twice_or_is_a_parameter_is_not_followed() -> None:
    graph = graph_of(
        {
            "a.py": "def f(): ...\nf = wrap(f)\n\ndef g(): ...\n\ndef use(g):\n    f()\n    g()\n"
            "\ndef twice(): ...\n\ndef twice(): ...\n\ndef other():\n    twice()\n"
        }
    )
    assert shown(graph, "calls", "references") == set()


def test_a_relative_import_of_a_file_without_a_package_leads_nowhere() -> None:
    graph = graph_of({"helper.py": "def f(): ...\n", "tests/test_a.py": "from .helper import f\n"})
    assert shown(graph, "imports") == set()


def test_scripts_follow_relative_imports_and_exports() -> None:
    graph = graph_of(
        {
            "package.json": json.dumps({"name": "p"}),
            "src/a.ts": "export function load() {}\nexport const quick = () => load();\n",
            "src/index.ts": "export * from './a';\n",
            "src/b.ts": (
                "import { load } from './index';\nimport * as a from './a';\n"
                "import x from 'left-pad';\n"
                "class Box { open() { load(); a.quick(); } }\n"
            ),
        }
    )
    assert shown(graph, "calls") == {
        "quick() -calls-> load() EXTRACTED",
        ".open() -calls-> load() EXTRACTED",
        ".open() -calls-> quick() EXTRACTED",
    }
    assert "b.ts -imports-> index.ts EXTRACTED" in shown(graph)
    assert "b.ts -imports-> left-pad EXTRACTED" in shown(graph)


def test_go_packages_of_the_own_module() -> None:
    graph = graph_of(
        {
            "go.mod": "module example.com/p\n",
            "main.go": 'package main\n\nimport (\n\t"fmt"\n\t"example.com/p/lib"\n)\n\n'
            "func main() { fmt.Println(lib.Open()) }\n",
            "lib/lib.go": "package lib\n\ntype Box struct{}\n\nfunc (b Box) Close() {}\n\n"
            "func Open() Box { return Box{} }\n",
        }
    )
    assert shown(graph, "calls") == {"main() -calls-> Open() EXTRACTED"}
    assert {"main.go -imports-> lib.go EXTRACTED", "main.go -imports-> fmt EXTRACTED"} <= shown(
        graph
    )
    assert "lib.go -contains-> .Close() EXTRACTED" in shown(graph)


def test_the_graph_does_not_depend_on_the_order_of_files() -> None:
    code = CodeBuilder().project("p", PYTHON)
    backwards = replace(code, files=dict(reversed(code.files.items())))
    assert own_graph(backwards) == own_graph(code)


def test_a_cycle_of_imports_ends() -> None:
    graph = graph_of(
        {"pyproject.toml": pyproject("p"), "a.py": "from b import x\n", "b.py": "from a import x\n"}
    )
    assert {"a.py -imports-> b.py EXTRACTED", "b.py -imports-> a.py EXTRACTED"} == shown(graph)


GO_PACKAGE = {
    "go.mod": "module example.com/p\n",
    "box.go": (
        "package p\n\ntype Box struct{ Lid string }\n\nvar Lid = limit()\n\n"
        "func open(b Box) Box {\n\tlimit := 1\n\t_ = limit\n\treturn Box{Lid: b.Lid}\n}\n"
    ),
    "use.go": (
        "package p\n\nfunc Use() {\n\topen(Box{})\n\tLid.Close()\n\tlen(nil)\n}\n\n"
        "func shadow(open func()) { open() }\n\nfunc generic[Box any](x Box) Box { return x }\n"
    ),
    "limit_linux.go": "package p\n\nfunc limit() int { return 1 }\n",
    "limit_windows.go": "package p\n\nfunc limit() int { return 2 }\n",
    "use_test.go": "package p_test\n\nfunc open() {}\n\nfunc TestIt() { open() }\n",
}


def test_files_of_one_go_package_use_each_other() -> None:
    graph = graph_of(GO_PACKAGE)
    assert shown(graph, "calls", "references") == {
        "Use() -calls-> open() EXTRACTED",
        "Use() -references-> Box EXTRACTED",
        "Use() -references-> Lid EXTRACTED",
        "open() -references-> Box EXTRACTED",
        "Lid -calls-> limit() AMBIGUOUS",
        "TestIt() -calls-> open() EXTRACTED",
    }
    called = {
        (graph.nodes[edge.source].label, graph.nodes[edge.target].path)
        for edge in graph.edges
        if edge.relation == "calls"
    }
    assert called == {
        ("Use()", "box.go"),
        ("Lid", "limit_linux.go"),
        ("Lid", "limit_windows.go"),
        ("TestIt()", "use_test.go"),
    }


@pytest.mark.parametrize("language", sorted(SOURCES))
def test_a_language_of_the_table_has_files_definitions_and_imports(language: str) -> None:
    source = SOURCES[language]
    name = source.path.rpartition("/")[2]
    files = {source.path: source.text}
    if source.beside:
        files[source.beside] = ""
    graph = graph_of(files)
    nodes = {node.key for node in graph.nodes if node.path == source.path}
    assert len(nodes) == len(source.symbols) + 1
    held = {edge.target for edge in graph.edges if edge.relation in {"contains", "method"}}
    assert len(held) == len(source.symbols)
    labels = [node.label for node in graph.nodes]
    taken = {
        labels[edge.target]: edge.confidence
        for edge in graph.edges
        if edge.relation == "imports" and labels[edge.source] == name
    }
    if source.beside:
        beside = source.beside.rpartition("/")[2]
        assert taken.pop(beside) == ("EXTRACTED" if source.sure else "INFERRED")
    outside = [one for one in source.imports if not one.startswith("./")]
    assert set(taken.values()) <= {"EXTRACTED"}
    assert set(taken) <= set(outside)
