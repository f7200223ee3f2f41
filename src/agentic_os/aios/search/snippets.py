"""The passages of a Markdown file that answer a query.

Pure functions. A passage is a matching line with one line around it, trimmed and joined
with `` / ``; order is match kind, area (description, heading, body), line; at most five.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from agentic_os.aios.folder.json_text import JsonObject
from agentic_os.aios.search.matching import TIERS, MatchKind, Query

SnippetArea = Literal["description", "heading", "body"]

SNIPPETS: Final = 5
CONTEXT_LINES: Final = 1
PLACES: Final = 64
"""Lines with the whole phrase that are looked for before only headings count."""
DESCRIPTION_BOOST: Final = 3.0
HEADING_BOOST: Final = 2.0
TITLE_BOOST: Final = 2.5
PATH_BOOST: Final = 1.0

_AREAS: Final[dict[SnippetArea, int]] = {"description": 3, "heading": 2, "body": 1}
_DESCRIPTION = re.compile(r"description\s*:\s*(.+)")
_TITLE = re.compile(r"#\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """One passage: its lines from 1, its text, how it matched and where it stands."""

    line: int
    line_end: int
    content: str
    match: MatchKind
    area: SnippetArea

    def as_json(self) -> JsonObject:
        """Return the JSON form."""
        return {
            "line": self.line,
            "lineEnd": self.line_end,
            "content": self.content,
            "match": self.match,
            "area": self.area,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A matching place, before its passage is cut out; ``at`` counts lines from 0."""

    at: int
    match: MatchKind
    area: SnippetArea


def places(text: str, query: Query) -> list[Place]:
    """Find the matching places of a text, best first."""
    lines = text.split("\n")
    lowered = [line.lower() for line in lines]
    found: list[Place] = []
    stated = description(text)
    matched = query.match(stated.lower()) if stated else None
    if matched is not None:
        found.append(Place(at=0, match=matched.kind, area="description"))
    whole_phrases = 0
    for at, line in enumerate(lowered):
        # Beyond so many lines with the whole phrase only a heading can still come first.
        if whole_phrases > PLACES and _area(line) == "body":
            continue
        matched = query.match(line)
        if matched is not None:
            whole_phrases += matched.kind == "phrase"
            found.append(Place(at=at, match=matched.kind, area=_area(line)))
    whole = None if found else query.match(text.lower())
    if whole is not None:
        found = [
            Place(at=at, match=whole.kind, area=_area(lowered[at]))
            for at in query.first_lines(lowered)[:SNIPPETS]
        ]
    found.sort(key=lambda place: (-TIERS[place.match], -_AREAS[place.area], place.at))
    return found


def cut(text: str, found: list[Place]) -> Iterator[Snippet]:
    """Cut the passages of ``found`` out of the text, without repetitions."""
    lines = text.split("\n")
    seen: set[tuple[int, int, str]] = set()
    for place in found:
        snippet = _snippet(text, lines, place)
        key = (snippet.line, snippet.line_end, snippet.content)
        if key not in seen:
            seen.add(key)
            yield snippet


def boost(found: list[Place], query: Query, *, title: str, path: str) -> float:
    """Return what the place of the best match, the title and the path add to a rank."""
    area = found[0].area if found else "body"
    value = {"description": DESCRIPTION_BOOST, "heading": HEADING_BOOST, "body": 0.0}[area]
    if query.match(title.lower()) is not None:
        value += TITLE_BOOST
    if query.match(path.lower()) is not None:
        value += PATH_BOOST
    return value


def title_of(text: str) -> str | None:
    """Return the first level-1 heading after any front matter."""
    body = text
    if text.startswith("---\n"):
        end = text.find("\n---", 4)
        body = text if end < 0 else text[end + 4 :]
    heading = next((line for line in body.split("\n") if line.startswith("# ")), None)
    return None if heading is None else _TITLE.sub("", heading, count=1).strip() or None


def description(text: str) -> str | None:
    """Return the description line of a front matter, without its quotes."""
    if not text.startswith("---\n"):
        return None
    end = text.find("\n---", 4)
    block = text[4:end] if end >= 0 else ""
    for line in block.split("\n"):
        found = _DESCRIPTION.fullmatch(line)
        if found is not None:
            stated = found.group(1).strip()
            quoted = len(stated) > 1 and stated[0] == stated[-1] and stated[0] in "\"'"
            return stated[1:-1] if quoted else stated
    return None


def _area(line: str) -> SnippetArea:
    return "heading" if line.lstrip().startswith("#") else "body"


def _snippet(text: str, lines: list[str], place: Place) -> Snippet:
    if place.area == "description":
        return Snippet(
            line=1,
            line_end=1,
            content=f"description: {description(text)}",
            match=place.match,
            area=place.area,
        )
    start = max(0, place.at - CONTEXT_LINES)
    end = min(len(lines) - 1, place.at + CONTEXT_LINES)
    around = (line.strip() for line in lines[start : end + 1])
    return Snippet(
        line=start + 1,
        line_end=end + 1,
        content=" / ".join(line for line in around if line),
        match=place.match,
        area=place.area,
    )
