"""Tables of GitHub-flavoured Markdown, with escaped pipes."""

import re
from collections.abc import Sequence

import msgspec

from agentic_os.text.markdown.code import masked

_CELL_BORDER = re.compile(r"(?<!\\)\|")
MAX_COLUMNS_ENTRIES = 64
"""A header with more cells makes no table: rows are filled up to it, whatever they hold."""
_DELIMITER_CELL = re.compile(r":?-+:?\Z")


class TableRow(msgspec.Struct, frozen=True, kw_only=True):
    """The cells of one row, as many as the header has, and the row's line."""

    cells: tuple[str, ...]
    line: int


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table: its header cells, the header's line, and its rows."""

    header: tuple[str, ...]
    rows: tuple[TableRow, ...]
    line: int


def tables(lines: Sequence[str], *, first_line: int = 1) -> tuple[Table, ...]:
    """Return the tables among ``lines`` (without line ends), fences and comments left out.

    A table is a header row and a delimiter row of as many cells; it ends at the first
    line without a pipe. An escaped pipe is text. Rows are filled or cut to the header, which
    has at most ``MAX_COLUMNS_ENTRIES`` cells.

    Args:
        lines: the lines to look at.
        first_line: the number of the first of them in the file.
    """
    shown: Sequence[str] = lines
    text = "\n".join(lines)
    if (blanked := masked(text, spans=False)) is not text:
        shown = blanked.split("\n")
    found: list[Table] = []
    at = 0
    while at + 1 < len(shown):
        header = _cells(shown[at]) if "|" in shown[at] else ()
        at += 1
        wide = len(header) > MAX_COLUMNS_ENTRIES
        if not header or wide or not _is_delimiter(shown[at], len(header)):
            continue
        rows: list[TableRow] = []
        start, at = at - 1, at + 1
        while at < len(shown) and "|" in shown[at]:
            cells = (*_cells(shown[at]), *[""] * len(header))[: len(header)]
            rows.append(TableRow(cells=cells, line=first_line + at))
            at += 1
        found.append(Table(header=header, rows=tuple(rows), line=first_line + start))
    return tuple(found)


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
