"""Make a project's graph from the facts of its sources. Pure.

- A node for each file and each definition, labelled as Graphify labels them.
- ``contains`` and ``method`` say what is written where.
- ``imports``, ``calls``, ``references`` and ``inherits`` follow names: in the same file by
  scope, in other files by the rule that links projects (``ImportRule``).
- EXTRACTED is what the sources prove. A method called on ``self`` is INFERRED, for a subclass
  may have its own; what can be several definitions is AMBIGUOUS.
- Of a language of the table, definitions, what holds them and imports are known: a path from the
  file's own folder is EXTRACTED, a dotted name that one file of the project ends like INFERRED.
- What an import means outside the project is an external name.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from agentic_os.aggregate.graph.links.code import CodeNode, CodeSource, ProjectCode
from agentic_os.aggregate.graph.links.edges import (
    CERTAIN,
    RELATIONS,
    UNDECLARED,
    UNSURE,
    EdgeCollector,
    Endpoint,
    Verdict,
)
from agentic_os.aggregate.graph.links.imports import ImportRule
from agentic_os.aggregate.graph.own.go_package import declarations, go_packages
from agentic_os.aggregate.graph.own.names import OwnGo, OwnPython, OwnScript
from agentic_os.aggregate.graph.own.tabled import tabled_file
from agentic_os.aggregate.graph.values import Graph, GraphEdge, GraphNode
from agentic_os.code.reading import TABLED_FAMILY
from agentic_os.code.script.layout import split_specifier
from agentic_os.code.standard_names import graph_id
from agentic_os.code.table_driven import NEAR
from agentic_os.code.values import MODULE_SCOPE, SourceFacts, Symbol

FAMILIES = ("python", "script", "go", TABLED_FAMILY)
_CALLABLE = frozenset({"function", "method"})


def own_graph(code: ProjectCode) -> Graph:
    """Make the graph of a project whose sources were read."""
    build = _Build()
    for family in FAMILIES:
        for path, facts in code.sources(family):
            build.file(path, facts)
    for same in go_packages(code.sources("go")):
        build.package(same)
    nodes = list(build.nodes)
    # The rule sees the nodes that were just made, numbered by their position.
    by_file: dict[str, list[CodeNode]] = {}
    for number, node in enumerate(nodes):
        by_file.setdefault(node.path, []).append(_code_node(number, node))
    seen = replace(
        code,
        source=CodeSource(
            nodes=lambda path: by_file.get(path, []),
            packages=list,
            facts=code.source.facts,
            stubs=list,
        ),
    )
    collector = _Inside()
    for language in (OwnPython(), OwnScript(), OwnGo()):
        ImportRule(language, collector).link([seen])
    for source, target, relation, verdict, line in collector.found:
        if source.node is not None and target.node is not None:
            build.edge(source.node.nid, target.node.nid, relation, verdict, source.path, line)
    _tabled_imports(code, build, collector)
    for family in FAMILIES:
        for path, facts in code.sources(family):
            build.externals(path, facts, family, collector.resolved)
    return Graph(nodes=build.nodes, edges=list(build.edges.values()), hyperedges=[], counts={})


def _tabled_imports(code: ProjectCode, build: "_Build", collector: "_Inside") -> None:
    """Add which file of the project takes in which, in the languages of the table."""
    for path, facts in code.sources(TABLED_FAMILY):
        for item in facts.imports:
            inside = tabled_file(code.paths[TABLED_FAMILY], path, item.module)
            if inside is not None:
                collector.resolved.add((path, item.line, item.module))
                build.imports(path, *inside, item.line)


class _Inside(EdgeCollector):
    """Keeps the edges inside the project that the rule finds, and which imports it resolved."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[Endpoint, Endpoint, str, Verdict, int]] = []
        self.resolved: set[tuple[str, int, str]] = set()

    def link(
        self,
        source: Endpoint,
        target: Endpoint,
        *,
        relation: str,
        rule: str,
        verdict: Verdict,
        detail: str,
    ) -> None:
        """Keep an edge of one project, whatever the rule is called."""
        del rule
        if relation == "imports":
            self.resolved.add((source.path, source.line, detail))
        if target.node is not source.node:
            self.found.append((source, target, relation, verdict, source.line))

    def miss(
        self,
        source: Endpoint,
        rule: str,
        code: str,
        subject: str,
        others: Iterable[ProjectCode],
        detail: str = "",
    ) -> None:
        """Pass over what a module does not offer: it makes no edge."""


