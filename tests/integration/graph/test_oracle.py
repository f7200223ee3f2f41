"""Every EXTRACTED symbol edge between real packages, checked against the running interpreter.

The interpreter is asked in its own words: the consumer's module is imported, the expression at
the edge's line is evaluated in the module's namespace, and the object's own file and line are
compared with where the edge ends. Recall goes the other way: every name that the consumer's
code uses and that evaluates to something defined in the provider must have an edge.
"""

import ast
import importlib
import inspect
import sqlite3
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from agentic_os.aggregate.graph.intake.refresh import refresh_graphs
from agentic_os.aggregate.graph.projects import GraphProject
from agentic_os.aggregate.graph.tables import GRAPH_DDL
from support.graph.graphify import installed_graphify, package_project

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


def module_at(path: str) -> ModuleType:
    parts = Path(path).relative_to("src").with_suffix("").parts
    return importlib.import_module(".".join(part for part in parts if part != "__init__"))


@cache
def classes_of(package: str) -> dict[str, list[tuple[str, int]]]:
    """Return every class statement of a package by name: its file and first line."""
    found: dict[str, list[tuple[str, int]]] = {}
    root = Path(importlib.import_module(package).__file__ or "").parent
    for file in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
                path = Path("src", package, file.relative_to(root)).as_posix()
                found.setdefault(node.name, []).append((path, first))
    return found


@cache
def origin(found: object, package: str) -> tuple[str, int] | None:
    """Return the file and first line of a class or function of a package.

    A package may rewrite ``__module__`` (anyio does); ``inspect`` then looks in the wrong file,
    and the package's only class of that name is meant.
    """
    found = inspect.unwrap(found) if callable(found) else found
    if inspect.isclass(found):
        if found.__module__.partition(".")[0] != package:
            return None
        named = classes_of(package).get(found.__name__, [])
        if len(named) == 1:
            return named[0]
        try:
            file, line = inspect.getsourcefile(found), inspect.getsourcelines(found)[1]
        except (TypeError, OSError):
            return None
    elif inspect.isfunction(found):
        file, line = found.__code__.co_filename, found.__code__.co_firstlineno
    else:
        return None
    parts = Path(file or "").parts
    if package not in parts:
        return None
    inner = parts[len(parts) - 1 - parts[::-1].index(package) :]
    return "/".join(("src", *inner)), line


def first_line(path: Path, line: int) -> int:
    """Return the first line, decorators included, of the definition at ``line``."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            if first <= line <= node.lineno:
                return first
    return line


def evaluated(dotted: str, module: ModuleType) -> object:
    """Follow a dotted name from a module's namespace to the first thing that is no module."""
    root, *chain = dotted.split(".")
    names = vars(module)
    # An import inside a function leaves no name in the module: ask the import itself.
    found: object = names[root] if root in names else importlib.import_module(root)
    for name in chain:
        if not inspect.ismodule(found):
            break
        found = getattr(found, name)
    return found


def imported(dotted: str) -> object:
    """Return what ``from module import name`` gives."""
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)


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


def local_names(source: str, path: str) -> dict[int, set[str]]:
    """Return, by line of each function, the names that are local to it."""
    found: dict[int, set[str]] = {}
    pending = [symtable.symtable(source, path, "exec")]
    while pending:
        table = pending.pop()
        if table.get_type() == "function":
            names = {
                item.get_name()
                for item in table.get_symbols()
                if item.is_local() and not item.is_imported()
            }
            found.setdefault(table.get_lineno(), set()).update(names)
        pending.extend(table.get_children())
    return found


def used_names(source: str, path: str) -> Iterator[tuple[str, int]]:
    """Yield every dotted name that is read at run time and is not local to its function."""
    locals_by_line = local_names(source, path)

    def visit(node: ast.AST, hidden: frozenset[str]) -> Iterator[tuple[str, int]]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            hidden |= frozenset(locals_by_line.get(node.lineno, ()))
        if isinstance(node, (ast.Name, ast.Attribute)):
            parts: list[str] = []
            inner: ast.AST = node
            while isinstance(inner, ast.Attribute):
                parts.insert(0, inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name):
                if isinstance(inner.ctx, ast.Load) and inner.id not in hidden:
                    yield ".".join([inner.id, *parts]), node.lineno
                return
        for child in ast.iter_child_nodes(node):
            yield from visit(child, hidden)

    yield from visit(ast.parse(source), frozenset())


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
