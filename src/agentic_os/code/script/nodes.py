"""Small readings of JavaScript and TypeScript nodes: strings, member chains, requires."""

from tree_sitter import Node

from agentic_os.code.syntax import text_of
from agentic_os.code.values import MAX_CHAIN_ENTRIES

_CHAIN_FIELDS = {
    "member_expression": ("object", "property"),
    "nested_type_identifier": ("module", "name"),
    "nested_identifier": ("object", "property"),
}
_ROOTS = {"identifier", "type_identifier", "this"}


PATTERN_NAMES = ("identifier", "shorthand_property_identifier_pattern")
"""The nodes that a destructuring pattern binds."""


def string_value(node: Node | None) -> str:
    """Return the text of a string literal without holes, else an empty string."""
    if node is None:
        return ""
    if node.type == "string" or (
        node.type == "template_string"
        and all(child.type != "template_substitution" for child in node.named_children)
    ):
        return text_of(node)[1:-1]
    return ""


def member_chain(node: Node | None) -> list[str]:
    """Return ``[a, b, c]`` for ``a.b.c``; empty for anything else."""
    parts: list[str] = []
    while node is not None and node.type in _CHAIN_FIELDS and len(parts) < MAX_CHAIN_ENTRIES:
        left, right = _CHAIN_FIELDS[node.type]
        parts.append(text_of(node.child_by_field_name(right)))
        node = node.child_by_field_name(left)
    if node is None or node.type not in _ROOTS:
        return []
    parts.append(text_of(node))
    parts.reverse()
    return parts


def arguments_of(call: Node) -> list[Node]:
    """Return a call's arguments without comments."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None:
        return []
    return [child for child in arguments.named_children if child.type != "comment"]


def required_module(node: Node) -> tuple[str, str]:
    """Return the module and the member of ``require("m")`` or ``require("m").member``."""
    member = ""
    if node.type == "member_expression":
        member = text_of(node.child_by_field_name("property"))
        inner = node.child_by_field_name("object")
        if inner is None:
            return "", ""
        node = inner
    if node.type != "call_expression":
        return "", ""
    if text_of(node.child_by_field_name("function")) != "require":
        return "", ""
    arguments = arguments_of(node)
    module = string_value(arguments[0]) if len(arguments) == 1 else ""
    return (module, member) if module else ("", "")


def property_of(node: Node | None, *names: str) -> Node | None:
    """Return the value of the first of the named properties of an object literal."""
    if node is None or node.type != "object":
        return None
    for child in node.named_children:
        key = child.child_by_field_name("key")
        if child.type == "pair" and key is not None:
            text = string_value(key) or text_of(key)
            if text in names:
                return child.child_by_field_name("value")
    return None
