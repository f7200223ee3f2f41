"""The Markdown that memories, notes and inventories use: as much of it as readers need.

Rules (CommonMark 0.31 and GFM tables where not said otherwise):

- Nothing inside fenced code, code spans or HTML comments counts as a heading, link or
  tag. A fence may be indented by three blanks more than the list item that it stands in; one
  without an end, and a comment that starts a line and has no end, run to the end of the text.
- Lines are counted from 1; a final newline does not start another line.
- Every function is linear in its input, whatever the input.
"""

import re
from collections.abc import Iterator

import msgspec

from agentic_os.text.markdown.code import masked, without_comments
from agentic_os.text.markdown.tables import Table, TableRow, tables

__all__ = [
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
]

MAX_SECTIONS_ENTRIES = 2_000
"""A file of nothing but headings would become a document a line."""
_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|\Z)")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*\Z")
_NO_PARAGRAPH = re.compile(r"[ \t]*(?:\Z|[#>|]|[-*+][ \t]|\d{1,9}[.)][ \t])|\t| {4}")

# Alternatives differ in their first character and are possessive: no backtracking.
_LINK = re.compile(
    r"\[((?:[^\[\]\\\n]++|\\.|\n(?![ \t]*\n)|\[[^\[\]\n]*+\](?:\([^()\n]*+\))?)*+)\]"
    r"\(((?:[^()<\\\n]++|<[^<>\n]*+>|<|\\.|\((?:[^()\\\n]++|\\.)*+\))*+)\)"
)
_LINK_TITLE = re.compile(r"""(?<![ \t])[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\))\Z""")
_TITLE_ENDS = frozenset("\"')")
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{-~])")
_WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_WIKI_PIPE = re.compile(r"\\?\|")
_ALIAS_HEADING = re.compile(r"(?<=\S)#(?=\S)")
_TAG = re.compile(r"#([\w/-]+)")
_BEFORE_TAG = frozenset(" \t\n\u00a0\u3000,;>")


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A heading and the lines up to the next heading of whatever level.

    ``start`` and ``end`` are 1-based and inclusive; the sections partition the text.
    The preamble has level 0, an empty title and, when the text starts with a heading,
    ``end`` 0.
    """

    level: int
    title: str
    start: int
    end: int


class MarkdownLink(msgspec.Struct, frozen=True, kw_only=True):
    """An inline link; the target is as written, without brackets, title or escapes."""

    title: str
    target: str
    line: int


class WikiLink(msgspec.Struct, frozen=True, kw_only=True):
    """A ``[[target#heading|alias]]`` link, or an embed of it."""

    target: str
    heading: str
    alias: str
    line: int
    embed: bool = False


def sections(text: str) -> tuple[Section, ...]:
    """Split ``text`` at its ATX and setext headings; see ``Section``.

    The first section is always the preamble. Of more than ``MAX_SECTIONS_ENTRIES`` the last one
    holds the rest of the text.
    """
    lines = _lines(text)
    blanked = masked(text)
    shown = lines if blanked is text else _lines(blanked)
    heads: list[tuple[int, int, str]] = [(0, 1, "")]
    taken = 0  # the last line that belongs to a heading
    for number, line in enumerate(shown, start=1):
        mark = line.lstrip(" ")[:1]
        if mark == "#":
            if match := _ATX.match(line):
                whole = _ATX.match(lines[number - 1]) or match
                title = _atx_title(lines[number - 1][whole.end() :])
                heads.append((len(match.group(1)), number, title))
                taken = number
        elif (
            mark
            and mark in "=-"
            and number - 1 > taken
            and (match := _SETEXT.match(line))
            and not _NO_PARAGRAPH.match(shown[number - 2])
        ):
            level = 1 if match.group(1)[0] == "=" else 2
            heads.append((level, number - 1, lines[number - 2].strip()))
            taken = number
    del heads[MAX_SECTIONS_ENTRIES:]
    ends = [start - 1 for _, start, _ in heads[1:]] + [len(lines)]
    return tuple(
        Section(level=level, title=title, start=start, end=end)
        for (level, start, title), end in zip(heads, ends, strict=True)
    )


def _atx_title(text: str) -> str:
    """Return a heading's text without the closing marks that it may have."""
    text = text.strip(" \t")
    open_ended = text.rstrip("#")
    closed = open_ended != text and open_ended[-1:] in {"", " ", "\t"}
    return (open_ended if closed else text).strip()


def links(text: str) -> tuple[MarkdownLink, ...]:
    """Return the inline links ``[title](target)`` of ``text``, images left out.

    A target may hold spaces, stand in angle brackets and be followed by a quoted title;
    it is not URL-decoded.
    """
    if "](" not in text:
        return ()
    found: list[MarkdownLink] = []
    blanked = masked(text)
    for match, line in _numbered(_LINK, blanked):
        start, end = match.span(1)
        if blanked[start - 2 : start - 1] in {"!", "\\"}:
            continue
        target = _target(match.group(2).strip())
        title = " ".join(_unescaped(text[start:end]).split())
        found.append(MarkdownLink(title=title, target=target, line=line))
    return tuple(found)


def wikilinks(text: str) -> tuple[WikiLink, ...]:
    """Return the wikilinks and embeds of ``text``.

    Both ``[[note#heading|alias]]`` and ``[[note|alias#heading]]`` are read (the second
    only where ``#`` touches text on both sides); a pipe may be escaped, as in tables.
    """
    if "[[" not in text:
        return ()
    found: list[WikiLink] = []
    blanked = masked(text)
    for match, line in _numbered(_WIKILINK, blanked):
        place, _, alias = _WIKI_PIPE.sub("|", match.group(1)).partition("|")
        target, mark, heading = place.partition("#")
        if not mark and (split := _ALIAS_HEADING.search(alias)):
            alias, heading = alias[: split.start()], alias[split.end() :]
        target, heading, alias = target.strip(), heading.strip(), alias.strip()
        if target or heading:
            embed = blanked[match.start() - 1 : match.start()] == "!"
            found.append(
                WikiLink(target=target, heading=heading, alias=alias, line=line, embed=embed)
            )
    return tuple(found)


def tags(text: str) -> tuple[tuple[str, int], ...]:
    """Return the ``#tag`` and ``#tag/sub`` marks of ``text`` with their lines.

    A tag holds letters, digits, ``_``, ``-`` and ``/``, and not digits only.
    """
    if "#" not in text:
        return ()
    found: list[tuple[str, int]] = []
    blanked = masked(text)
    for match, line in _numbered(_TAG, blanked):
        tag = match.group(1).strip("/-")
        if tag and _opens_tag(blanked, match.start()) and not tag.replace("/", "").isdigit():
            found.append((tag, line))
    return tuple(found)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _numbered(pattern: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], int]]:
    """Yield the matches of ``pattern`` with the line on which each starts."""
    line, at = 1, 0
    for match in pattern.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield match, line


def _opens_tag(text: str, at: int) -> bool:
    """Whether a ``#`` stands where a tag may: not in a word, an address or a link target."""
    before = text[at - 1 : at]
    if before == "(":
        return text[at - 2 : at - 1] != "]"
    return not before or before in _BEFORE_TAG


def _target(text: str) -> str:
    if text.startswith("<") and (end := text.find(">")) > 0:
        return text[1:end]
    if text[-1:] in _TITLE_ENDS:
        text = _LINK_TITLE.sub("", text).strip()
    return _unescaped(text)


def _unescaped(text: str) -> str:
    return _BACKSLASH.sub(r"\1", text) if "\\" in text else text
