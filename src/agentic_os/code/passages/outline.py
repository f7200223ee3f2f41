"""What a source file defines and on which lines: enough to cut it into passages.

Lighter than ``read_source``, which also follows names: one tree-sitter query a file. Nothing
is resolved; a definition is a name and its lines, with the comments that stand directly above
it. Files that do not parse give what the tolerant grammar shows.
"""

from dataclasses import dataclass

from tree_sitter import Node

from agentic_os.code.languages import BY_LANGUAGE
from agentic_os.code.reading import language_of
from agentic_os.code.syntax import Grammar, end_line_of, line_of, matches, parse, text_of
from agentic_os.code.table_driven import MAX_NAME_CHARS, spans_of

MAX_DEFINITIONS_ENTRIES = 20_000
MAX_NESTING_LEVELS = 8
"""Definitions nested deeper stay in the one that holds them."""

_PYTHON = """
(function_definition name: (identifier) @name) @definition
(class_definition name: (identifier) @name) @container
"""
_FUNCTION_VALUES = "[(arrow_function) (function_expression) (generator_function)]"
_JAVASCRIPT = f"""
(function_declaration name: (identifier) @name) @definition
(generator_function_declaration name: (identifier) @name) @definition
(method_definition name: (_) @name) @definition
(variable_declarator name: (identifier) @name value: {_FUNCTION_VALUES}) @definition
(variable_declarator name: (identifier) @name
  value: (call_expression arguments: (arguments {_FUNCTION_VALUES}))) @definition
(assignment_expression left: (member_expression) @name right: {_FUNCTION_VALUES}) @definition
(pair key: (property_identifier) @name value: {_FUNCTION_VALUES}) @definition
(variable_declarator name: (identifier) @name value: (class)) @container
(class_declaration name: (_) @name) @container
"""
_JAVASCRIPT_ONLY = f"""
(field_definition property: (_) @name value: {_FUNCTION_VALUES}) @definition
"""
_TYPESCRIPT_ONLY = f"""
(public_field_definition name: (_) @name value: {_FUNCTION_VALUES}) @definition
(interface_declaration name: (_) @name) @definition
(type_alias_declaration name: (_) @name) @definition
(enum_declaration name: (_) @name) @definition
(abstract_class_declaration name: (_) @name) @container
(internal_module name: (_) @name) @container
"""
_GO = """
(function_declaration name: (identifier) @name) @definition
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner))
  name: (field_identifier) @name) @definition
(type_spec name: (type_identifier) @name) @definition
(type_alias name: (type_identifier) @name) @definition
"""
_QUERIES: dict[Grammar, str] = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT + _JAVASCRIPT_ONLY,
    "typescript": _JAVASCRIPT + _TYPESCRIPT_ONLY,
    "tsx": _JAVASCRIPT + _TYPESCRIPT_ONLY,
    "go": _GO,
}
# A definition is told from the start of what wraps it: its decorators, ``export``, ``const``.
_WRAPPERS = frozenset(
    {
        "decorated_definition",
        "export_statement",
        "expression_statement",
        "lexical_declaration",
        "type_declaration",
        "variable_declaration",
    }
)
_COMMENT_STARTS = ("#", "//", "/*", "*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A name, dotted from the outermost definition, and its lines (from 1, inclusive).

    ``parent`` is an index into the outline, -1 at the top of the file. A ``container`` is a
    class or a namespace: what it holds are definitions of their own, whatever their size.
    """

    name: str
    start: int
    end: int
    parent: int
    level: int
    container: bool


def outline(path: str, text: str) -> tuple[Definition, ...]:
    """Return the definitions of a file in the order of their lines, none overlapping another.

    Two definitions are apart or one holds the other. Empty for languages that are not read. Never
    raises.
    """
    grammar = _grammar(path)
    if grammar is None:
        return ()
    root = parse(grammar, text.encode("utf-8", "replace"))
    lines = text.split("\n")
    found: list[Definition] = []
    open_: list[int] = []
    closed: dict[int, int] = {}  # by parent, the end of the last definition in it
    for start, end, name, container in sorted(_spans(grammar, root), key=_order):
        while open_ and found[open_[-1]].end < start:
            open_.pop()
        parent = open_[-1] if open_ else -1
        if parent >= 0 and end > found[parent].end:
            continue  # it starts on the last line of the one before it
        if len(open_) >= MAX_NESTING_LEVELS or len(found) >= MAX_DEFINITIONS_ENTRIES:
            continue
        before = closed.get(parent, found[parent].start if parent >= 0 else 0)
        closed[parent] = end
        found.append(
            Definition(
                name=f"{found[parent].name}.{name}" if parent >= 0 else name,
                start=_with_comments(lines, start, before),
                end=min(end, len(lines)),
                parent=parent,
                level=len(open_),
                container=container,
            )
        )
        open_.append(len(found) - 1)
    return tuple(found)


_Span = tuple[int, int, str, bool]


def _order(span: _Span) -> tuple[int, int]:
    return span[0], -span[1]


def _grammar(path: str) -> Grammar | None:
    language = language_of(path)
    if language == "typescript" and path.lower().endswith("x"):
        return "tsx"
    return language


def _spans(grammar: Grammar, root: Node) -> list[_Span]:
    found: dict[tuple[int, int], _Span] = {}
    if grammar in BY_LANGUAGE:
        for node, name, kind in spans_of(BY_LANGUAGE[grammar], root):
            start, end = line_of(node), end_line_of(node)
            found.setdefault((start, end), (start, end, name, kind == "container"))
        return list(found.values())
    for captures in matches(grammar, root, _QUERIES[grammar]):
        container = "container" in captures
        node = captures["container" if container else "definition"][0]
        name = _name(captures)
        if not name:
            continue
        while node.parent is not None and node.parent.type in _WRAPPERS:
            if node.parent.type == "type_declaration" and node.parent.named_child_count > 1:
                break
            node = node.parent
        start, end = line_of(node), end_line_of(node)
        # The first of several on the same lines is the one that is found.
        found.setdefault((start, end), (start, end, name, container))
    return list(found.values())


def _name(captures: dict[str, list[Node]]) -> str:
    name = "".join(text_of(captures["name"][0]).split()).strip("\"'`")
    if "owner" in captures:
        owner = text_of(captures["owner"][0]).lstrip("*( ").partition("[")[0].rstrip(") ")
        name = f"{owner}.{name}"
    return name if len(name) <= MAX_NAME_CHARS else ""


def _with_comments(lines: list[str], start: int, before: int) -> int:
    """Return where the comment lines directly above a definition begin."""
    while start - 1 > before and lines[start - 2].lstrip().startswith(_COMMENT_STARTS):
        start -= 1
    return start
