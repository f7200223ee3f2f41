"""What a JavaScript or TypeScript file exports, ES and CommonJS forms alike."""

from dataclasses import dataclass, field

from tree_sitter import Node

from agentic_os.code.script.nodes import PATTERN_NAMES, member_chain, required_module, string_value
from agentic_os.code.syntax import descend, line_of, text_of
from agentic_os.code.values import DEFAULT_EXPORT, MODULE_SCOPE, STAR, Binding, Import, Symbol

_NAMED = (
    "function_declaration",
    "generator_function_declaration",
    "function_signature",
    "class_declaration",
    "abstract_class_declaration",
    "interface_declaration",
    "type_alias_declaration",
    "enum_declaration",
    "internal_module",
)
_VARIABLES = ("lexical_declaration", "variable_declaration")


@dataclass(frozen=True, slots=True)
class _Export:
    name: str
    line: int
    module: str = ""
    member: str = ""
    local: str = ""


@dataclass(slots=True)
class ExportReader:
    """Collects exports while the file is walked."""

    found: list[_Export] = field(default_factory=list)
    dynamic: bool = False

    def statement(self, node: Node) -> None:
        """Take in one ``export`` statement."""
        line = line_of(node)
        source = string_value(node.child_by_field_name("source"))
        default = any(child.type == "default" for child in node.children)
        declaration = node.child_by_field_name("declaration")
        value = node.child_by_field_name("value")
        clause = next((c for c in node.named_children if c.type == "export_clause"), None)
        namespace = next((c for c in node.named_children if c.type == "namespace_export"), None)
        if default:
            target = declaration if declaration is not None else value
            local = self._default_name(target)
            self.found.append(_Export(DEFAULT_EXPORT, line_of(target or node), local=local))
        elif clause is not None:
            for item in descend(clause, "export_specifier"):
                self._specifier(item, source)
        elif namespace is not None and source:
            name = text_of(next(iter(namespace.named_children), None))
            self.found.append(_Export(name, line, module=source))
        elif source and any(child.type == STAR for child in node.children):
            self.found.append(_Export(STAR, line, module=source, member=STAR))
        elif declaration is not None:
            self._declaration(declaration)
        else:
            # TypeScript's ``export = name``.
            for child in node.named_children:
                if child.type == "identifier":
                    self.found.append(_Export(DEFAULT_EXPORT, line, local=text_of(child)))

    def assignment(self, node: Node) -> None:
        """Take in ``module.exports = ...`` and ``exports.name = ...``."""
        left = member_chain(node.child_by_field_name("left"))
        right = node.child_by_field_name("right")
        if right is None or not left or len(left) > _LONGEST_TARGET_ENTRIES:
            return
        if left == ["module", "exports"]:
            self._common(right)
        elif left[0] == "exports" and len(left) == _LONGEST_TARGET_ENTRIES - 1:
            self._member(left[1], right)
        elif left[:2] == ["module", "exports"]:
            self._member(left[2], right)

    def bindings(self, imports: list[Import], symbols: list[Symbol]) -> list[Binding]:
        """Resolve local names: defined here, or imported and passed on."""
        defined = {symbol.name: symbol.start for symbol in symbols if symbol.parent == MODULE_SCOPE}
        taken = {item.local: item for item in imports if item.scope == MODULE_SCOPE and item.local}
        result: list[Binding] = []
        for item in self.found:
            if item.member == STAR:
                result.append(Binding(STAR, "star", item.line, module=item.module))
            elif item.module:
                result.append(
                    Binding(item.name, "import", item.line, module=item.module, member=item.member)
                )
            elif item.local in defined:
                line = defined[item.local]
                result.append(Binding(item.name, "definition", line, member=item.local))
            elif item.local in taken:
                source = taken[item.local]
                result.append(
                    Binding(
                        item.name, "import", item.line, module=source.module, member=source.member
                    )
                )
            else:
                result.append(Binding(item.name, "value", item.line, member=item.local))
        return result

    def _default_name(self, target: Node | None) -> str:
        if target is None:
            return ""
        if target.type == "identifier":
            return text_of(target)
        return text_of(target.child_by_field_name("name"))

    def _specifier(self, item: Node, source: str) -> None:
        name_node, alias_node = item.child_by_field_name("name"), item.child_by_field_name("alias")
        name = string_value(name_node) or text_of(name_node)
        outer = string_value(alias_node) or text_of(alias_node) or name
        if source:
            self.found.append(_Export(outer, line_of(item), module=source, member=name))
        else:
            self.found.append(_Export(outer, line_of(item), local=name))

    def _declaration(self, node: Node) -> None:
        if node.type in _VARIABLES:
            for declarator in descend(node, "variable_declarator"):
                pattern = declarator.child_by_field_name("name")
                if pattern is None:
                    continue
                for each in descend(pattern, *PATTERN_NAMES):
                    text = text_of(each)
                    self.found.append(_Export(text, line_of(declarator), local=text))
            return
        inner = next(descend(node, *_NAMED), None)
        name = text_of(None if inner is None else inner.child_by_field_name("name"))
        if name:
            self.found.append(_Export(name, line_of(node), local=name))

    def _common(self, right: Node) -> None:
        line = line_of(right)
        module, member = required_module(right)
        if module:
            self.found.append(_Export(DEFAULT_EXPORT, line, module=module, member=member))
            if not member:
                self.found.append(_Export(STAR, line, module=module, member=STAR))
            return
        if right.type == "object":
            for child in right.named_children:
                if child.type == "shorthand_property_identifier":
                    text = text_of(child)
                    self.found.append(_Export(text, line_of(child), local=text))
                elif child.type == "pair":
                    key, value = (
                        child.child_by_field_name("key"),
                        child.child_by_field_name("value"),
                    )
                    if key is not None and value is not None:
                        self._member(string_value(key) or text_of(key), value)
                elif child.type == "method_definition":
                    name = text_of(child.child_by_field_name("name"))
                    self.found.append(_Export(name, line_of(child), local=name))
                else:
                    self.dynamic = True
            return
        self.found.append(_Export(DEFAULT_EXPORT, line, local=self._default_name(right)))

    def _member(self, name: str, value: Node) -> None:
        module, member = required_module(value)
        if module:
            self.found.append(_Export(name, line_of(value), module=module, member=member))
            return
        local = text_of(value) if value.type == "identifier" else ""
        self.found.append(_Export(name, line_of(value), local=local))


_LONGEST_TARGET_ENTRIES = 3
