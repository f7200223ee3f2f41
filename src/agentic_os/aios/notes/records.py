"""Records of the event log and the signals: their form, and how one is appended.

A line is compact JSON with its keys in the convention's order, non-ASCII raw, and LF. The event
log's lock covers both channels.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.folder.json_text import Json, JsonObject, compact, iso_utc
from agentic_os.aios.folder.tree import EVENTS, SIGNALS
from agentic_os.aios.writing.locks import EVENTS_LOCK, holding
from agentic_os.aios.writing.writer import FolderWriter

SUMMARY_CHARS: Final = 4000
"""Code points of a summary."""
LINE_BYTES: Final = 64 * 1024

_ORDER: Final = ("ts", "type", "project", "project_id", "domain", "summary", "source")


def record_of(now: datetime, kind: str, fields: Mapping[str, Json]) -> JsonObject:
    """Make a record: its moment and type first, the convention's fields next, others last."""
    given: JsonObject = {"ts": iso_utc(now), "type": kind, **fields}
    ordered = [name for name in _ORDER if given.get(name) is not None]
    rest = [name for name in given if name not in _ORDER and given[name] is not None]
    return {name: given[name] for name in (*ordered, *rest)}


def line_of(record: JsonObject) -> bytes:
    """Write a record as one line.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID for a line of more than 64 KiB.
    """
    line = compact(record).encode("utf-8") + b"\n"
    if len(line) > LINE_BYTES:
        raise argument_fault(f"the record is larger than {LINE_BYTES} bytes")
    return line


def append_event(writer: FolderWriter, record: JsonObject) -> None:
    """Append one record to the event log, under its lock.

    Raises:
        AiosError: DOTAIOS_EVENT_STORE_LOCKED; a write fault.
    """
    line = line_of(record)
    with holding(writer, EVENTS_LOCK):
        writer.append(EVENTS, line)


def signal_file(day: str) -> str:
    """Return the signal file of a local day."""
    return f"{SIGNALS}/{day}.jsonl"


def one_line_summary(text: str) -> str:
    """Collapse white space and check the length.

    Raises:
        AiosError: DOTAIOS_ARGUMENT_INVALID.
    """
    summary = " ".join(text.split())
    if not 0 < len(summary) <= SUMMARY_CHARS:
        raise argument_fault(f"the text must have 1 to {SUMMARY_CHARS} characters")
    return summary
