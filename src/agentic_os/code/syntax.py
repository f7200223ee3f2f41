"""Tree-sitter: the grammars, and a walk that no nesting can exhaust.

The grammars are the ``tree-sitter-*`` wheels. They tolerate errors: what cannot be parsed
becomes an ``ERROR`` node and the rest is still read.
"""

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Literal

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from agentic_os.code.languages import BY_LANGUAGE
from agentic_os.code.values import Language as LanguageName

Grammar = LanguageName | Literal["tsx"]


@lru_cache(maxsize=32)
def _language(grammar: Grammar) -> Language:
    match grammar:
        case "python":
            import tree_sitter_python

            return Language(tree_sitter_python.language())
        case "javascript":
            import tree_sitter_javascript

            return Language(tree_sitter_javascript.language())
        case "typescript":
            import tree_sitter_typescript

            return Language(tree_sitter_typescript.language_typescript())
        case "tsx":
            import tree_sitter_typescript

            return Language(tree_sitter_typescript.language_tsx())
        case "go":
            import tree_sitter_go

            return Language(tree_sitter_go.language())
        case _:
            row = BY_LANGUAGE[grammar]
            return Language(getattr(import_module(row.module), row.function)())


def parse(grammar: Grammar, data: bytes) -> Node:
    """Parse bytes and return the root node; never raises on any input."""
    return Parser(_language(grammar)).parse(data).root_node


@lru_cache(maxsize=64)
def _query(grammar: Grammar, pattern: str) -> Query:
    return Query(_language(grammar), pattern)


def matches(grammar: Grammar, node: Node, pattern: str) -> list[dict[str, list[Node]]]:
    """Return the captures of every match of a tree-sitter query below ``node``.

    Args:
        grammar: the language of the tree.
        node: where to look.
        pattern: the query, one of this package's own.
    """
    cursor = QueryCursor(_query(grammar, pattern))
    return [captures for _, captures in cursor.matches(node)]


def text_of(node: Node | None) -> str:
    """Return a node's source text, empty for no node."""
    if node is None or node.text is None:
        return ""
    return node.text.decode("utf-8", "replace")


def line_of(node: Node) -> int:
    """Return the 1-based line that a node starts on."""
    return node.start_point.row + 1


def end_line_of(node: Node) -> int:
    """Return the 1-based line that a node ends on."""
    return node.end_point.row + 1


def named(node: Node) -> list[Node]:
    """Return a node's named children without comments."""
    return [child for child in node.named_children if child.type != "comment"]


def descend(node: Node, *types: str) -> Iterator[Node]:
    """Yield every node below ``node`` that has one of the types, in source order.

    What is found is not descended into.
    """
    pending = [node]
    while pending:
        current = pending.pop()
        if current.type in types:
            yield current
            continue
        pending.extend(reversed(current.named_children))
