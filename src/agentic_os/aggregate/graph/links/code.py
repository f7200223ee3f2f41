"""The code of all projects, as the rules between projects see it.

Rules are pure: they get this view and give edges and near-misses. Everything large is
loaded when a rule first asks for it, from the store, never from a project.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from agentic_os.code.layout import Provided, python_modules
from agentic_os.code.manifests.values import Manifest
from agentic_os.code.reading import language_family
from agentic_os.code.values import MODULE_SCOPE, SourceFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeNode:
    """A node that an edge can start or end at."""

    nid: int
    label: str
    path: str
    line: int
    is_file: bool
    is_package: bool

    @property
    def name(self) -> str:
        """The label without Graphify's decoration: ``.load()`` is ``load``."""
        return self.label.removeprefix(".").partition("(")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """An external name of a project's graph and a node that reaches it."""

    key: str
    nid: int
    path: str
    line: int
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSource:
    """Where a project's parts are loaded from."""

    nodes: Callable[[], list[CodeNode]]
    facts: Callable[[str], SourceFacts | None]
    stubs: Callable[[], list[Stub]]


@dataclass(kw_only=True)
class ProjectCode:
    """One project: its names, files, manifests and, when asked for, facts and nodes.

    Attributes:
        project: the id in the fleet.
        folder: absolute path, for path dependencies only; never shown.
        remote: normalised git remote.
        files: every file that the graph names, and whether it was read.
        folders: what lies in the folders of those files; folders end in ``/``.
        manifests: in the order of their paths.
    """

    project: str
    folder: str
    remote: str | None
    files: dict[str, bool]
    folders: dict[str, frozenset[str]]
    manifests: tuple[Manifest, ...]
    source: CodeSource

    def facts(self, path: str) -> SourceFacts | None:
        """Return what a file says; ``None`` when it was not read."""
        return self.source.facts(path) if self.files.get(path, False) else None

    def sources(self, family: str) -> Iterator[tuple[str, SourceFacts]]:
        """Yield the files of one language family that were read, and what they say."""
        for path in self.paths.get(family, ()):
            facts = self.facts(path)
            if facts is not None:
                yield path, facts

    @cached_property
    def paths(self) -> dict[str, list[str]]:
        """The files of each language family, in order."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.files):
            family = language_family(path)
            if family:
                found.setdefault(family, []).append(path)
        return found

    @cached_property
    def python_modules(self) -> dict[str, Provided]:
        """The Python modules that this project provides to others."""
        name = self.folder.rstrip("/").rpartition("/")[2]
        return python_modules(self.paths.get("python", ()), self.manifests, folder_name=name)

    @cached_property
    def python_module_of(self) -> dict[str, str]:
        """The module that each providing file is."""
        return {item.path: item.module for item in self.python_modules.values()}

    @cached_property
    def nodes(self) -> "NodeIndex":
        """The project's nodes by file."""
        return NodeIndex(self.source.nodes())

    def declares(self, ecosystem: str, name: str) -> bool:
        """Whether a manifest of this project declares a package of that name."""
        return (ecosystem, name) in self.packages

    @cached_property
    def packages(self) -> dict[tuple[str, str], tuple[Manifest, int]]:
        """The packages that this project declares, each with its manifest and line."""
        found: dict[tuple[str, str], tuple[Manifest, int]] = {}
        for manifest in self.manifests:
            for package in manifest.packages:
                found.setdefault((package.ecosystem, package.name), (manifest, package.line))
        return found

    def manifest_node(self, path: str) -> CodeNode | None:
        """Return the node that stands for a manifest, or for the project itself."""
        return self.nodes.package(path)

    def user_node(self, path: str, facts: SourceFacts, scope: int) -> CodeNode | None:
        """Return the node of the innermost symbol at ``scope`` that has one, else the file's."""
        while scope != MODULE_SCOPE:
            symbol = facts.symbols[scope]
            node = self.nodes.symbol(path, symbol.name, symbol.start)
            if node is not None:
                return node
            scope = symbol.parent
        return self.nodes.file(path)


class NodeIndex:
    """A project's nodes, found by file, name and line."""

    def __init__(self, nodes: list[CodeNode]) -> None:
        """Index the nodes; the first of equals wins."""
        self._files: dict[str, CodeNode] = {}
        self._symbols: dict[tuple[str, str], list[CodeNode]] = {}
        self._lines: dict[tuple[str, str, int], CodeNode] = {}
        self._by_name: dict[str, list[CodeNode]] = {}
        self._packages: dict[str, CodeNode] = {}
        self._package_folders: dict[str, CodeNode] = {}
        for node in nodes:
            if node.path and node.is_file:
                self._files.setdefault(node.path, node)
            if node.is_package:
                self._packages.setdefault(node.path, node)
                if node.path:
                    self._package_folders.setdefault(node.path.rpartition("/")[0], node)
            elif not node.is_file and node.path:
                self._by_name.setdefault(node.name, []).append(node)
                self._symbols.setdefault((node.path, node.name), []).append(node)
                self._lines.setdefault((node.path, node.name, node.line), node)

    def file(self, path: str) -> CodeNode | None:
        """Return the node of a file itself."""
        return self._files.get(path)

    def symbol(self, path: str, name: str, line: int) -> CodeNode | None:
        """Return the node of a definition: by name and line, else by a name alone in its file."""
        exact = self._lines.get((path, name, line))
        named = self._symbols.get((path, name), ())
        return named[0] if exact is None and len(named) == 1 else exact

    def named(self, name: str) -> list[CodeNode]:
        """Return every symbol node with that bare name, case-sensitive."""
        return self._by_name.get(name, [])

    def package(self, path: str) -> CodeNode | None:
        """Return the package node of a manifest, of its folder, or of the project."""
        found = self._packages.get(path)
        folder = path
        while found is None and folder:
            folder = folder.rpartition("/")[0]
            found = self._package_folders.get(folder)
        return found or self._packages.get("")
