"""Go sources, read with tree-sitter: package clause, declarations, imports, selectors.

Go names an import by the *package clause* of the imported package, which this file does
not show. A selector ``name.Field`` therefore keeps ``name``, and lists every import that
may stand behind it: the one with that explicit name; else those whose path suggests it;
else every import without an explicit name. Whoever knows the provider compares its package
clause with ``name``. Go forbids a package-level name that equals an import's name, so a
selector whose root no enclosing function declares is an import's, or a name of the package. So is
every other name that no enclosing function declares and the language does not have itself.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Node

from agentic_os.code.python.scopes import Scope
from agentic_os.code.syntax import descend, end_line_of, line_of, parse, text_of
from agentic_os.code.values import (
    MAX_CHAIN_ENTRIES,
    MAX_IMPORTS_ENTRIES,
    MAX_SYMBOLS_ENTRIES,
    MAX_USES_ENTRIES,
    MODULE_SCOPE,
    STAR,
    Binding,
    BindingKind,
    Import,
    PackageUse,
    SourceFacts,
    Symbol,
    SymbolKind,
    Use,
    UseKind,
)

_VERSION = re.compile(r"v\d+")
_BLOCKS = {
    "block",
    "func_literal",
    "if_statement",
    "for_statement",
    "expression_switch_statement",
    "type_switch_statement",
    "select_statement",
    "communication_case",
    "expression_case",
    "type_case",
    "default_case",
}
_DECLARES = {
    "short_var_declaration": "left",
    "range_clause": "left",
    "receive_statement": "left",
    "type_switch_statement": "alias",
}
_PREDECLARED = frozenset(
    (
        *("any", "bool", "byte", "comparable", "complex64", "complex128", "error", "float32"),
        *("float64", "int", "int8", "int16", "int32", "int64", "rune", "string", "uint", "uint8"),
        *("uint16", "uint32", "uint64", "uintptr", "true", "false", "iota", "nil", "append", "cap"),
        *("clear", "close", "complex", "copy", "delete", "imag", "len", "make", "max", "min"),
        *("new", "panic", "print", "println", "real", "recover", "_"),
    )
)
_SPECS: dict[str, tuple[SymbolKind, BindingKind]] = {
    "type_spec": ("type", "definition"),
    "type_alias": ("type", "definition"),
    "const_spec": ("constant", "value"),
    "var_spec": ("constant", "value"),
}


def read_go(data: bytes) -> SourceFacts:
    """Read one Go file; ``GO_SYNTAX`` among the problems where parts did not parse.

    Never raises.
    """
    root = parse("go", data)
    walker = _Walker()
    walker.walk(root)
    problems = ["GO_SYNTAX"] if root.has_error else []
    uses = walker.resolved()
    of_package = walker.package_uses()
    if walker.truncated or max(len(uses), len(of_package)) > MAX_USES_ENTRIES:
        problems.append("SOURCE_TRUNCATED")
    return SourceFacts(
        language="go",
        lines=data.count(b"\n") + 1,
        package=walker.package,
        symbols=tuple(walker.symbols),
        bindings=tuple(walker.bindings),
        imports=tuple(walker.imports),
        uses=tuple(uses[:MAX_USES_ENTRIES]),
        problems=tuple(problems),
        package_uses=tuple(of_package[:MAX_USES_ENTRIES]),
    )


def suggested_names(path: str) -> set[str]:
    """Return the package names that an import path suggests by convention."""
    parts = path.split("/")
    last = parts[-1]
    if _VERSION.fullmatch(last) and len(parts) > 1:
        last = parts[-2]
    last = re.sub(r"\.v\d+$", "", last)
    short = re.sub(r"^go-|-go$|\.go$", "", last)
    names = {last, short, last.replace("-", "_"), short.replace("-", "_")}
    names |= {last.replace("-", ""), short.replace("-", ""), last.rpartition("-")[2]}
    return names - {""}


class _Task(NamedTuple):
    node: Node
    scope: Scope
    symbol: int
    kind: UseKind = "reference"


@dataclass(slots=True)
class _Walker:
    package: str = ""
    symbols: list[Symbol] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    raw_uses: list[tuple[str, tuple[str, ...], int, Scope, int, UseKind]] = field(
        default_factory=list
    )
    bare_names: list[tuple[str, int, Scope, int, UseKind]] = field(default_factory=list)
    truncated: bool = False
    module: Scope = field(default_factory=lambda: Scope(kind="module", parent=None))

    def walk(self, root: Node) -> None:
        stack = [_Task(root, self.module, MODULE_SCOPE)]
        while stack:
            following = self._visit(stack.pop())
            following.reverse()
            stack.extend(following)

    def resolved(self) -> list[Use]:
        explicit = {item.local: index for index, item in enumerate(self.imports) if item.local}
        open_ones = [
            index for index, item in enumerate(self.imports) if item.binds and not item.local
        ]
        suggested: dict[str, list[int]] = {}
        for index in open_ones:
            for name in suggested_names(self.imports[index].module):
                suggested.setdefault(name, []).append(index)
        uses: list[Use] = []
        for local, chain, line, scope, symbol, kind in self.raw_uses:
            if _declared(local, scope):
                continue
            named = [explicit[local]] if local in explicit else []
            behind = named or suggested.get(local) or open_ones
            if behind:
                uses.append(Use(local, chain, line, symbol, kind, tuple(behind)))
        return uses

    def package_uses(self) -> list[PackageUse]:
        """Return the names that no function around them declares: the package's, if it has them."""
        named = {item.local for item in self.imports}
        return [
            PackageUse(name, line, symbol, kind)
            for name, line, scope, symbol, kind in self.bare_names
            if name not in named and not _declared(name, scope)
        ]

    def _bare(self, node: Node, task: _Task, kind: UseKind) -> None:
        name = text_of(node)
        if name not in _PREDECLARED:
            self.bare_names.append((name, line_of(node), task.scope, task.symbol, kind))

    def _visit(self, task: _Task) -> list[_Task]:  # noqa: C901, PLR0911, PLR0912 - a case per node type
        node = task.node
        match node.type:
            case "package_clause":
                self.package = text_of(next(iter(node.named_children), None))
                return []
            case "import_declaration":
                for spec in descend(node, "import_spec"):
                    self._import(spec)
                return []
            case "function_declaration" | "method_declaration":
                return self._function(task)
            case "identifier" | "type_identifier":
                self._bare(node, task, task.kind)
                return []
            case "keyed_element":
                return self._keyed(task)
            case (
                "parameter_declaration"
                | "variadic_parameter_declaration"
                | "type_parameter_declaration"
            ):
                for name in node.children_by_field_name("name"):
                    task.scope.bind_other(text_of(name))
                return self._children(task)
            case "selector_expression" | "qualified_type":
                return self._selector(task)
            case "call_expression":
                called = node.child_by_field_name("function")
                return [
                    _Task(
                        child,
                        task.scope,
                        task.symbol,
                        "call" if called is not None and child.id == called.id else "reference",
                    )
                    for child in node.named_children
                ]
            case kind if kind in _SPECS:
                return self._spec(task)
            case kind if kind in _DECLARES:
                return self._declaring(task)
            case kind if kind in _BLOCKS:
                return self._children(task, Scope(kind="function", parent=task.scope))
            case _:
                return self._children(task)

    def _children(self, task: _Task, scope: Scope | None = None) -> list[_Task]:
        inner = scope or task.scope
        return [_Task(child, inner, task.symbol) for child in task.node.named_children]

    def _keyed(self, task: _Task) -> list[_Task]:
        """Pass over a key that is one name: it may be a field's."""
        key, *values = task.node.named_children
        inner = key.named_children
        is_name = len(inner) == 1 and inner[0].type == "identifier"
        return [
            _Task(child, task.scope, task.symbol)
            for child in (values if is_name else task.node.named_children)
        ]

    def _import(self, spec: Node) -> None:
        path = text_of(spec.child_by_field_name("path"))[1:-1]
        name = text_of(spec.child_by_field_name("name"))
        if not path or path == "C":
            return
        if len(self.imports) >= MAX_IMPORTS_ENTRIES:
            self.truncated = True
            return
        member = STAR if name == "." else ""
        local = "" if name in {".", "_"} else name
        binds = "" if name in {".", "_"} else path
        self.imports.append(Import(path, member, local, line_of(spec), binds=binds))

    def _symbol(self, node: Node, name: str, qualname: str, kind: SymbolKind, parent: int) -> int:
        if len(self.symbols) >= MAX_SYMBOLS_ENTRIES:
            self.truncated = True
            return parent
        exported = name[:1].isupper()
        self.symbols.append(
            Symbol(name, qualname, kind, line_of(node), end_line_of(node), parent, exported)
        )
        return len(self.symbols) - 1

    def _function(self, task: _Task) -> list[_Task]:
        node = task.node
        name_node = node.child_by_field_name("name")
        name = text_of(name_node)
        scope = Scope(kind="function", parent=task.scope)
        if node.type == "method_declaration":
            receiver = node.child_by_field_name("receiver")
            types = [] if receiver is None else list(descend(receiver, "type_identifier"))
            owner = text_of(types[0]) if types else ""
            index = self._symbol(node, name, f"{owner}.{name}", "method", MODULE_SCOPE)
        else:
            index = self._symbol(node, name, name, "function", MODULE_SCOPE)
            self._bind(name, "definition", node)
        return [
            _Task(child, scope, index)
            for child in node.named_children
            if name_node is None or child.id != name_node.id
        ]

    def _bind(self, name: str, kind: BindingKind, node: Node) -> None:
        if name[:1].isupper() and len(self.bindings) < MAX_SYMBOLS_ENTRIES:
            self.bindings.append(Binding(name, kind, line_of(node)))

    def _spec(self, task: _Task) -> list[_Task]:
        node = task.node
        kind, binding = _SPECS[node.type]
        index = task.symbol
        names = [child for child in node.children_by_field_name("name") if child.is_named]
        for name_node in names:
            name = text_of(name_node)
            if task.scope is self.module:
                index = self._symbol(node, name, name, kind, MODULE_SCOPE)
                self._bind(name, binding, node)
            else:
                task.scope.bind_other(name)
        skipped = {name.id for name in names}
        return [
            _Task(child, task.scope, index)
            for child in node.named_children
            if child.id not in skipped
        ]

    def _declaring(self, task: _Task) -> list[_Task]:
        node = task.node
        scope = task.scope
        if node.type == "type_switch_statement":
            scope = Scope(kind="function", parent=scope)
        left = node.child_by_field_name(_DECLARES[node.type])
        if left is not None:
            for name in descend(left, "identifier"):
                scope.bind_other(text_of(name))
        return self._children(task, scope)

    def _selector(self, task: _Task) -> list[_Task]:
        chain: list[str] = []
        node: Node | None = task.node
        while node is not None and len(chain) < MAX_CHAIN_ENTRIES:
            if node.type == "selector_expression":
                chain.append(text_of(node.child_by_field_name("field")))
                node = node.child_by_field_name("operand")
            elif node.type == "qualified_type":
                chain.append(text_of(node.child_by_field_name("name")))
                node = node.child_by_field_name("package")
            else:
                break
        if node is None or node.type not in {"identifier", "package_identifier"}:
            return self._children(task)
        chain.reverse()
        self._bare(node, task, "reference")
        self.raw_uses.append(
            (text_of(node), tuple(chain), line_of(task.node), task.scope, task.symbol, task.kind)
        )
        return []


def _declared(name: str, scope: Scope) -> bool:
    current: Scope | None = scope
    while current is not None:
        if name in current.bound:
            return True
        current = current.parent
    return False
