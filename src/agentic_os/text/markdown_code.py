"""Where a Markdown text is code or comment, so that nothing in it counts.

Fences, HTML comments and code spans are found in one pass, in the order in which they
open; see ``markdown`` for the rules.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

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
