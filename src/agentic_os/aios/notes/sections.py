"""``aios daily``: what the skills write into a day's note, so that no agent edits it by hand."""

import re
from datetime import date, timedelta
from typing import Final

from agentic_os.aios.context.notes import items
from agentic_os.aios.context.sources import MARKDOWN_BYTES
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.folder.json_text import iso_utc
from agentic_os.aios.folder.tree import DAILY
from agentic_os.aios.notes.brief import note_text
from agentic_os.aios.notes.daily import (
    SECTIONS,
    new_note,
    section_text,
    with_carried,
    with_section,
)
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.writing.faults import DAILY_FILLED, write_fault
from agentic_os.aios.writing.opening import journal_of, open_for_writing, require_memory
from agentic_os.aios.writing.plan import ChangeData, Plan, Target, carry_out_now
from agentic_os.aios.writing.writer import FolderWriter
from agentic_os.text.markdown.code import COMMENT

SECTION_BYTES: Final = 64 * 1024

_HEADING = re.compile(r"^#{1,3} ", re.MULTILINE)


def set_section(
    access: AiosAccess, policy: MemoryPolicy, name: str, text: str, *, replace: bool = False
) -> ChangeData:
    """Write one section of today's note; a filled one only with ``replace``.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, DOTAIOS_ARGUMENT_INVALID, DOTAIOS_DAILY_FILLED,
            DOTAIOS_DAILY_AMBIGUOUS or a write fault.
    """
    require_memory(policy)
    if name not in SECTIONS:
        raise argument_fault(f"the section must be one of {', '.join(SECTIONS)}")
    body = text.replace("\r\n", "\n").strip()
    if not body or len(body.encode()) > SECTION_BYTES or _HEADING.search(body) or "\0" in body:
        raise argument_fault(
            f"the text must have 1 to {SECTION_BYTES} bytes and no headings of its own"
        )
    now = access.clock()
    day = now.date().isoformat()
    with open_for_writing(access, policy) as writer:
        note, target = _note(writer, day, iso_utc(now), "today")
        filled = COMMENT.sub("", section_text(note, name)).strip()
        if filled and filled != body and not replace:
            raise write_fault(DAILY_FILLED, target.path, detail=name)
        return _written(writer, access, "daily", target, with_section(note, name, body))


def carry(access: AiosAccess, policy: MemoryPolicy, to: str | None = None) -> ChangeData:
    """Put what today's Close carries over into another day's plan, tomorrow's by default.

    Raises:
        AiosError: as ``set_section``.
    """
    require_memory(policy)
    now = access.clock()
    today = now.date()
    try:
        other = today + timedelta(days=1) if to is None else date.fromisoformat(to)
    except ValueError:
        raise argument_fault("the date must be YYYY-MM-DD") from None
    if other <= today:
        raise argument_fault("things are carried to a later day")
    with open_for_writing(access, policy) as writer:
        note, _ = _note(writer, today.isoformat(), iso_utc(now), "closeday")
        open_items = items(section_text(note, "Carry-over"))
        ahead, target = _note(writer, other.isoformat(), iso_utc(now), "closeday")
        carried = with_carried(ahead, today.isoformat(), open_items)
        after = carried if open_items or target.before.exists else None
        return _written(writer, access, "daily", target, after)


def _note(writer: FolderWriter, day: str, created_at: str, source: str) -> tuple[str, Target]:
    path = f"{DAILY}/{day}.md"
    seen = writer.see(path, limit_bytes=MARKDOWN_BYTES)
    fresh = new_note(day, created_at=created_at, source=source)
    note = note_text(seen.data, path) if seen.exists else fresh
    return note, Target(path=path, before=seen, after=None)


def _written(
    writer: FolderWriter, access: AiosAccess, operation: str, target: Target, text: str | None
) -> ChangeData:
    after = None if text is None else text.encode("utf-8")
    target = Target(path=target.path, before=target.before, after=after)
    plan = Plan(operation=operation, targets=(target,))
    return carry_out_now(writer, plan, journal_of(writer, access))
