"""Passages of a file: whole lines, cut to what an embedder can take in. Pure.

A passage is embedded as a header line, ``path symbol``, and its own lines. The header and
the lines together have at most ``MAX_CHUNK_CHARS`` characters: an embedder of 256 word
pieces sees all of them. Only a single line that is longer than that is cut, and only in the
embedded text; what is stored and quoted are whole lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass

MAX_CHUNK_CHARS = 1_000
"""Characters of one embedded text, its header line and the line break after it included."""
MAX_HEADER_CHARS = 200
"""A longer header keeps its end: the symbol and the last folders."""
_LEAST_FILL = 2
"""A window may end early, at a blank line, once it is filled to one part in so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Lines ``start..end`` (from 1, inclusive) of a file, and what they define.

    ``symbol`` is the dotted name of the innermost definition that holds them, empty where
    there is none; for a document it is the heading. ``text`` are the whole lines.
    """

    start: int
    end: int
    symbol: str
    text: str


def header(path: str, symbol: str) -> str:
    """Return the header line of a passage, without its line break.

    A symbol that is only the file's own name is not said twice.
    """
    named = "" if path == symbol or path.endswith(f"/{symbol}") else symbol
    line = " ".join(f"{path} {named}".split())
    return line if len(line) <= MAX_HEADER_CHARS else line[-MAX_HEADER_CHARS:]


def embedded_text(path: str, symbol: str, text: str) -> str:
    """Return what is embedded for a passage; at most ``MAX_CHUNK_CHARS`` characters."""
    return f"{header(path, symbol)}\n{text}"[:MAX_CHUNK_CHARS]


def room(path: str, symbol: str) -> int:
    """Return how many characters of lines fit below the header."""
    return MAX_CHUNK_CHARS - len(header(path, symbol)) - 1


def windows(lines: Sequence[str], start: int, end: int, chars: int) -> list[tuple[int, int]]:
    """Cut lines ``start..end`` (from 1, inclusive) into stretches of at most ``chars`` characters.

    A stretch ends at a blank line where one lies in its later part, and never holds blank
    lines only. A single longer line is a stretch of its own.
    """
    found: list[tuple[int, int]] = []
    first = start
    while first <= end:
        if not lines[first - 1].strip():
            first += 1
            continue
        last, blank, size = first, 0, len(lines[first - 1])
        while last < end and size + 1 + len(lines[last]) <= chars:
            last += 1
            size += 1 + len(lines[last - 1])
            if not lines[last - 1].strip() and size * _LEAST_FILL >= chars:
                blank = last
        stop = blank if blank and last < end else last
        found.append((first, _without_blank_end(lines, first, stop)))
        first = stop + 1
    return found


def _without_blank_end(lines: Sequence[str], first: int, last: int) -> int:
    while last > first and not lines[last - 1].strip():
        last -= 1
    return last
