"""The code of all projects, as the rules between projects see it.

Rules are pure: they get this view and give edges and near-misses. Everything large is
loaded when a rule first asks for it, from the store, never from a project.
"""

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
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
    """Where a project's parts are loaded from: the nodes of a file, those of packages, ..."""

    nodes: Callable[[str], list[CodeNode]]
    packages: Callable[[], list[CodeNode]]
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

    def sources(
        self, family: str, only: AbstractSet[str] | None = None
    ) -> Iterator[tuple[str, SourceFacts]]:
        """Yield the files of one language family that were read, and what they say.

        Args:
            family: a language family (``language_family``).
            only: the files that are wanted; all by default.
        """
        for path in self.paths.get(family, ()):
            if only is not None and path not in only:
                continue
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
        return NodeIndex(self.source.nodes)

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
        return self._package_nodes.at(path)

    @cached_property
    def _package_nodes(self) -> "PackageIndex":
        return PackageIndex(self.source.packages())

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
    """A project's nodes, found by file, name and line; loaded file by file, when asked for."""

    def __init__(self, load: Callable[[str], list[CodeNode]]) -> None:
        """``load`` returns the nodes of a file in order; the first of equals wins."""
        self._load = load
        self._files: dict[str, _FileNodes] = {}

    def file(self, path: str) -> CodeNode | None:
        """Return the node of a file itself."""
        return self._of(path).node

    def symbol(self, path: str, name: str, line: int) -> CodeNode | None:
        """Return the node of a definition: by name and line, else by a name alone in its file."""
        named = self._of(path).symbols.get(name, ())
        exact = next((node for node in named if node.line == line), None)
        return named[0] if exact is None and len(named) == 1 else exact

    def _of(self, path: str) -> "_FileNodes":
        if path not in self._files:
            found = _FileNodes()
            for node in self._load(path) if path else ():
                if node.is_file:
                    found.node = found.node or node
                elif not node.is_package:
                    found.symbols.setdefault(node.name, []).append(node)
            self._files[path] = found
        return self._files[path]


@dataclass(slots=True)
class _FileNodes:
    node: CodeNode | None = None
    symbols: dict[str, list[CodeNode]] = field(default_factory=dict)


class PackageIndex:
    """The nodes that stand for a project's packages and for the project itself."""

    def __init__(self, nodes: list[CodeNode]) -> None:
        """Index the nodes; the first of equals wins."""
        self._packages: dict[str, CodeNode] = {}
        self._package_folders: dict[str, CodeNode] = {}
        for node in nodes:
            self._packages.setdefault(node.path, node)
            if node.path:
                self._package_folders.setdefault(node.path.rpartition("/")[0], node)

    def at(self, path: str) -> CodeNode | None:
        """Return the package node of a manifest, of its folder, or of the project."""
        found = self._packages.get(path)
        folder = path
        while found is None and folder:
            folder = folder.rpartition("/")[0]
            found = self._package_folders.get(folder)
        return found or self._packages.get("")
