"""What the running interpreter says of names: the judge of edges between installed packages."""

import ast
import importlib
import inspect
import symtable
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType


def module_at(path: str) -> ModuleType:
    """Import the module of a file below ``src``."""
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
