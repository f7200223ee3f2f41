"""Rows of the timeline: sessions, signals and events as the projection orders them.

Pure functions over JSONL text. A line that is not a JSON object is skipped and left
where it is. Order (DotAIOS convention, projection): sessions by instant, then by text of
``captured_at``, then by their sorted JSON; signals and events by timestamp text, then by
their sorted JSON; newest first. Ties use code points, where JavaScript asks a locale.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

from agentic_os.aios.folder.json_text import (
    ISO_DATE_CHARS,
    Json,
    JsonObject,
    instant_ms,
    object_lines,
    stable,
    text_of,
)

UPDATE_TYPE: Final = "update"
UPDATE_SOURCE: Final = "dotaios update"
HOUSEKEEPING: Final = frozenset({"brief", "memory.maintenance", "memory-promotion"})
"""Types of records that tools write about themselves; they take no place in a projection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One row of the session index."""

    captured_at: str
    agent: str
    project: str
    title: str
    turns: int
    row: JsonObject

    @property
    def is_copy(self) -> bool:
        """Whether it is a conflict copy of another session."""
        return _shown(self.row.get("conflict_of")) != ""

    @property
    def date(self) -> str:
        """The date part of ``captured_at``."""
        return self.captured_at[:ISO_DATE_CHARS]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """One signal or event.

    ``date`` is that of its timestamp, else of its file; ``summary`` is the summary, else
    the note, else the type.
    """

    date: str
    timestamp: str
    summary: str
    row: JsonObject

    @property
    def mirror_key(self) -> tuple[str, ...]:
        """What an update's signal and its event have in common."""
        names = ("type", "source", "project", "project_id")
        return (*(_shown(self.row.get(name)) for name in names), self.summary)

    @property
    def is_update(self) -> bool:
        """Whether the update command wrote it, into both channels."""
        return self.row.get("type") == UPDATE_TYPE and self.row.get("source") == UPDATE_SOURCE


def session_rows(text: str) -> list[SessionRow]:
    """Read a session index, newest session first."""
    rows = [_session(row) for row in object_lines(text) if row is not None]
    rows.sort(key=lambda row: stable(row.row))
    rows.sort(key=lambda row: row.captured_at, reverse=True)
    rows.sort(key=lambda row: instant_ms(row.captured_at) or 0.0, reverse=True)
    return rows


def timeline_rows(
    text: str, *, file_date: str = "", days: Sequence[str] = (), zone: tzinfo | None = None
) -> Iterator[TimelineRow]:
    """Read signals or events in file order.

    Args:
        text: the lines.
        file_date: stands in for a missing ``ts``.
        days: the local days of a projection; a row whose UTC date is another one, but whose
            local day is among them, has that day.
        zone: the local time zone.
    """
    for row in object_lines(text):
        if row is None:
            continue
        value = row.get("ts")
        stamp = value if isinstance(value, str) else ""
        yield TimelineRow(
            date=_local_day(stamp, days, zone) or stamp[:ISO_DATE_CHARS] or file_date,
            timestamp=stamp or f"{file_date}T00:00:00",
            summary=_summary(row),
            row=row,
        )


def _local_day(stamp: str, days: Sequence[str], zone: tzinfo | None) -> str | None:
    """Return the local day of a time, if only that one is among ``days``."""
    if zone is None or not stamp or stamp[:ISO_DATE_CHARS] in days:
        return None
    instant = instant_ms(stamp)
    if instant is None:
        return None
    try:
        day = datetime.fromtimestamp(instant / 1000, zone).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return None
    return day if day in days else None


def _is_housekeeping(row: TimelineRow) -> bool:
    kind = row.row.get("type")
    return isinstance(kind, str) and kind in HOUSEKEEPING


def newest_first(rows: Iterable[TimelineRow], dates: Sequence[str]) -> list[TimelineRow]:
    """Keep rows of ``dates`` that say something of the person's work, newest first."""
    kept = [row for row in rows if row.date in dates and row.summary and not _is_housekeeping(row)]
    kept.sort(key=lambda row: stable(row.row))
    kept.sort(key=lambda row: row.timestamp, reverse=True)
    return kept


def without_mirrors(
    signals: Sequence[TimelineRow], events: Sequence[TimelineRow]
) -> list[TimelineRow]:
    """Drop the signals that an update event says already."""
    said = {event.mirror_key for event in events if event.is_update}
    return [row for row in signals if not (row.is_update and row.mirror_key in said)]


def active_project(sessions: Sequence[SessionRow]) -> str | None:
    """Infer the project from sessions: the latest, then the most frequent, then by name."""
    seen: dict[str, tuple[str, int]] = {}
    for row in sessions:
        if row.project:
            latest, count = seen.get(row.project, ("", 0))
            seen[row.project] = (max(latest, row.captured_at), count + 1)
    names = sorted(seen)
    names.sort(key=lambda name: seen[name], reverse=True)
    return names[0] if names else None


def _session(row: JsonObject) -> SessionRow:
    turns = row.get("turns")
    return SessionRow(
        captured_at=_shown(row.get("captured_at")),
        agent=_shown(row.get("agent")) or "unknown",
        project=_shown(row.get("project")),
        title=_shown(row.get("title")) or "(untitled)",
        turns=turns if isinstance(turns, int) and not isinstance(turns, bool) else 0,
        row=row,
    )


def _summary(row: JsonObject) -> str:
    values = (_shown(row.get(name)) for name in ("summary", "note", "type"))
    return next((value for value in values if value), "").strip()


def _shown(value: Json) -> str:
    """Turn a field into text; a value that is false in JavaScript becomes the empty text."""
    return text_of(value) if value not in (None, False, 0, "") else ""
