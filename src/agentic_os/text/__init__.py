"""Text rules without I/O: decoding, front matter, Markdown, redaction, fencing, tokens.

The names are loaded from their modules when they are first asked for: a command that
only decodes need not compile the patterns of the rest (start-up budget, design section 9).
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentic_os.text.budget import cut_chars, cut_utf16, utf16_length
    from agentic_os.text.decoding import Decoded, decode
    from agentic_os.text.fencing import fence, one_line, terminal_safe, visible
    from agentic_os.text.front_matter import FrontMatter, split_front_matter
    from agentic_os.text.jsonl import JsonlFault, iterate_jsonl
    from agentic_os.text.markdown import (
        MarkdownLink,
        Section,
        Table,
        TableRow,
        WikiLink,
        links,
        sections,
        tables,
        tags,
        wikilinks,
        without_comments,
    )
    from agentic_os.text.redaction import Redacted, Redactor, SecretFinding
    from agentic_os.text.tokens import fts_query, index_extra, is_identifier, query_terms

__all__ = [
    "Decoded",
    "FrontMatter",
    "JsonlFault",
    "MarkdownLink",
    "Redacted",
    "Redactor",
    "SecretFinding",
    "Section",
    "Table",
    "TableRow",
    "WikiLink",
    "cut_chars",
    "cut_utf16",
    "decode",
    "fence",
    "fts_query",
    "index_extra",
    "is_identifier",
    "iterate_jsonl",
    "links",
    "one_line",
    "query_terms",
    "sections",
    "split_front_matter",
    "tables",
    "tags",
    "terminal_safe",
    "utf16_length",
    "visible",
    "wikilinks",
    "without_comments",
]

_MODULES: dict[str, tuple[str, ...]] = {
    "budget": (
        "cut_chars",
        "cut_utf16",
        "utf16_length",
    ),
    "decoding": (
        "Decoded",
        "decode",
    ),
    "fencing": (
        "fence",
        "one_line",
        "terminal_safe",
        "visible",
    ),
    "front_matter": (
        "FrontMatter",
        "split_front_matter",
    ),
    "jsonl": (
        "JsonlFault",
        "iterate_jsonl",
    ),
    "markdown": (
        "MarkdownLink",
        "Section",
        "Table",
        "TableRow",
        "WikiLink",
        "links",
        "sections",
        "tables",
        "tags",
        "wikilinks",
        "without_comments",
    ),
    "redaction": (
        "Redacted",
        "Redactor",
        "SecretFinding",
    ),
    "tokens": (
        "fts_query",
        "index_extra",
        "is_identifier",
        "query_terms",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

if not TYPE_CHECKING:  # type checkers see the imports above, and miss no misspelt name

    def __getattr__(name: str) -> object:
        """Load a public name from its module (PEP 562)."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value: object = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
