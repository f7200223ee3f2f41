"""Small readings of Python expressions: dotted names, string lists, literals."""

import ast

from agentic_os.code.values import MAX_CHAIN_ENTRIES


def dotted_name(node: ast.AST | None) -> str:
    """Return ``a.b.c`` for a chain of names, or an empty string for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < MAX_CHAIN_ENTRIES:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    parts.reverse()
    return ".".join(parts)


def string_of(node: ast.AST | None) -> str | None:
    """Return the text of a string literal."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def string_list(node: ast.AST | None) -> list[str] | None:
    """Return a list or tuple display of string literals, or ``None``."""
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return None
    found = [string_of(element) for element in node.elts]
    texts = [text for text in found if text is not None]
    return texts if len(texts) == len(found) else None
