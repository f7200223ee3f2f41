"""Manifests of Go, Rust and Java, and two small configurations that point at projects.

``go.mod`` and ``go.work`` are line formats; ``Cargo.toml`` is TOML; ``pom.xml`` is XML,
read with expat: a document type declaration is refused, so no entity is ever expanded.
The small ones: ``.gitmodules`` and the ``uses:`` lines of CI workflows (repositories by URL).
"""

import re
import xml.parsers.expat  # entities cannot be declared: a DOCTYPE is refused below

import tomli

from agentic_os.code.manifests.tables import table, text
from agentic_os.code.manifests.values import (
    MAX_DEPENDENCIES_ENTRIES,
    Dependency,
    LineFinder,
    Manifest,
    Package,
    cargo_name,
    without_userinfo,
)

_GO_REQUIRE = re.compile(r"(\S+)\s+v\S+")
_GO_REPLACE = re.compile(r"(\S+)(?:\s+v\S+)?\s*=>\s*(\S+)(?:\s+v\S+)?")
_USES = re.compile(r"\s*(?:-\s+)?uses:\s*['\"]?([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)[^\s'\"]*@\S+")
_MODULE_KEY = re.compile(r"\s*(path|url)\s*=\s*(.+)")
_MAX_XML_LEVELS = 64
_MAX_TEXT_CHARS = 500


def read_go_mod(path: str, source: str) -> Manifest:
    """Read a ``go.mod``: its module, what it requires, and what it replaces."""
    packages: list[Package] = []
    dependencies: list[Dependency] = []
    block = ""
    for number, raw in enumerate(source.split("\n"), 1):
        line = raw.partition("//")[0].strip()
        if line == ")":
            block = ""
            continue
        verb, _, rest = line.partition(" ")
        if rest.strip() == "(" or line.endswith("("):
            block = verb.rstrip("(")
            continue
        if not block:
            line = rest.strip()
        else:
            verb = block
        if verb == "module" and line and not packages:
            name = line.strip('"`')
            packages.append(Package("go", name, name, number))
        elif verb == "require":
            found = _GO_REQUIRE.match(line)
            if found is not None:
                dependencies.append(Dependency("go", found[1].strip('"'), number))
        elif verb == "replace":
            found = _GO_REPLACE.match(line)
            if found is not None:
                dependencies.append(_replacement(found[1], found[2], number))
    return Manifest(path, tuple(packages), tuple(dependencies[:MAX_DEPENDENCIES_ENTRIES]))


def _replacement(name: str, target: str, line: int) -> Dependency:
    if target.startswith(("./", "../", "/")):
        return Dependency("go", name, line, "path", target)
    return Dependency("go", target, line, alias=name)


_NAME = r"^\s*name\s*="


def read_cargo(path: str, source: str) -> Manifest:
    """Read a ``Cargo.toml``: package, dependencies with renames, paths and git."""
    try:
        document = tomli.loads(source)
    except (ValueError, RecursionError):  # a number of 6,000 digits is no TOMLDecodeError
        return Manifest(path, problems=("MANIFEST_INVALID",))
    find = LineFinder(source)
    tables = [document, table(document, "workspace")]
    tables += [table(value) for value in table(document, "target").values()]
    dependencies = [
        _crate(
            name,
            value,
            find.line(
                name,
                rf"^\s*\[(?:[^\]]*\.)?{section}\b",
                default=find.line(f"{section}.{name}"),
            ),
        )
        for each in tables
        for section in ("dependencies", "dev-dependencies", "build-dependencies")
        for name, value in table(each, section).items()
    ]
    name = text(table(document, "package").get("name"))
    return Manifest(
        path,
        packages=(
            Package("cargo", cargo_name(name), name, find.line(name, r"^\s*\[package\]", _NAME)),
        )
        if name
        else (),
        dependencies=tuple(dependencies[:MAX_DEPENDENCIES_ENTRIES]),
    )


def _crate(name: str, value: object, line: int) -> Dependency:
    detail = table(value)
    real = text(detail.get("package")) or name
    alias = name if real != name else ""
    place, git = text(detail.get("path")), text(detail.get("git"))
    if place:
        return Dependency("cargo", cargo_name(real), line, "path", place, alias)
    if git:
        return Dependency("cargo", cargo_name(real), line, "git", without_userinfo(git), alias)
    return Dependency("cargo", cargo_name(real), line, alias=alias)