@dataclass(slots=True)
class _Build:
    nodes: list[GraphNode] = field(default_factory=list)
    edges: dict[tuple[int, int, str, int], GraphEdge] = field(default_factory=dict)
    _keys: set[str] = field(default_factory=set)
    _files: dict[str, int] = field(default_factory=dict)
    _external: dict[str, int] = field(default_factory=dict)

    def file(self, path: str, facts: SourceFacts) -> None:
        """Add a file, its definitions, and the uses of them in it."""
        start = self._files[path] = self._node(path, path.rpartition("/")[2], path, 1)
        numbers = [
            self._node(f"{path}:{item.qualname}", _label(item), path, item.start)
            for item in facts.symbols
        ]
        for number, item in zip(numbers, facts.symbols, strict=True):
            inner = item.parent != MODULE_SCOPE
            above = numbers[item.parent] if inner else start
            relation = "method" if inner and item.kind == "method" else "contains"
            self.edge(above, number, relation, CERTAIN, path, item.start)
        for use in facts.local_uses:
            user = start if use.scope == MODULE_SCOPE else numbers[use.scope]
            if user != numbers[use.symbol]:
                verdict = CERTAIN if use.certain else UNDECLARED
                relation = RELATIONS[use.kind]
                self.edge(user, numbers[use.symbol], relation, verdict, path, use.line)

    def package(self, files: Sequence[tuple[str, SourceFacts]]) -> None:
        """Add what the files of one Go package use of each other."""
        declared = declarations(files)
        for path, facts in files:
            for use in facts.package_uses:
                user = self._number(path, use.scope)
                places = declared.get(use.name, ())
                verdict = CERTAIN if len(places) == 1 else UNSURE
                for place in places:
                    target = self._number(*place)
                    if target != user:
                        self.edge(user, target, RELATIONS[use.kind], verdict, path, use.line)

    def _number(self, path: str, symbol: int) -> int:
        """Return the node of a symbol: those of a file follow the file's own."""
        return self._files[path] + 1 + symbol

    def imports(self, path: str, target: str, verdict: Verdict, line: int) -> None:
        """Add that a file takes in another one of the project."""
        if path != target and target in self._files:
            self.edge(self._files[path], self._files[target], "imports", verdict, path, line)

    def externals(
        self, path: str, facts: SourceFacts, family: str, resolved: set[tuple[str, int, str]]
    ) -> None:
        """Add what a file imports from outside the project."""
        for item in facts.imports:
            name = _outside(item.module, family)
            if name and (path, item.line, item.module) not in resolved:
                if name not in self._external:
                    self._external[name] = self._node(graph_id(name) or name, name, "", 0)
                target = self._external[name]
                self.edge(self._files[path], target, "imports", CERTAIN, path, item.line)

    def edge(
        self, source: int, target: int, relation: str, verdict: Verdict, path: str, line: int
    ) -> None:
        """Add an edge; the surest of equals stays."""
        key = (source, target, relation, line)
        known = self.edges.get(key)
        if known is None or known.score < verdict.score:
            self.edges[key] = GraphEdge(
                source, target, relation, "", verdict.confidence, verdict.score, path, line
            )

    def _node(self, key: str, label: str, path: str, line: int) -> int:
        while key in self._keys:
            key += "'"
        self._keys.add(key)
        self.nodes.append(GraphNode(key, label, "code", path, line, -1, not path, ""))
        return len(self.nodes) - 1


def _label(symbol: Symbol) -> str:
    dot = "." if symbol.kind == "method" else ""
    return f"{dot}{symbol.name}{'()' if symbol.kind in _CALLABLE else ''}"


def _code_node(number: int, node: GraphNode) -> CodeNode:
    is_file = bool(node.path) and node.key == node.path
    return CodeNode(
        nid=number,
        label=node.label,
        path=node.path,
        line=node.line,
        is_file=is_file,
        is_package=False,
    )


def _outside(module: str, family: str) -> str:
    """Return the package that an import names; empty for one inside the project."""
    if family == "python":
        return module.partition(".")[0]
    if family == "script":
        split = split_specifier(module.removeprefix("node:"))
        return "" if split is None else split[0]
    return "" if module.startswith(NEAR) else module
