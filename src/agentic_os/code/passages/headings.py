"""The sections of documents that are not Markdown: reStructuredText and AsciiDoc. Pure."""

import re
from collections.abc import Sequence

from agentic_os.text.markdown.structure import sections

_MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdx")
_RST_SUFFIXES = (".rst",)
_ASCIIDOC_SUFFIXES = (".adoc", ".asciidoc", ".org", ".textile")
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*\Z")
_NO_TITLE = re.compile(rf"[-*+] |\.\. |{_RULE.pattern}")
_ASCIIDOC_TITLE = re.compile(r"(?:={1,6}|\*{1,6}|h[1-6]\.)[ \t]+(\S.*)\Z")
MAX_TITLE_CHARS = 200

Heading = tuple[str, int, int]
"""A title (empty before the first one) and the lines of its section, from 1, inclusive."""


def document_sections(path: str, text: str, lines: Sequence[str]) -> list[Heading]:
    """Cut a document at its headings; together the sections hold every line.

    Args:
        path: for the suffix, which names the format; an unknown one is a single section.
        text: the document.
        lines: its lines.
    """
    lowered = path.lower()
    if lowered.endswith(_MARKDOWN_SUFFIXES):
        return [(item.title, item.start, item.end) for item in sections(text)]
    if lowered.endswith(_RST_SUFFIXES):
        heads = _rst_heads(lines)
    elif lowered.endswith(_ASCIIDOC_SUFFIXES):
        heads = _asciidoc_heads(lines)
    else:
        heads = []
    starts = [("", 1), *heads]
    ends = [start - 1 for _, start in heads] + [len(lines)]
    return [(title, start, end) for (title, start), end in zip(starts, ends, strict=True)]


def _rst_heads(lines: Sequence[str]) -> list[tuple[str, int]]:
    """Titles that a rule of one repeated character underlines, with or without an overline."""
    found: list[tuple[str, int]] = []
    for number in range(1, len(lines)):
        title, rule = lines[number - 1].strip(), lines[number].rstrip()
        if not title or len(title) > MAX_TITLE_CHARS or not _RULE.match(rule):
            continue
        if _NO_TITLE.match(title) or len(rule) < len(title):
            continue
        over = number >= 2 and lines[number - 2].rstrip() == rule  # noqa: PLR2004 - a line above
        above = "" if number < 2 or over else lines[number - 2]  # noqa: PLR2004 - same
        if not above.strip() and (over or lines[number - 1][:1].strip()):
            found.append((title, number - 1 if over else number))
    return found


def _asciidoc_heads(lines: Sequence[str]) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for number, line in enumerate(lines, 1):
        match = _ASCIIDOC_TITLE.match(line)
        if match is not None:
            found.append((match.group(1).strip()[:MAX_TITLE_CHARS], number))
    return found
