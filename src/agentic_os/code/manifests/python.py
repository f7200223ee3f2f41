"""Python manifests: pyproject.toml (PEP 621, poetry, uv), setup.cfg, setup.py, requirements.

``setup.py`` is parsed, never run: literals and module-level constants are taken, anything
computed is left out.
"""

import ast
import configparser
import re
import warnings

import tomli

from agentic_os.code.manifests.tables import items, table, text, text_pairs, texts
from agentic_os.code.manifests.values import (
    MAX_DEPENDENCIES_ENTRIES,
    Dependency,
    LineFinder,
    Manifest,
    Package,
    python_name,
    without_userinfo,
)
from agentic_os.code.python.expressions import dotted_name

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:@\s*(\S+))?")
_EDITABLE = re.compile(r"\s*(?:-e|--editable)[ =]\s*(\S+)")
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9][A-Za-z0-9._-]*)")
_MAX_LITERAL_LEVELS = 4
_PROJECT = r"^\s*\[project\]"
_POETRY = r"^\s*\[tool\.poetry(?:\.[^\]]*)?\.(?:dev-)?dependencies\b"
_REQUIRES = r"\b(?:install_requires|extras_require)\b"
_NAME = r"\bname\s*="


def read_pyproject(path: str, source: str) -> Manifest:
    """Read a ``pyproject.toml``; a file that is no TOML gives ``MANIFEST_INVALID``."""
    try:
        document = tomli.loads(source)
    except (ValueError, RecursionError):  # a number of 6,000 digits is no TOMLDecodeError
        return Manifest(path, problems=("MANIFEST_INVALID",))
    find = LineFinder(source)
    project, poetry = table(document, "project"), table(document, "tool", "poetry")
    sources = table(document, "tool", "uv", "sources")
    stated: list[tuple[tuple[str, ...], object]] = [
        ((_PROJECT, r"^\s*dependencies\s*="), project.get("dependencies"))
    ]
    stated += [
        ((r"\boptional-dependencies\b",), one) for one in _values(project, "optional-dependencies")
    ]
    stated += [((r"\bdependency-groups\b",), one) for one in _values(document, "dependency-groups")]
    uv = table(document, "tool", "uv")
    stated += [((r"^\s*\[tool\.uv\]", r"^\s*dev-dependencies\s*="), uv.get("dev-dependencies"))]
    dependencies = [
        _requirement(item, find, sources, heads) for heads, one in stated for item in texts(one)
    ]
    for group_table in _poetry_groups(poetry):
        dependencies += [
            _poetry_dependency(name, value, find.line(name, _POETRY))
            for name, value in group_table.items()
            if name.lower() != "python"
        ]
    name = text(project.get("name")) or text(poetry.get("name"))
    return Manifest(
        path,
        packages=_package(name, find),
        dependencies=_kept(dependencies),
        source_roots=tuple(_pyproject_roots(document)),
    )


def _pyproject_roots(document: object) -> list[str]:
    setuptools = table(document, "tool", "setuptools")
    roots = [value for key, value in text_pairs(setuptools.get("package-dir")) if key == ""]
    roots += texts(table(setuptools, "packages", "find").get("where"))
    for package in items(table(document, "tool", "poetry").get("packages")):
        roots += [text(table(package).get("from"))]
    wheel = table(document, "tool", "hatch", "build", "targets", "wheel")
    for package in texts(wheel.get("packages")):
        roots.append(package.rstrip("/").rpartition("/")[0])
    roots += texts(wheel.get("sources"))
    roots += [text(table(document, "tool", "pdm", "build").get("package-dir"))]
    roots += [text(table(document, "tool", "maturin").get("python-source"))]
    return sorted({root.strip("/") for root in roots if root.strip("./")})


def _values(document: object, *keys: str) -> list[object]:
    return list(table(document, *keys).values())


def _poetry_groups(poetry: dict[str, object]) -> list[dict[str, object]]:
    groups = [table(poetry, "dependencies"), table(poetry, "dev-dependencies")]
    groups += [table(group, "dependencies") for group in table(poetry, "group").values()]
    return groups


def _poetry_dependency(name: str, value: object, line: int) -> Dependency:
    detail = table(value)
    place, git = text(detail.get("path")), text(detail.get("git"))
    if place:
        return Dependency("python", python_name(name), line, "path", place)
    if git:
        return Dependency("python", python_name(name), line, "git", without_userinfo(git))
    return Dependency("python", python_name(name), line)


def _requirement(
    requirement: str,
    find: LineFinder,
    sources: dict[str, object] | None = None,
    heads: tuple[str, ...] = (),
) -> Dependency | None:
    """Read one PEP 508 requirement, with uv's source for it where there is one."""
    found = _REQUIREMENT.match(requirement)
    if found is None:
        return None
    name, line = python_name(found[1]), find.line(found[1], *heads)
    target = found[2] or ""
    for key, value in (sources or {}).items():
        if python_name(key) == name:
            detail = table(value)
            target = text(detail.get("path")) or text(detail.get("git")) or target
            if text(detail.get("git")):
                return Dependency("python", name, line, "git", without_userinfo(target))
            if text(detail.get("path")):
                return Dependency("python", name, line, "path", target)
    return _direct(name, target, line)


