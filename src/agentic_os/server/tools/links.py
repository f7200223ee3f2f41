"""Where an answer can be read on: the address of a cited file, and of the lines around a place."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

SOURCE: Final = "fleet://source/"
_LINES = re.compile(r"(?P<first>[1-9][0-9]{0,8})-(?P<last>[1-9][0-9]{0,8})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A place to read on, as a resource."""

    uri: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file that may be cited, and the lines that are asked for; ``None`` for all of it."""

    project: str
    path: str
    lines: tuple[int, int] | None


def source_uri(project: str, path: str, lines: tuple[int, int] | None = None) -> str:
    """Return the URI under which a cited file can be read.

    >>> source_uri("shop-1a2b3c4d", "docs/a b.md", (3, 9))
    'fleet://source/shop-1a2b3c4d/docs/a%20b.md?lines=3-9'
    """
    part = "" if lines is None else f"?lines={lines[0]}-{lines[1]}"
    return f"{SOURCE}{quote(project)}/{quote(path)}{part}"


def read_source_uri(uri: str) -> Source | None:
    """Read such a URI; ``None`` if it is none."""
    place, asked, query = uri.removeprefix(SOURCE).partition("?")
    project, _, path = place.partition("/")
    lines: tuple[int, int] | None = None
    if asked:
        found = _LINES.fullmatch(query.removeprefix("lines="))
        if found is None or not query.startswith("lines="):
            return None
        lines = int(found["first"]), int(found["last"])
        if lines[0] > lines[1]:
            return None
    return Source(project=unquote(project), path=unquote(path), lines=lines)


def hit_link(project: str, path: str, lines: tuple[int, int]) -> Link:
    """Return the link of one hit."""
    return Link(uri=source_uri(project, path, lines), name=f"{path}:{lines[0]}-{lines[1]}")
