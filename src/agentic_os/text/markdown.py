"""The Markdown that memories, notes and inventories use: as much of it as readers need.

Rules (CommonMark 0.31 and GFM tables where not said otherwise):

- Nothing inside fenced code, code spans or HTML comments counts as a heading, link or
  tag. A fence may be indented by any amount (lists nest); one without an end, and a
  comment that starts a line and has no end, run to the end of the text.
- Lines are counted from 1; a final newline does not start another line.
- Every function is linear in its input, whatever the input.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# What can open a region: a fence line, a comment, a run of backticks.
_OPENING = re.compile(
    r"^[ \t]*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*$"
    r"|^[ \t]*(?P<block><!--)|(?P<comment><!--)|(?P<ticks>`+)",
    re.MULTILINE,
)
_FENCE_LINE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_TICKS = re.compile(r"`+")
# A code span stays inside its paragraph.
_PARAGRAPH_END = re.compile(r"\n[ \t]*(?:\n|#{1,6}[ \t\n]|~{3,}|`{3,}[^`\n]*(?:\n|\Z))")
_NOT_NEWLINE = re.compile(r"[^\n]+")

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*\Z")
_ATX_CLOSING = re.compile(r"(?:\A|[ \t]+)#+\Z")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*\Z")
_NO_PARAGRAPH = re.compile(r"[ \t]*(?:\Z|[#>|]|[-*+][ \t]|\d{1,9}[.)][ \t])|\t| {4}")

# Alternatives differ in their first character and are possessive: no backtracking.
_LINK = re.compile(
    r"\[((?:[^\[\]\\\n]++|\\.|\n(?![ \t]*\n)|\[[^\[\]\n]*+\](?:\([^()\n]*+\))?)*+)\]"
    r"\(((?:[^()<\\\n]++|<[^<>\n]*+>|<|\\.|\((?:[^()\\\n]++|\\.)*+\))*+)\)"
)
_LINK_TITLE = re.compile(r"""[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\))\Z""")
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{-~])")
_WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_WIKI_PIPE = re.compile(r"\\?\|")
_ALIAS_HEADING = re.compile(r"(?<=\S)#(?=\S)")
_TAG = re.compile(r"#([\w/-]+)")
_BEFORE_TAG = frozenset(" \t\n\u00a0\u3000,;>")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_DELIMITER_CELL = re.compile(r":?-+:?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and the lines up to the next heading of whatever level.

    ``start`` and ``end`` are 1-based and inclusive; the sections partition the text.
    The preamble has level 0, an empty title and, when the text starts with a heading,
    ``end`` 0.
    """

    level: int
    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownLink:
    """An inline link; the target is as written, without brackets, title or escapes."""

    title: str
    target: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiLink:
    """A ``[[target#heading|alias]]`` link, or an embed of it."""

    target: str
    heading: str
    alias: str
    line: int
    embed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """The cells of one row, as many as the header has, and the row's line."""

    cells: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: its header cells, the header's line, and its rows."""

    header: tuple[str, ...]
    rows: tuple[TableRow, ...]
    line: int


def sections(text: str) -> tuple[Section, ...]:
    """Split ``text`` at its ATX and setext headings; see ``Section``.

    The first section is always the preamble.
    """
    lines = _lines(text)
    masked = _masked(text)
    shown = lines if masked is text else _lines(masked)
    heads: list[tuple[int, int, str]] = [(0, 1, "")]
    taken = 0  # the last line that belongs to a heading
    for number, line in enumerate(shown, start=1):
        mark = line.lstrip(" ")[:1]
        if mark == "#":
            if match := _ATX.match(line):
                whole = _ATX.match(lines[number - 1]) or match
                title = _ATX_CLOSING.sub("", whole.group(2) or "").strip()
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
    ends = [start - 1 for _, start, _ in heads[1:]] + [len(lines)]
    return tuple(
        Section(level=level, title=title, start=start, end=end)
        for (level, start, title), end in zip(heads, ends, strict=True)
    )


def links(text: str) -> tuple[MarkdownLink, ...]:
    """Return the inline links ``[title](target)`` of ``text``, images left out.

    A target may hold spaces, stand in angle brackets and be followed by a quoted title;
    it is not URL-decoded.
    """
    if "](" not in text:
        return ()
    found: list[MarkdownLink] = []
    masked = _masked(text)
    for match, line in _numbered(_LINK, masked):
        start, end = match.span(1)
        if masked[start - 2 : start - 1] in {"!", "\\"}:
            continue
        target = _target(match.group(2).strip())
        title = " ".join(_BACKSLASH.sub(r"\1", text[start:end]).split())
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
    masked = _masked(text)
    for match, line in _numbered(_WIKILINK, masked):
        place, _, alias = _WIKI_PIPE.sub("|", match.group(1)).partition("|")
        target, mark, heading = place.partition("#")
        if not mark and (split := _ALIAS_HEADING.search(alias)):
            alias, heading = alias[: split.start()], alias[split.end() :]
        target, heading, alias = target.strip(), heading.strip(), alias.strip()
        if target or heading:
            embed = masked[match.start() - 1 : match.start()] == "!"
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
    masked = _masked(text)
    for match, line in _numbered(_TAG, masked):
        tag = match.group(1).strip("/-")
        if tag and _opens_tag(masked, match.start()) and not tag.replace("/", "").isdigit():
            found.append((tag, line))
    return tuple(found)