def read_pom(path: str, source: str) -> Manifest:
    """Read a ``pom.xml``: ``groupId:artifactId`` of the project and of its dependencies."""
    reader = _PomReader()
    parser = xml.parsers.expat.ParserCreate()
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    parser.StartDoctypeDeclHandler = reader.doctype
    reader.parser = parser
    try:
        parser.Parse(source.encode("utf-8", "replace"), True)
    except (xml.parsers.expat.ExpatError, _RefusedError):
        return Manifest(path, problems=("MANIFEST_INVALID",))
    group = reader.project.get("groupId") or reader.parent.get("groupId", "")
    artifact = reader.project.get("artifactId", "")
    packages: tuple[Package, ...] = ()
    if group and artifact:
        name = f"{group}:{artifact}"
        packages = (Package("maven", name, name, reader.project_line),)
    found = [
        Dependency("maven", f"{_own(item['groupId'], group)}:{item['artifactId']}", line)
        for item, line in reader.dependencies
        if item.get("groupId") and item.get("artifactId")
    ]
    return Manifest(path, packages, tuple(found[:MAX_DEPENDENCIES_ENTRIES]))


def _own(group: str, project: str) -> str:
    return project if group in {"${project.groupId}", "${groupId}", "${pom.groupId}"} else group


class _RefusedError(Exception):
    """The document declares a type or nests beyond the bound."""


class _PomReader:
    """Keeps the few elements of a POM that matter."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self.parser: xml.parsers.expat.XMLParserType | None = None
        self.stack: list[str] = []
        self.project: dict[str, str] = {}
        self.parent: dict[str, str] = {}
        self.project_line = 1
        self.dependencies: list[tuple[dict[str, str], int]] = []

    def doctype(self, *_: object) -> None:
        """Refuse a document type declaration."""
        raise _RefusedError

    def start(self, name: str, _: dict[str, str]) -> None:
        """Open an element."""
        self.stack.append(name.rpartition(":")[2])
        if len(self.stack) > _MAX_XML_LEVELS:
            raise _RefusedError
        if self._in("dependencies", "dependency") and "plugin" not in self.stack:
            line = 1 if self.parser is None else self.parser.CurrentLineNumber
            self.dependencies.append(({}, line))

    def end(self, _: str) -> None:
        """Close an element."""
        self.stack.pop()

    def characters(self, data: str) -> None:
        """Take text in."""
        if not self.stack or self.stack[-1] not in {"groupId", "artifactId"}:
            return
        key, above = self.stack[-1], self.stack[:-1]
        if above == ["project"]:
            _add(self.project, key, data)
            if key == "artifactId" and self.parser is not None:
                self.project_line = self.parser.CurrentLineNumber
        elif above == ["project", "parent"]:
            _add(self.parent, key, data)
        elif above[-2:] == ["dependencies", "dependency"] and "plugin" not in above:
            _add(self.dependencies[-1][0], key, data)

    def _in(self, *names: str) -> bool:
        return tuple(self.stack[-len(names) :]) == names


def _add(values: dict[str, str], key: str, data: str) -> None:
    values[key] = (values.get(key, "") + data.strip())[:_MAX_TEXT_CHARS]


def read_gitmodules(path: str, source: str) -> Manifest:
    """Read a ``.gitmodules``: the repositories that are checked out inside this one."""
    found: list[Dependency] = []
    for number, line in enumerate(source.split("\n"), 1):
        pair = _MODULE_KEY.match(line)
        if pair is None:
            continue
        kind, value = pair[1], pair[2].strip()
        if kind == "url" and value:
            found.append(Dependency("python", "", number, "git", without_userinfo(value)))
    return Manifest(path, dependencies=tuple(found[:MAX_DEPENDENCIES_ENTRIES]))


def read_workflow(path: str, source: str) -> Manifest:
    """Read the ``uses: owner/repository@ref`` lines of a CI workflow."""
    found: list[Dependency] = []
    for number, line in enumerate(source.split("\n"), 1):
        used = _USES.match(line)
        if used is not None:
            url = f"https://github.com/{used[1]}"
            found.append(Dependency("python", "", number, "git", url))
    return Manifest(path, dependencies=tuple(found[:MAX_DEPENDENCIES_ENTRIES]))
