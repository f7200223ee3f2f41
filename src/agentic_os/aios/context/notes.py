"""What the projection takes from notes: sections, headers, daily lists, decisions.

Pure functions over text (DotAIOS convention, daily notes and projection). A section is
the lines after one that reads ``## Name`` once trimmed, up to the next line that starts
with ``## ``.
"""

import re
from itertools import islice
from typing import Final

from agentic_os.aios.folder.front_matter import without_front_matter
from agentic_os.aios.folder.headings import without_empty_headings
from agentic_os.text.budget import cut_utf16, utf16_length

HEADER_CHARS: Final = 800
"""UTF-16 units of a header text, the ellipsis included."""
PLAN_ITEMS: Final = 4
CARRY_OVERS: Final = 5
DECISIONS: Final = 3

_CHECKBOX = re.compile(r"\A- \[[ xX]\]\s*")
_BULLET = re.compile(r"\A[-*](?:\s+|$)")
_DECISION = re.compile(r"^## +", re.MULTILINE)
_CARRIED: Final = "Carried over from"
_LABEL = re.compile(_CARRIED + r"[^:]*:")


def section(text: str, name: str, *, level: int = 2) -> str:
    """Return the trimmed body of a section; empty when the section is missing."""
    mark = "#" * level + " "
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if line.strip() == mark + name), None)
    if start is None:
        return ""
    body: list[str] = []
    for line in lines[start + 1 :]:
        if line.startswith(mark):
            break
        body.append(line)
    return "\n".join(body).strip()


def header_text(text: str) -> str:
    """Return a header file's visible text: no front matter, trimmed, at most 800 units."""
    visible = without_empty_headings(without_front_matter(text)).strip()
    if utf16_length(visible) <= HEADER_CHARS:
        return visible
    return cut_utf16(visible, HEADER_CHARS - 1).rstrip() + "…"


def current_work(text: str) -> str:
    """Return the header text of ``work.md``: its Current Work section, else its body."""
    return header_text(section(text, "Current Work") or text)


def focus(note: str) -> str:
    """Return the first line of today's Focus section."""
    lines = (line.strip() for line in section(note, "Focus").split("\n"))
    return next((line for line in lines if line), "")


def plan(note: str) -> tuple[str, ...]:
    """Return up to four items of today's Plan section."""
    listed = (item for item in items(section(note, "Plan")) if not _LABEL.fullmatch(item))
    return tuple(islice(listed, PLAN_ITEMS))


def carry_over(today: str, yesterday: str) -> tuple[str, ...]:
    """Return up to five carried items: marked in today's plan, then yesterday's close.

    A line that only labels what was carried over is no item; the list below it is.
    """
    marked: list[str] = []
    labelled = False
    for line in section(today, "Plan").split("\n"):
        if _CARRIED in line:
            labelled = line.rstrip().endswith(":")
            marked += [] if labelled else items(line)
        elif labelled and line.strip():
            labelled = _BULLET.match(line.strip()) is not None
            marked += items(line) if labelled else []
    closed = items(section(section(yesterday, "Close"), "Carry-over", level=3))
    found: dict[str, str] = {}
    for item in (*marked, *closed):
        found.setdefault(item.lower(), item)
    return tuple(found.values())[:CARRY_OVERS]


def items(body: str) -> list[str]:
    """Return the lines of a list without comments, bullets and check boxes."""
    lines = (line.strip() for line in body.split("\n"))
    bare = (
        _BULLET.sub("", _CHECKBOX.sub("", line, count=1), count=1).strip()
        for line in lines
        if line and not line.startswith("<!--")
    )
    return [line for line in bare if line]


def recent_decisions(log: str) -> tuple[str, ...]:
    """Return the titles of the three last decisions, newest first."""
    blocks = _DECISION.split(log)[1:]
    titles = (block.split("\n", 1)[0].strip() for block in reversed(blocks[-DECISIONS:]))
    return tuple(title for title in titles if title)
