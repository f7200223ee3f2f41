"""JavaScript and TypeScript sources, read with tree-sitter.

ES modules and CommonJS: imports, ``require``, exports and re-exports, definitions, and
the uses of imported names with their scopes. Scopes are blocks and functions; a name that
a scope declares itself is not the imported one.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Node

from agentic_os.code.python.scopes import Scope
from agentic_os.code.script.exports import ExportReader
from agentic_os.code.script.nodes import PATTERN_NAMES, member_chain, required_module, string_value
from agentic_os.code.syntax import Grammar, descend, end_line_of, line_of, parse, text_of
from agentic_os.code.values import (
    DEFAULT_EXPORT,
    MAX_IMPORTS_ENTRIES,
    MAX_SYMBOLS_ENTRIES,
    MAX_USES_ENTRIES,
    MODULE_SCOPE,
    Import,
    Language,
    LocalUse,
    SourceFacts,
    Symbol,
    SymbolKind,
    Use,
    UseKind,
)

_KINDS: dict[str, SymbolKind] = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "function_signature": "function",
    "class_declaration": "class",
    "abstract_class_declaration": "class",
    "interface_declaration": "type",
    "type_alias_declaration": "type",
    "enum_declaration": "type",
    "internal_module": "type",
    "method_definition": "method",
    "abstract_method_signature": "method",
}
_FUNCTION_VALUES = {"arrow_function", "function_expression", "generator_function", "class"}
_FUNCTIONS = _FUNCTION_VALUES | {
    "function_declaration",
    "generator_function_declaration",
    "method_definition",
}
_BLOCKS = {"statement_block", "for_statement", "for_in_statement", "catch_clause", "class_body"}
_IDENTIFIERS = {"identifier", "type_identifier", "shorthand_property_identifier"}
_CHAINS = {"member_expression", "nested_type_identifier", "nested_identifier"}
_HERITAGE = {"extends_clause", "implements_clause", "extends_type_clause", "class_heritage"}


def read_script(data: bytes, grammar: Grammar) -> SourceFacts:
    """Read one JavaScript or TypeScript file.

    Args:
        data: the file's bytes.
        grammar: ``javascript``, ``typescript`` or ``tsx``.

    Returns:
        What the file says; ``SCRIPT_SYNTAX`` among the problems where parts did not
        parse. Never raises.
    """
    root = parse(grammar, data)
    language: Language = "javascript" if grammar == "javascript" else "typescript"
    walker = _Walker(language=language, lines=data.count(b"\n") + 1)
    walker.walk(root)
    return walker.facts(root)


class _Task(NamedTuple):
    node: Node
    scope: Scope
    symbol: int
    kind: UseKind = "reference"


class _RawUse(NamedTuple):
    local: str
    chain: tuple[str, ...]
    line: int
    scope: Scope
    symbol: int
    kind: UseKind


@dataclass(slots=True)
class _Walker:
    language: Language
    lines: int
    symbols: list[Symbol] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    raw_uses: list[_RawUse] = field(default_factory=list)
    exports: ExportReader = field(default_factory=ExportReader)
    truncated: bool = False
    module: Scope = field(default_factory=lambda: Scope(kind="module", parent=None))

    def walk(self, root: Node) -> None:
        """Visit every named node in source order."""
        stack = [_Task(root, self.module, MODULE_SCOPE)]
        while stack:
            task = stack.pop()
            following = self._visit(task)
            following.reverse()
            stack.extend(following)

    def facts(self, root: Node) -> SourceFacts:
        """Resolve the uses and close the account."""
        uses: list[Use] = []
        local_uses: list[LocalUse] = []
        for raw in self.raw_uses:
            behind = raw.scope.imports_of(raw.local, self.imports)
            if behind:
                uses.append(Use(raw.local, raw.chain, raw.line, raw.symbol, raw.kind, behind))
                continue
            used = raw.scope.symbol_of(raw.local)
            if used is not None:
                kind: UseKind = "reference" if raw.chain else raw.kind
                local_uses.append(LocalUse(used, raw.line, raw.symbol, kind))
        problems = ["SCRIPT_SYNTAX"] if root.has_error else []
        if self.truncated or len(uses) > MAX_USES_ENTRIES:
            problems.append("SOURCE_TRUNCATED")
        return SourceFacts(
            language=self.language,
            lines=self.lines,
            symbols=tuple(self.symbols),
            bindings=tuple(self.exports.bindings(self.imports, self.symbols)),
            imports=tuple(self.imports),
            uses=tuple(uses[:MAX_USES_ENTRIES]),
            local_uses=tuple(local_uses[:MAX_USES_ENTRIES]),
            dynamic=self.exports.dynamic,
            problems=tuple(problems),
        )

    def _visit(  # noqa: C901, PLR0911, PLR0912 - a case per node type
        self, task: _Task
    ) -> list[_Task]:
        node, kind = task.node, task.node.type
        if kind == "import_statement":
            self._import(node, task)
            return []
        if kind == "export_statement":
            self.exports.statement(node)
            if node.child_by_field_name("source") is not None:
                return []
            return self._children(task)
        if kind in _KINDS:
            return self._definition(task)
        if kind == "variable_declarator":
            return self._declarator(task)
        if kind in _FUNCTIONS:
            return self._function_body(task, task.symbol)
        if kind in _BLOCKS:
            scope = Scope(kind="function", parent=task.scope)
            if kind == "catch_clause":
                self._bind_pattern(node.child_by_field_name("parameter"), scope)
            if kind == "for_in_statement":
                self._bind_pattern(node.child_by_field_name("left"), scope)
            return self._children(task, scope=scope)
        if kind in _HERITAGE:
            return self._children(task, kind="inherits")
        if kind == "call_expression":
            return self._call(task)
        if kind == "new_expression":
            return self._callable(task, "constructor")
        if kind in {"jsx_opening_element", "jsx_self_closing_element"}:
            return self._children(task)
        if kind == "assignment_expression":
            self.exports.assignment(node)
            return self._children(task)
        if kind in _IDENTIFIERS:
            self._use(text_of(node), (), task)
            return []
        if kind in _CHAINS:
            chain = member_chain(node)
            if chain:
                self._use(chain[0], tuple(chain[1:]), task)
                return []
            return self._children(task)
        return self._children(task)

    def _children(
        self, task: _Task, *, scope: Scope | None = None, kind: UseKind = "reference"
    ) -> list[_Task]:
        inner = scope or task.scope
        return [_Task(child, inner, task.symbol, kind) for child in task.node.named_children]

    def _use(self, local: str, chain: tuple[str, ...], task: _Task) -> None:
        self.raw_uses.append(
            _RawUse(local, chain, line_of(task.node), task.scope, task.symbol, task.kind)
        )

    # -- definitions -------------------------------------------------------------------

    def _symbol(self, node: Node, name: str, kind: SymbolKind, parent: int) -> int:
        if len(self.symbols) >= MAX_SYMBOLS_ENTRIES:
            self.truncated = True
            return parent
        prefix = "" if parent == MODULE_SCOPE else f"{self.symbols[parent].qualname}."
        self.symbols.append(
            Symbol(name, prefix + name, kind, line_of(node), end_line_of(node), parent)
        )
        return len(self.symbols) - 1

    def _definition(self, task: _Task) -> list[_Task]:
        node = task.node
        name_node = node.child_by_field_name("name")
        name = text_of(name_node)
        kind = _KINDS[node.type]
        index = task.symbol
        if name:
            index = self._symbol(node, name, kind, task.symbol)
            if kind != "method":
                task.scope.define(name, index)
        if node.type in _FUNCTIONS:
            return self._function_body(task, index)
        scope = Scope(kind="function", parent=task.scope)
        skipped = None if name_node is None else name_node.id
        return [_Task(child, scope, index) for child in node.named_children if child.id != skipped]

    def _function_body(self, task: _Task, symbol: int) -> list[_Task]:
        node = task.node
        scope = Scope(kind="function", parent=task.scope)
        name_node = node.child_by_field_name("name")
        skipped = None if name_node is None else name_node.id
        self._bind_pattern(node.child_by_field_name("parameter"), scope)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            for child in parameters.named_children:
                pattern = child.child_by_field_name("pattern")
                if child.type == "assignment_pattern":
                    pattern = child.child_by_field_name("left")
                self._bind_pattern(pattern or child, scope)
        return [_Task(child, scope, symbol) for child in node.named_children if child.id != skipped]

    def _bind_pattern(self, node: Node | None, scope: Scope) -> None:
        if node is not None:
            for name in descend(node, *PATTERN_NAMES):
                scope.bind_other(text_of(name))

    def _declarator(self, task: _Task) -> list[_Task]:
        node = task.node
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return self._children(task)
        if value is not None and self._require(name, value, task):
            return []
        symbol = task.symbol
        if name.type != "identifier":
            self._bind_pattern(name, task.scope)
        else:
            made: int | None = None
            if value is not None and value.type in _FUNCTION_VALUES:
                kind: SymbolKind = "class" if value.type == "class" else "function"
                made = symbol = self._symbol(node, text_of(name), kind, task.symbol)
            elif task.scope is self.module:
                made = self._symbol(node, text_of(name), "constant", task.symbol)
            if made is None:
                task.scope.bind_other(text_of(name))
            else:
                task.scope.define(text_of(name), made)
        return [
            _Task(child, task.scope, symbol) for child in node.named_children if child.id != name.id
        ]

    # -- imports -----------------------------------------------------------------------

    def _take(
        self, module: str, member: str, local: str, task: _Task, *, type_only: bool = False
    ) -> None:
        if len(self.imports) >= MAX_IMPORTS_ENTRIES:
            self.truncated = True
            return
        binds = "" if member else module
        line = line_of(task.node)
        self.imports.append(
            Import(module, member, local, line, task.symbol, type_only, certain=True, binds=binds)
        )
        if local:
            task.scope.bind_import(local, len(self.imports) - 1)

    def _import(self, node: Node, task: _Task) -> None:
        clause = next(
            (child for child in node.named_children if child.type == "import_clause"), None
        )
        typed = any(child.type == "type" for child in node.children)
        required = next(descend(node, "import_require_clause"), None)
        if required is not None:
            module = string_value(required.child_by_field_name("source"))
            local = text_of(next(iter(required.named_children), None))
            if module:
                self._take(module, "", local, task)
            return
        module = string_value(node.child_by_field_name("source"))
        if not module:
            return
        if clause is None:
            self._take(module, "", "", task)
            return
        for child in clause.named_children:
            if child.type == "identifier":
                self._take(module, DEFAULT_EXPORT, text_of(child), task, type_only=typed)
            elif child.type == "namespace_import":
                local = text_of(next(iter(child.named_children), None))
                self._take(module, "", local, task, type_only=typed)
            elif child.type == "named_imports":
                for item in descend(child, "import_specifier"):
                    name = string_value(item.child_by_field_name("name")) or text_of(
                        item.child_by_field_name("name")
                    )
                    local = text_of(item.child_by_field_name("alias")) or name
                    inline = any(part.type == "type" for part in item.children)
                    self._take(module, name, local, task, type_only=typed or inline)

    def _require(self, name: Node, value: Node, task: _Task) -> bool:
        module, member = required_module(value)
        if not module:
            return False
        if name.type == "identifier":
            self._take(module, member, text_of(name), task)
            return True
        if name.type != "object_pattern" or member:
            return False
        for child in name.named_children:
            if child.type == "shorthand_property_identifier_pattern":
                self._take(module, text_of(child), text_of(child), task)
            elif child.type == "pair_pattern":
                key = text_of(child.child_by_field_name("key"))
                local = child.child_by_field_name("value")
                if local is not None and local.type == "identifier":
                    self._take(module, key, text_of(local), task)
        return True

    # -- calls -------------------------------------------------------------------------

    def _call(self, task: _Task) -> list[_Task]:
        node = task.node
        module, _ = required_module(node)
        function = node.child_by_field_name("function")
        if module:
            self._take(module, "", "", task)
            return []
        if function is not None and function.type == "import":
            arguments = node.child_by_field_name("arguments")
            first = next(iter(arguments.named_children), None) if arguments is not None else None
            if string_value(first):
                self._take(string_value(first), "", "", task)
        return self._callable(task, "function")

    def _callable(self, task: _Task, called: str) -> list[_Task]:
        target = task.node.child_by_field_name(called)
        following = []
        for child in task.node.named_children:
            is_target = target is not None and child.id == target.id
            kind: UseKind = "call" if is_target else "reference"
            following.append(_Task(child, task.scope, task.symbol, kind))
        return following
