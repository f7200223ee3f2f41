"""``aios cleanup``: old events and stale signals move to their archives.

Events: under the log's lock the lines beyond the newest 50 are staged, the shorter log is renamed
over the old one (that is the commit), and what is staged is flushed. Signals: the day files older
than 30 local days are staged, flushed and then removed. A run finishes what a stopped one left.
"""

from datetime import date, datetime, timedelta
from typing import Final

import msgspec

from agentic_os.aios.archives.rotation import STAGED_BYTES, Archive, lines_of
from agentic_os.aios.context.sources import SIGNAL_NAME
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.json_text import JsonObject, compact, parse_object
from agentic_os.aios.folder.tree import EVENTS, SIGNALS
from agentic_os.aios.notes.records import append_event, record_of
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.writing.locks import EVENTS_LOCK, SIGNALS_ARCHIVE_LOCK, holding
from agentic_os.aios.writing.opening import open_for_writing
from agentic_os.aios.writing.plan import sha256
from agentic_os.aios.writing.writer import FolderWriter

KEPT_EVENTS: Final = 50
CROWDED_EVENTS: Final = 100
KEPT_SIGNAL_DAYS: Final = 30
DAY_MS: Final = 24 * 60 * 60 * 1000
CLOCK: Final = "memory/.maintenance.json"
SOURCE: Final = "dotaios cleanup"


