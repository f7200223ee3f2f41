"""Python that ``ast`` refuses, read with tree-sitter-python.

Kept: top-level and nested definitions with their lines, and the module's imports. Uses
are left out: without the interpreter's own grammar they would be guesses.
"""

from tree_sitter import Node

from agentic_os.code.syntax import descend, end_line_of, line_of, named, parse, text_of
from agentic_os.code.values import (
    MODULE_SCOPE,
    STAR,
    Binding,
    Import,
    SourceFacts,
    Symbol,
    SymbolKind,
)

MAX_LOOSE_ENTRIES = 20_000
_DEFINITIONS = ("function_definition", "class_definition")
_IMPORTS = ("import_statement", "import_from_statement", "future_import_statement")


def read_python_loosely(data: bytes) -> SourceFacts:
    """Read definitions and imports of a file that does not parse; never raises."""
    root = parse("python", data)
    symbols: list[Symbol] = []
    bindings: list[Binding] = []
    imports: list[Import] = []
    pending: list[tuple[Node, int]] = [(root, MODULE_SCOPE)]
    while pending and len(symbols) + len(imports) < MAX_LOOSE_ENTRIES:
        node, parent = pending.pop()
        if node.type in _IMPORTS:
            imports.extend(_imports(node, parent))
            continue
        inner = parent
        if node.type in _DEFINITIONS:
            name = text_of(node.child_by_field_name("name"))
            if name:
                symbols.append(_symbol(node, name, parent, symbols))
                inner = len(symbols) - 1
                if parent == MODULE_SCOPE:
                    bindings.append(Binding(name, "definition", line_of(node), certain=False))
        pending.extend((child, inner) for child in reversed(node.named_children))
    bindings.extend(_binding(item) for item in imports if item.scope == MODULE_SCOPE)
    return SourceFacts(
        language="python",
        lines=data.count(b"\n") + 1,
        symbols=tuple(symbols),
        bindings=tuple(bindings),
        imports=tuple(imports),
        dynamic=True,
        problems=("PYTHON_UNPARSED",),
    )


def _symbol(node: Node, name: str, parent: int, symbols: list[Symbol]) -> Symbol:
    prefix = "" if parent == MODULE_SCOPE else f"{symbols[parent].qualname}."
    in_class = parent != MODULE_SCOPE and symbols[parent].kind == "class"
    kind: SymbolKind = "method" if in_class else "function"
    if node.type == "class_definition":
        kind = "class"
    exported = not name.startswith("_")
    return Symbol(name, prefix + name, kind, line_of(node), end_line_of(node), parent, exported)


def _imports(node: Node, scope: int) -> list[Import]:
    line = line_of(node)
    found: list[Import] = []
    source = node.child_by_field_name("module_name")
    module = text_of(source)
    if node.type == "import_from_statement" and not module:
        return []
    if any(True for _ in descend(node, "wildcard_import")):
        return [Import(module, STAR, "", line, scope, certain=False)]
    for child in named(node):
        if source is not None and child.id == source.id:
            continue
        alias = ""
        target = child
        if child.type == "aliased_import":
            alias = text_of(child.child_by_field_name("alias"))
            target = child.child_by_field_name("name") or child
        name = text_of(target)
        if not name:
            continue
        if node.type == "import_statement":
            root = name.partition(".")[0]
            binds = name if alias else root
            found.append(Import(name, "", alias or root, line, scope, certain=False, binds=binds))
        else:
            found.append(
                Import(module or "__future__", name, alias or name, line, scope, certain=False)
            )
    return found


def _binding(item: Import) -> Binding:
    if item.member == STAR:
        return Binding(STAR, "star", item.line, certain=False, module=item.module)
    if item.member:
        return Binding(
            item.local, "import", item.line, certain=False, module=item.module, member=item.member
        )
    return Binding(item.local, "import", item.line, certain=False, module=item.binds)
