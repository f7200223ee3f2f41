"""The brief in its writing form: the ``## Brief`` section of today's note, and nothing else of it.

Made from the shared working-context projection, without a clock, so that the same folder gives
the same bytes; a note that would not change is not written, and no event is either.
"""

import re
from datetime import datetime, timedelta
from typing import Final

from agentic_os.aios.context.notes import items, section
from agentic_os.aios.context.sources import MARKDOWN_BYTES, ProjectionSources
from agentic_os.aios.context.text import ContextItems
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.configuration import require_folder
from agentic_os.aios.folder.faults import (
    FOLDER_MISSING,
    INVALID_UTF8,
    WORKING_CONTEXT_FAILED,
    fault,
    fault_at,
)
from agentic_os.aios.folder.front_matter import without_front_matter
from agentic_os.aios.folder.json_text import iso_utc
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.tree import DAILY, PRIORITIES
from agentic_os.aios.notes.daily import new_note, with_section
from agentic_os.aios.notes.records import append_event, record_of
from agentic_os.aios.policy import RECEIPTS, MemoryPolicy
from agentic_os.aios.writing.opening import journal_of, open_for_writing, require_memory
from agentic_os.aios.writing.plan import ChangeData, Plan, Target, carry_out, carry_out_now
from agentic_os.errors import AiosError

LISTED: Final = 5
"""Items of each list of a brief."""
BRIEF_SOURCE: Final = "dotaios brief"

_LOOP = re.compile(
    r"\b(?:open|loops?|blockers?|blocked|waiting|follow[- ]?up|todo|to do|next action|deadline|due"
    r"|carry-?over)\b",
    re.IGNORECASE,
)
_NONE: Final = {
    "Priorities": "No priorities are written down.",
    "Open Loops": "No open loops today or yesterday.",
    "Carry-over": "Nothing was carried over.",
}


def write_brief(access: AiosAccess, policy: MemoryPolicy, *, dry_run: bool = False) -> ChangeData:
    """Bring the brief of today's note up to date.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, DOTAIOS_WORKING_CONTEXT_READ_FAILED,
            DOTAIOS_DAILY_AMBIGUOUS, or a write fault.
    """
    require_memory(policy)
    now = access.clock()
    day = now.date().isoformat()
    path = f"{DAILY}/{day}.md"
    body = brief_body(access, now)
    with open_for_writing(access, policy) as writer:
        seen = writer.see(path, limit_bytes=MARKDOWN_BYTES)
        note = note_text(seen.data, path) if seen.exists else _fresh(day, now)
        after = with_section(note, "Brief", body).encode("utf-8")
        plan = Plan(operation="brief", targets=(Target(path=path, before=seen, after=after),))
        journal = journal_of(writer, access)
        if dry_run:
            return carry_out(writer, plan, None, journal)
        done = carry_out_now(writer, plan, journal)
        if done.status == "applied":
            event = record_of(
                now, "brief", {"summary": f"Brief of {day} written", "source": BRIEF_SOURCE}
            )
            append_event(writer, event)
        return done


def brief_body(access: AiosAccess, now: datetime) -> str:
    """Make the text of the section from the folder as it is.

    Raises:
        AiosError: DOTAIOS_FOLDER_MISSING; DOTAIOS_WORKING_CONTEXT_READ_FAILED.
    """
    days = (now.date().isoformat(), (now.date() - timedelta(days=1)).isoformat())
    try:
        with FolderReader(access.root, files=access.files) as reader:
            require_folder(reader, hold=True)
            sources = ProjectionSources(reader, access.guard, now.tzinfo)
            found = ContextItems(receipt=RECEIPTS["shared"], today=days[0])
            found = sources.timeline(sources.shared(found, days), days, None, 0)
            read = reader.read(PRIORITIES, limit_bytes=MARKDOWN_BYTES, charges=sources.charges)
            reader.recheck()
    except AiosError as error:
        if error.code == FOLDER_MISSING:
            raise
        raise fault(WORKING_CONTEXT_FAILED, cause=error) from error
    stated = "" if read is None else read.text.replace("\r\n", "\n")
    return rendered(
        days[0],
        found,
        [line for line in bets(stated) if not access.guard.holds_secret(line)],
    )


def bets(priorities: str) -> list[str]:
    """Return the items of Current Bets, else of the whole text without its headings."""
    stated = section(priorities, "Current Bets") or without_front_matter(priorities)
    return [line for line in items(stated) if not line.startswith("#")]


def rendered(day: str, found: ContextItems, priorities: list[str]) -> str:
    """Render the body of the section."""
    rows = (*found.signals, *found.events)
    lists = {
        "Priorities": priorities,
        "Open Loops": [row.summary for row in rows if _LOOP.search(row.summary)],
        "Carry-over": list(found.carry_over),
    }
    parts = [f"Made by agentic-os from the folder as of {day}."]
    for name, entries in lists.items():
        shown = _distinct(entries)[:LISTED] or [_NONE[name]]
        parts.append("\n".join([f"### {name}", "", *(f"- {entry}" for entry in shown)]))
    return "\n\n".join(parts)


def _distinct(entries: list[str]) -> list[str]:
    found: dict[str, str] = {}
    for entry in entries:
        line = " ".join(entry.split())
        found.setdefault(line.casefold(), line)
    return list(found.values())


def _fresh(day: str, now: datetime) -> str:
    return new_note(day, created_at=iso_utc(now), source=BRIEF_SOURCE)


def note_text(data: bytes, path: str) -> str:
    """Read the text of a note.

    Raises:
        AiosError: DOTAIOS_INVALID_UTF8, naming the line.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise fault_at(INVALID_UTF8, path, data.count(b"\n", 0, error.start) + 1) from None
