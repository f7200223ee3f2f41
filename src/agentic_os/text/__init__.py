"""Text rules without I/O: decoding, front matter, Markdown, redaction, fencing, tokens."""

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