def _direct(name: str, target: str, line: int) -> Dependency:
    if target.startswith("file:"):
        return Dependency("python", name, line, "path", re.sub(r"^file:(//)?", "", target))
    if target.startswith(("git+", "git:")):
        url = target.removeprefix("git+").partition("#")[0]
        cut = re.sub(r"(?<=[^/:])@[^/@]*$", "", url)
        return Dependency("python", name, line, "git", without_userinfo(cut))
    return Dependency("python", name, line)


def read_setup_cfg(path: str, source: str) -> Manifest:
    """Read a ``setup.cfg``."""
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",))
    try:
        parser.read_string(source)
    except configparser.Error:
        return Manifest(path, problems=("MANIFEST_INVALID",))
    find = LineFinder(source)

    def lines(section: str, key: str) -> list[str]:
        value = parser.get(section, key, fallback="") or ""
        return [line.strip() for line in value.splitlines() if line.strip()]

    requirements = lines("options", "install_requires")
    if parser.has_section("options.extras_require"):
        for key in parser.options("options.extras_require"):
            requirements += lines("options.extras_require", key)
    roots = [
        line.partition("=")[2].strip()
        for line in lines("options", "package_dir")
        if not line.partition("=")[0].strip()
    ]
    roots += lines("options.packages.find", "where")
    name = parser.get("metadata", "name", fallback="") or ""
    return Manifest(
        path,
        packages=_package(name, find),
        dependencies=_kept([_requirement(item, find, heads=(_REQUIRES,)) for item in requirements]),
        source_roots=tuple(sorted({root.strip("/") for root in roots if root.strip("./")})),
    )


def read_setup_py(path: str, source: str) -> Manifest:
    """Read the literal arguments of ``setup(...)``; the file is parsed, never run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Manifest(path, problems=("MANIFEST_INVALID",))
    constants: dict[str, ast.expr] = {}
    setup: ast.Call | None = None
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            constants.setdefault(node.targets[0].id, node.value)
        if isinstance(node, ast.Call) and dotted_name(node.func).rpartition(".")[2] == "setup":
            setup = node
        pending.extend(ast.iter_child_nodes(node))
    if setup is None:
        return Manifest(path)
    find = LineFinder(source)
    given = {word.arg: _literal(word.value, constants, 0) for word in setup.keywords if word.arg}
    requirements = texts(given.get("install_requires"))
    for group in table(given, "extras_require").values():
        requirements += texts(group)
    root = text(table(given, "package_dir").get("")).strip("/")
    return Manifest(
        path,
        packages=_package(text(given.get("name")), find),
        dependencies=_kept([_requirement(item, find, heads=(_REQUIRES,)) for item in requirements]),
        source_roots=(root,) if root.strip(".") else (),
    )


def _literal(node: ast.expr, constants: dict[str, ast.expr], depth: int) -> object:
    """Return a literal's value; ``None`` for what is computed."""
    if depth > _MAX_LITERAL_LEVELS:
        return None
    match node:
        case ast.Constant(value=str() as value):
            return value
        case ast.Name(id=name) if name in constants:
            return _literal(constants[name], constants, depth + 1)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_literal(element, constants, depth + 1) for element in elements]
        case ast.Dict(keys=keys, values=values):
            return {
                key.value: _literal(value, constants, depth + 1)
                for key, value in zip(keys, values, strict=True)
                if isinstance(key, ast.Constant)
            }
        case _:
            return None


def read_requirements(path: str, source: str) -> Manifest:
    """Read a requirements file; ``-r`` and ``-c`` lines are left to their own files."""
    found: list[Dependency | None] = []
    for number, raw in enumerate(source.split("\n"), 1):
        line = re.sub(r"(^|\s)#.*", "", raw).strip()
        editable = _EDITABLE.match(line)
        if editable is not None:
            target = editable[1]
            egg = _EGG.search(target)
            name = python_name(egg[1]) if egg else ""
            if target.startswith("git+"):
                dependency = _direct(name, target, number)
            else:
                dependency = Dependency("python", name, number, "path", target.partition("[")[0])
            found.append(dependency)
        elif line.startswith(("./", "../")):
            found.append(Dependency("python", "", number, "path", line.partition("[")[0]))
        elif line and not line.startswith("-"):
            one = _requirement(line, LineFinder(""))
            if one is not None:
                found.append(Dependency("python", one.name, number, one.kind, one.target))
    return Manifest(path, dependencies=_kept(found))


def read_package_info(path: str, source: str) -> Manifest:
    """Read the name from an sdist's ``PKG-INFO`` or an installed ``METADATA``."""
    for number, line in enumerate(source.split("\n"), 1):
        if not line.strip():
            break
        if line.lower().startswith("name:"):
            name = line.partition(":")[2].strip()
            return Manifest(path, packages=(Package("python", python_name(name), name, number),))
    return Manifest(path)


def _package(name: str, find: LineFinder) -> tuple[Package, ...]:
    name = name.strip()
    if not name or not _REQUIREMENT.fullmatch(name):
        return ()
    return (Package("python", python_name(name), name, find.line(name, _NAME)),)


def _kept(dependencies: list[Dependency | None]) -> tuple[Dependency, ...]:
    kept = [item for item in dependencies if item is not None]
    return tuple(kept[:MAX_DEPENDENCIES_ENTRIES])