class CleanupData(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ``cleanup``: how many lines and files were moved, or would be."""

    archived: int
    kept: int
    signal_files_removed: int
    signal_lines_archived: int
    dry_run: bool

    @property
    def moved(self) -> bool:
        """Whether anything was, or would be, moved."""
        return bool(self.archived or self.signal_files_removed)


def cleanup(access: AiosAccess, policy: MemoryPolicy, *, dry_run: bool = False) -> CleanupData:
    """Move old events and stale signals to their archives.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, DOTAIOS_ARCHIVE_*, DOTAIOS_EVENT_STORE_LOCKED, or a write
            fault.
    """
    now = access.clock()
    with open_for_writing(access, policy) as writer:
        if dry_run:
            old, kept = _split(writer)
            stale = _stale(writer, now)
            lines = sum(len(lines_of(writer.see(path).data)) for path in stale)
            return CleanupData(
                archived=len(lines_of(old)),
                kept=len(lines_of(kept)),
                signal_files_removed=len(stale),
                signal_lines_archived=lines,
                dry_run=True,
            )
        with holding(writer, EVENTS_LOCK):
            archived, kept_lines = _compact(writer)
        with holding(writer, SIGNALS_ARCHIVE_LOCK):
            removed, lines = _trim(writer, now)
        data = CleanupData(
            archived=archived,
            kept=kept_lines,
            signal_files_removed=removed,
            signal_lines_archived=lines,
            dry_run=False,
        )
        _note_run(writer, now)
        if data.moved:
            append_event(writer, _receipt(now, data))
        return data


def is_due(access: AiosAccess, policy: MemoryPolicy) -> bool:
    """Whether the log is crowded or the last run a day ago; a first look starts the clock.

    Raises:
        AiosError: DOTAIOS_MEMORY_OFF, or a read or write fault.
    """
    now = access.clock()
    with open_for_writing(access, policy) as writer:
        lines = lines_of(writer.see(EVENTS, limit_bytes=STAGED_BYTES).data)
        if sum(1 for line in lines if line.strip()) > CROWDED_EVENTS:
            return True
        stated = parse_object(writer.see(CLOCK).data.decode("utf-8", "replace")) or {}
        last = stated.get("lastRun")
        if isinstance(last, bool) or not isinstance(last, int | float):
            _note_run(writer, now)
            return False
        passed = now.timestamp() * 1000 - last
        return passed >= DAY_MS or passed < -DAY_MS


def _compact(writer: FolderWriter) -> tuple[int, int]:
    archive = Archive(writer, "events-archive")
    _finish_events(writer, archive)
    old, kept = _split(writer)
    if not old:
        return 0, len(lines_of(kept))
    seen = writer.see(EVENTS, limit_bytes=STAGED_BYTES)
    before: JsonObject = {"sha256": sha256(seen.data), "size": len(seen.data)}
    archive.stage(old, {"version": 1, "before": before})
    writer.put(EVENTS, kept, expected=seen)
    archive.flush()
    archive.drop()
    return len(lines_of(old)), len(lines_of(kept))


def _finish_events(writer: FolderWriter, archive: Archive) -> None:
    """Finish what a stopped run staged, unless its lines still live in the log."""
    staged = archive.staged()
    if staged is not None:
        lines, known = staged
        if _still_live(writer, lines, known):
            archive.drop()
            return
    archive.flush()
    archive.drop()


def _still_live(writer: FolderWriter, staged: bytes, known: JsonObject) -> bool:
    """Whether the log was not yet shortened when the run was stopped."""
    live = writer.see(EVENTS, limit_bytes=STAGED_BYTES).data
    before = known.get("before")
    if isinstance(before, dict) and isinstance(size := before.get("size"), int):
        return len(live) >= size and sha256(live[:size]) == before.get("sha256")
    lines, present = lines_of(staged), set(lines_of(live))
    return bool(lines) and lines[0] in present and lines[-1] in present


def _split(writer: FolderWriter) -> tuple[bytes, bytes]:
    """Split the log into what is moved and the newest lines that stay."""
    lines = lines_of(writer.see(EVENTS, limit_bytes=STAGED_BYTES).data)
    said = [at for at, line in enumerate(lines) if line.strip()]
    if len(said) <= KEPT_EVENTS:
        return b"", b"".join(lines)
    cut = said[-KEPT_EVENTS]
    return b"".join(line for line in lines[:cut] if line.strip()), b"".join(lines[cut:])


def _trim(writer: FolderWriter, now: datetime) -> tuple[int, int]:
    archive = Archive(writer, "signals-archive")
    staged = archive.staged()
    if staged is not None:
        archive.flush()
        removed = _remove(writer, staged[1])
        archive.drop()
        if removed:
            return removed, len(lines_of(staged[0]))
    archive.flush()
    archive.drop()
    stale = _stale(writer, now)
    if not stale:
        return 0, 0
    contents = {path: writer.see(path, limit_bytes=STAGED_BYTES).data for path in stale}
    lines = b"".join(line for data in contents.values() for line in lines_of(data) if line.strip())
    sources: list[JsonObject] = [
        {"path": path, "sha256": sha256(data)} for path, data in contents.items()
    ]
    known: JsonObject = {"version": 1, "sources": list(sources)}
    archive.stage(lines, known)
    archive.flush()
    removed = _remove(writer, known)
    archive.drop()
    return removed, len(lines_of(lines))


def _remove(writer: FolderWriter, known: JsonObject) -> int:
    """Remove the day files whose lines are in the archive now, if they still are what they were."""
    sources = known.get("sources")
    removed = 0
    for source in sources if isinstance(sources, list) else []:
        path = source.get("path") if isinstance(source, dict) else None
        if not isinstance(source, dict) or not isinstance(path, str):
            continue
        seen = writer.see(path, limit_bytes=STAGED_BYTES)
        same = seen.exists and sha256(seen.data) == source.get("sha256")
        if path.startswith(f"{SIGNALS}/") and same:
            writer.remove(path, expected=seen)
            removed += 1
    return removed


def _stale(writer: FolderWriter, now: datetime) -> list[str]:
    oldest = now.date() - timedelta(days=KEPT_SIGNAL_DAYS)
    found = []
    for name in writer.names(SIGNALS):
        dated = SIGNAL_NAME.fullmatch(name)
        try:
            day = date.fromisoformat(dated[1]) if dated else now.date()
        except ValueError:
            continue
        if day < oldest:
            found.append(f"{SIGNALS}/{name}")
    return found


def _note_run(writer: FolderWriter, now: datetime) -> None:
    document = compact({"lastRun": int(now.timestamp() * 1000)}) + "\n"
    with holding(writer, EVENTS_LOCK):
        writer.put(CLOCK, document.encode(), expected=writer.see(CLOCK))


def _receipt(now: datetime, data: CleanupData) -> JsonObject:
    moved = f"{data.archived} events and {data.signal_lines_archived} signals archived"
    return record_of(
        now,
        "memory.maintenance",
        {
            "summary": moved,
            "source": SOURCE,
            "archived": data.archived,
            "kept": data.kept,
            "signal_files_removed": data.signal_files_removed,
            "signal_files_archived": data.signal_files_removed,
            "signal_lines_archived": data.signal_lines_archived,
        },
    )
