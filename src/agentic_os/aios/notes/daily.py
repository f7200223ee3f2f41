"""The daily note as text: a new one, one of its sections replaced, items carried over.

Pure functions. A section is the lines after one that reads ``## Name`` once trimmed, up to the
next line that starts with ``## ``; every other byte of the note stays, and inserted lines end as
the file's do (DotAIOS convention, daily notes).
"""

from collections.abc import Sequence
from typing import Final

from agentic_os.aios.context.notes import section
from agentic_os.aios.writing.faults import DAILY_AMBIGUOUS, write_fault

SECTIONS: Final = ("Focus", "Plan", "Done", "Carry-over", "Reflection")
"""The sections that a skill writes; the last three stand under Close."""

_CLOSING: Final = frozenset({"Done", "Carry-over", "Reflection"})


def new_note(day: str, *, created_at: str, source: str) -> str:
    """Make an empty note."""
    return (
        f"---\ndate: {day}\ncreated_at: {created_at}\nsource: {source}\n---\n\n# {day}\n\n"
        "## Brief\n\n## Focus\n\n## Plan\n\n## Close\n\n"
        "<!-- Filled in when the day ends. -->\n\n### Done\n\n### Carry-over\n\n### Reflection\n"
    )


def with_section(note: str, name: str, body: str) -> str:
    """Replace the body of a section, or add the section after the title, or at the end.

    Raises:
        AiosError: DOTAIOS_DAILY_AMBIGUOUS when the note has that section twice.
    """
    level = "###" if name in _CLOSING else "##"
    end = "\r\n" if "\r\n" in note else "\n"
    lines = note.split(end)
    first, last = _close(lines) if name in _CLOSING else (0, len(lines))
    starts = [at for at in range(first, last) if lines[at].strip() == f"{level} {name}"]
    if len(starts) > 1:
        raise write_fault(DAILY_AMBIGUOUS, detail=name)
    block = [f"{level} {name}", "", *body.split("\n"), ""]
    if starts:
        after = next((at for at in range(starts[0] + 1, last) if _ends(lines[at], level)), last)
        head, tail = lines[: starts[0]], lines[after:]
    elif name in _CLOSING:
        head, tail = [*_trimmed(lines[:last]), ""], lines[last:]
        block = block if first < last else ["## Close", "", *block]
    else:
        title = next((at for at, line in enumerate(lines) if line.startswith("# ")), None)
        at = len(lines) if title is None else title + 1
        head = [*_trimmed(lines[:at]), ""] if _trimmed(lines[:at]) else []
        tail = _led(lines[at:])
    text = end.join([*head, *block, *tail])
    return text if any(line.strip() for line in tail) else text.rstrip("\r\n") + end


def section_text(note: str, name: str) -> str:
    """Return the body of a section, those of Close included."""
    text = note.replace("\r\n", "\n")
    if name in _CLOSING:
        return section(section(text, "Close"), name, level=3)
    return section(text, name)


def with_carried(note: str, day: str, items: Sequence[str]) -> str:
    """Add what ``day`` carried over to the end of a note's plan; what is there stays, once."""
    plan = section_text(note, "Plan")
    label = f"Carried over from {day}:"
    have = {line.strip().lower() for line in plan.split("\n")}
    fresh = [f"- {item}" for item in items if f"- {item}".lower() not in have]
    if not fresh:
        return note
    if label in plan.split("\n"):
        body = f"{plan}\n" + "\n".join(fresh)
    else:
        body = "\n\n".join(part for part in (plan, label, "\n".join(fresh)) if part)
    return with_section(note, "Plan", body)


def _ends(line: str, level: str) -> bool:
    return line.startswith("## ") or (level == "###" and line.startswith("### "))


def _close(lines: Sequence[str]) -> tuple[int, int]:
    """Find the range of the section Close; an empty range at the end where there is none."""
    start = next((at for at, line in enumerate(lines) if line.strip() == "## Close"), None)
    if start is None:
        return len(lines), len(lines)
    after = range(start + 1, len(lines))
    return start, next((at for at in after if lines[at].startswith("## ")), len(lines))


def _trimmed(lines: Sequence[str]) -> list[str]:
    """Drop blank lines at the end."""
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def _led(lines: Sequence[str]) -> list[str]:
    """Drop blank lines at the beginning."""
    return list(lines[next((at for at, line in enumerate(lines) if line.strip()), len(lines)) :])
