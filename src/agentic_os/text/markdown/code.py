"""Where a Markdown text is code or comment, so that nothing in it counts.

Fences, HTML comments and code spans are found in one pass, in the order in which they
open; see ``markdown`` for the rules.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

# What can open a region. Each alternative starts with a literal, which the matcher skips to.
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
"""A comment of HTML, which Markdown shows nothing of."""

_OPENING = re.compile(r"`+|~{3,}|<!--")
_FENCE_LINE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_TICKS = re.compile(r"`+")
_FENCE_TICKS_CHARS = 3
_CODE_INDENT_CHARS = 4
_LIST_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]{1,4}(?=\S)|[ \t]|\Z)")
# A code span stays inside its paragraph.
_PARAGRAPH_END = re.compile(r"\n[ \t]*(?:\n|#{1,6}[ \t\n]|~{3,}|`{3,}[^`\n]*(?:\n|\Z))")
_NOT_NEWLINE = re.compile(r"[^\n]+")


def masked(text: str, *, spans: bool = True) -> str:
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
    lists = _Lists(text)
    at = 0
    comments_left = True
    while match := _OPENING.search(text, at):
        start, after = match.span()
        mark = text[start]
        before = text[at:start]  # no further back: every character is looked at once
        newline = before.rfind("\n")
        line = at + newline + 1
        leads = not before[newline + 1 :].strip(" \t") and (
            newline >= 0 or at == 0 or text[at - 1] == "\n"
        )
        if mark == "<":
            end = text.find("-->", start + 2) if comments_left else -1
            at = after
            if end >= 0:
                at = max(end + 3, after)
                yield "comment", start, at
            elif leads:
                at = len(text)
                yield "comment", start, at
            comments_left = end >= 0
        elif leads and lists.is_code(line, start):
            # Four blanks make a block of code: nothing in this line opens anything.
            end = text.find("\n", after)
            at = end if end >= 0 else len(text)
            yield "span", start, at
        elif leads and (mark == "~" or _opens_fence(text, start, after)):
            end = text.find("\n", after)
            at = _fence_end(text, end if end >= 0 else len(text), match[0])
            yield "fence", line, at
        elif mark == "~":
            at = after
        elif text[start - 1 : start] == "\\" and not _is_escaped(text, start - 1):
            at = start + 1
        elif (end := spans.end(start, after)) > 0:
            at = end
            yield "span", start, at
        else:
            at = after


def _opens_fence(text: str, start: int, after: int) -> bool:
    """Whether backticks that lead a line open a fence: three at least, and none after them."""
    if after - start < _FENCE_TICKS_CHARS:
        return False
    end = text.find("\n", after)
    return text.find("`", after, end if end >= 0 else len(text)) < 0


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


class _Lists:
    """Tells how far the list items reach in which the lines of a text stand.

    Looked at only where a fence is indented, and then once for the whole text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._offsets: dict[int, int] | None = None

    def is_code(self, line: int, start: int) -> bool:
        """Whether what starts at ``start`` of the line is indented as code is."""
        indent = _width(self._text[line:start])
        if indent < _CODE_INDENT_CHARS or not self._text.startswith(("```", "~~~"), start):
            return False
        if self._offsets is None:
            self._offsets = _list_offsets(self._text)
        return indent - self._offsets.get(line, 0) >= _CODE_INDENT_CHARS


def _list_offsets(text: str) -> dict[int, int]:
    """Return where the content of the innermost list item begins, by the start of each line."""
    offsets: dict[int, int] = {}
    items: list[int] = []
    at = 0
    for line in text.split("\n"):
        if line and not line.isspace():
            body = line.lstrip(" \t")
            indent = _width(line[: len(line) - len(body)])
            while items and indent < items[-1]:
                items.pop()
            offsets[at] = items[-1] if items else 0
            if indent - offsets[at] < _CODE_INDENT_CHARS and (item := _LIST_ITEM.match(body)):
                items.append(indent + item.end())
        at += len(line) + 1
    return offsets


def _width(blanks: str) -> int:
    return len(blanks.expandtabs(_CODE_INDENT_CHARS))


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
