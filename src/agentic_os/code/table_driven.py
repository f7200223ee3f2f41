"""From the bytes of a source of a table's language to facts: definitions and imports, no uses."""

from tree_sitter import Node

from agentic_os.code.languages import Row
from agentic_os.code.syntax import end_line_of, line_of, matches, parse, text_of
from agentic_os.code.values import (
    MAX_IMPORTS_ENTRIES,
    MAX_SYMBOLS_ENTRIES,
    MODULE_SCOPE,
    Import,
    SourceFacts,
    Symbol,
    SymbolKind,
)

NEAR = "./"
"""What the module of an import begins with that is a path from the file's own folder."""
MAX_NAME_CHARS = 120


def read_tabled(data: bytes, row: Row) -> SourceFacts:
    """Read one source file; never raises on any input."""
    root = parse(row.language, data)
    symbols = _symbols(row, root)
    imports = _imports(row, root)
    cut = len(symbols) > MAX_SYMBOLS_ENTRIES or len(imports) > MAX_IMPORTS_ENTRIES
    return SourceFacts(
        language=row.language,
        lines=data.count(b"\n") + 1,
        symbols=tuple(symbols[:MAX_SYMBOLS_ENTRIES]),
        imports=tuple(imports[:MAX_IMPORTS_ENTRIES]),
        problems=("SOURCE_TRUNCATED",) if cut else (),
    )


def spans_of(row: Row, root: Node) -> list[tuple[Node, str, str]]:
    """Return the definitions of a tree: node, dotted name, and what its query calls it."""
    found: dict[int, tuple[Node, str, str]] = {}
    for captures in matches(row.language, root, row.definitions):
        kind = next(kind for kind in ("container", "definition", "type") if kind in captures)
        node = captures[kind][0]
        name = dotted(text_of(captures["name"][0]))
        if name and len(name) <= MAX_NAME_CHARS:
            found.setdefault(node.id, (node, name, kind))
    return sorted(found.values(), key=lambda item: (item[0].start_byte, -item[0].end_byte))


def dotted(name: str) -> str:
    """Return a name with dots where its language writes colons or backslashes."""
    return "".join(name.split()).replace("::", ".").replace("\\", ".").strip(".")


def _symbols(row: Row, root: Node) -> list[Symbol]:
    found: list[Symbol] = []
    around: list[tuple[int, int, str]] = []
    for node, name, kind in spans_of(row, root):
        while around and node.start_byte >= around[-1][0]:
            around.pop()
        parent, holder = (around[-1][1], around[-1][2]) if around else (MODULE_SCOPE, "")
        above = found[parent].qualname if around else ""
        found.append(
            Symbol(
                name=name.rpartition(".")[2],
                qualname=f"{above}.{name}" if above else name,
                kind=_kind(kind, holder),
                start=line_of(node),
                end=end_line_of(node),
                parent=parent,
            )
        )
        around.append((node.end_byte, len(found) - 1, kind))
    return found


def _kind(kind: str, holder: str) -> SymbolKind:
    if kind == "definition":
        return "method" if holder == "container" else "function"
    return "class" if kind == "container" else "type"


def _imports(row: Row, root: Node) -> list[Import]:
    found: dict[tuple[str, int], Import] = {}
    for captures in matches(row.language, root, row.imports):
        before = "".join(f"{text_of(node)}\\" for node in captures.get("before", ()))
        for near in (False, True):
            for node in captures.get("near" if near else "import", ()):
                module = _module(before + text_of(node), near=near)
                if module:
                    line = line_of(node)
                    item = Import(module=module, member="", local="", line=line)
                    found.setdefault((module, line), item)
    return sorted(found.values(), key=lambda item: item.line)


def _module(text: str, *, near: bool) -> str:
    """Return what an import names, without what its language puts around it."""
    bare = text.strip().removeprefix("import ").strip().strip("<>\"'")
    bare = "".join(bare.split()) if not near else bare
    if not bare or len(bare) > MAX_NAME_CHARS * 4:
        return ""
    return f"{NEAR}{bare.removeprefix('./')}" if near else bare
