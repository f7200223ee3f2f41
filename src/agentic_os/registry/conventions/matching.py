"""Find the files that a table of conventions names, one listing a folder. Pure.

A pattern is a path below the project: ``*`` stands for any characters within one name, a name of
``**`` for any number of folders. Only folders that some pattern leads into are worth listing; those
are what ``below`` says.
"""

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache
from typing import Literal, NamedTuple

ANY_DEPTH = "**"
MAX_DEPTH_FOLDERS = 8
"""How deep ``**`` reaches: deeper rules and skills are nobody's."""

Surface = Literal["instructions", "memory", "capabilities"]


class Convention(NamedTuple):
    """One row: whose files these are, and where they lie.

    ``form`` is the stable name of the row, ``harness`` who reads the files, ``reads`` how they are
    read (a parser's name).
    """

    form: str
    harness: str
    surface: Surface
    pattern: str
    reads: str


State = frozenset[tuple[int, int]]
"""Where in which patterns a folder stands: row, and how many of its names were passed."""


class Matcher:
    """The patterns of some rows, asked name by name."""

    def __init__(self, rows: Iterable[Convention]) -> None:
        """Compile the rows; of two that match one path, the first counts."""
        self.rows = tuple(rows)
        self._names = [tuple(row.pattern.split("/")) for row in self.rows]
        self.start: State = self._closed({(row, 0) for row in range(len(self.rows))})

    @property
    def tops(self) -> frozenset[str]:
        """The first names of all patterns."""
        return frozenset(names[0] for names in self._names)

    def below(self, state: State, name: str) -> State:
        """Return the state of the folder ``name``; empty where nothing in it can match."""
        found = set()
        for row, at in state:
            names = self._names[row]
            if at < len(names) - 1:
                if names[at] == ANY_DEPTH:
                    found.add((row, at))
                elif _fits(names[at], name):
                    found.add((row, at + 1))
        return self._closed(found)

    def matched(self, state: State, name: str) -> Convention | None:
        """Return the row that the file ``name`` of a folder in ``state`` belongs to."""
        hits = [
            row
            for row, at in state
            if at == len(self._names[row]) - 1 and _fits(self._names[row][at], name)
        ]
        return self.rows[min(hits)] if hits else None

    def surfaces(self, state: State) -> frozenset[Surface]:
        """Return the surfaces of the rows that may still match."""
        return frozenset(self.rows[row].surface for row, _ in state)

    def of_path(self, path: str) -> Convention | None:
        """Return the row that a whole path belongs to."""
        *folders, name = path.split("/")
        state = self.start
        for folder in folders:
            state = self.below(state, folder)
            if not state:
                return None
        return self.matched(state, name)

    def _closed(self, state: set[tuple[int, int]]) -> State:
        """Let ``**`` also stand for no folder at all."""
        more = {
            (row, at + 1)
            for row, at in state
            if at < len(self._names[row]) - 1 and self._names[row][at] == ANY_DEPTH
        }
        return frozenset(state | more)


@lru_cache(maxsize=512)
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(translate(name))


def _fits(pattern: str, name: str) -> bool:
    if "*" not in pattern:
        return pattern == name
    return _pattern(pattern).match(name) is not None