def tables(lines: Sequence[str], *, first_line: int = 1) -> tuple[Table, ...]:
    """Return the tables among ``lines`` (without line ends), fences and comments left out.

    A table is a header row and a delimiter row of as many cells; it ends at the first
    line without a pipe. An escaped pipe is text. Rows are filled or cut to the header.

    Args:
        lines: the lines to look at.
        first_line: the number of the first of them in the file.
    """
    shown: Sequence[str] = lines
    text = "\n".join(lines)
    if (masked := _masked(text, spans=False)) is not text:
        shown = masked.split("\n")
    found: list[Table] = []
    at = 0
    while at + 1 < len(shown):
        header = _cells(shown[at]) if "|" in shown[at] else ()
        at += 1
        if not header or not _is_delimiter(shown[at], len(header)):
            continue
        rows: list[TableRow] = []
        start, at = at - 1, at + 1
        while at < len(shown) and "|" in shown[at]:
            cells = (*_cells(shown[at]), *[""] * len(header))[: len(header)]
            rows.append(TableRow(cells=cells, line=first_line + at))
            at += 1
        found.append(Table(header=header, rows=tuple(rows), line=first_line + start))
    return tuple(found)


def without_comments(text: str) -> str:
    """Return ``text`` without its HTML comments; their newlines stay.

    Comments inside code are code.
    """
    if "<!--" not in text:
        return text
    pieces: list[str] = []
    at = 0
    for kind, start, end in _regions(text):
        if kind == "comment":
            pieces.append(text[at:start])
            pieces.append("\n" * text.count("\n", start, end))
            at = end
    pieces.append(text[at:])
    return "".join(pieces)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _masked(text: str, *, spans: bool = True) -> str:
    """Blank code and comments out, keeping every offset; the same object if there are none."""
    if "`" not in text and "~~~" not in text and "<!--" not in text:
        return text
    pieces: list[str] = []
    at = 0
    for kind, start, end in _regions(text):
        if kind == "span" and not spans:
            continue
        pieces.append(text[at:start])
        pieces.append(_NOT_NEWLINE.sub(_spaces, text[start:end]))
        at = end
    pieces.append(text[at:])
    return "".join(pieces)


def _spaces(match: re.Match[str]) -> str:
    return " " * (match.end() - match.start())


def _regions(text: str) -> Iterator[tuple[str, int, int]]:
    """Find fences, comments and code spans in the order in which they open."""
    spans = _Spans(text)
    at = 0
    comments_left = True
    while match := _OPENING.search(text, at):
        start, at = match.span()
        if match["fence"]:
            at = _fence_end(text, at, match["fence"])
            yield "fence", start, at
        elif match["block"] or match["comment"]:
            start = at - len("<!--")
            end = text.find("-->", start + 2) if comments_left else -1
            if end >= 0:
                at = max(end + 3, start + 4)
                yield "comment", start, at
            elif match["block"]:
                at = len(text)
                yield "comment", start, at
            comments_left = end >= 0
        elif text[start - 1 : start] == "\\" and not _is_escaped(text, start - 1):
            at = start + 1
        elif (end := spans.end(start, at)) > 0:
            at = end
            yield "span", start, at


def _is_escaped(text: str, at: int) -> bool:
    """Whether the backslash at ``at`` is itself escaped."""
    before = at
    while before and text[before - 1] == "\\":
        before -= 1
    return (at - before) % 2 == 1


def _fence_end(text: str, at: int, fence: str) -> int:
    """Return the offset after the line that closes a fence, or the end of the text."""
    while match := _FENCE_LINE.search(text, at):
        at = match.end()
        if match[1][0] == fence[0] and len(match[1]) >= len(fence):
            return at
    return len(text)


class _Spans:
    """Finds the end of code spans, looking at each paragraph's backticks once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = -1
        self._starts: dict[int, list[int]] = {}

    def end(self, start: int, after: int) -> int:
        """Return where the span that ``text[start:after]`` opens ends, or -1."""
        if after > self._end:
            self._look_at_paragraph(after)
        length = after - start
        starts = self._starts.get(length, [])
        at = bisect_right(starts, start)
        return starts[at] + length if at < len(starts) else -1

    def _look_at_paragraph(self, start: int) -> None:
        match = _PARAGRAPH_END.search(self._text, start)
        self._end = match.start() if match else len(self._text)
        self._starts = {}
        for run in _TICKS.finditer(self._text, start, self._end):
            self._starts.setdefault(run.end() - run.start(), []).append(run.start())


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
    return _BACKSLASH.sub(r"\1", _LINK_TITLE.sub("", text).strip())


def _cells(line: str) -> tuple[str, ...]:
    line = line.strip()
    line = line.removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    if "\\|" not in line:
        return tuple([cell.strip() for cell in line.split("|")])
    return tuple([cell.strip().replace("\\|", "|") for cell in _CELL_BORDER.split(line)])


def _is_delimiter(line: str, count: int) -> bool:
    if "-" not in line or ("|" not in line and count > 1):
        return False
    cells = _cells(line)
    return len(cells) == count and all(map(_DELIMITER_CELL.match, cells))
