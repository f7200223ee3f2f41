import json

from agentic_os.aios.context.timeline import (
    active_project,
    newest_first,
    session_rows,
    timeline_rows,
    without_mirrors,
)
from agentic_os.aios.folder.json_text import object_lines

DAYS = ("2026-11-30", "2026-11-29")


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_lines_that_are_no_objects_are_passed_over() -> None:
    text = '{"a":1}\r\n\n[1]\nnull\n{"a":NaN}\n{"broken\n  {"b":2}  \n' + "[" * 5000
    assert [row for row in object_lines(text) if row is not None] == [{"a": 1}, {"b": 2}]


def test_sessions_newest_first_with_stable_ties() -> None:
    rows = session_rows(
        lines(
            {"captured_at": "2026-11-30T09:00:00+02:00", "title": "earlier instant"},
            {"captured_at": "2026-11-30T08:00:00Z", "title": "later instant", "turns": 3},
            {"captured_at": "not a time", "title": "b"},
            {"captured_at": "not a time", "title": "a"},
            {"title": None, "agent": "", "turns": True, "project": 7},
        )
    )
    assert [row.title for row in rows] == [
        "later instant",
        "earlier instant",
        "a",
        "b",
        "(untitled)",
    ]
    assert (rows[0].turns, rows[0].date) == (3, "2026-11-30")
    assert (rows[4].agent, rows[4].turns, rows[4].project) == ("unknown", 0, "7")


def test_dates_come_from_the_record_else_the_file() -> None:
    rows = list(
        timeline_rows(
            lines(
                {"ts": "2026-11-29T23:59:00Z", "summary": " s "},
                {"note": "n"},
                {"type": "t", "ts": 5},
                {"summary": ""},
                {"summary": 12.0},
                {"summary": ["a", None]},
                {"summary": {}},
            ),
            file_date="2026-11-30",
        )
    )
    assert [(row.date, row.summary) for row in rows] == [
        ("2026-11-29", "s"),
        ("2026-11-30", "n"),
        ("2026-11-30", "t"),
        ("2026-11-30", ""),
        ("2026-11-30", "12"),
        ("2026-11-30", "a,"),
        ("2026-11-30", "[object Object]"),
    ]
    assert rows[1].timestamp == "2026-11-30T00:00:00"
    kept = newest_first(rows, DAYS)
    assert [row.summary for row in kept][-1] == "s"
    assert len(kept) == 6


def test_newest_first_keeps_only_the_days() -> None:
    text = lines(
        {"ts": "2026-11-30T01:00:00Z", "summary": "b"},
        {"ts": "2026-11-30T01:00:00Z", "summary": "a"},
        {"ts": "2026-11-30T02:00:00Z", "summary": "c"},
        {"ts": "2026-11-28T02:00:00Z", "summary": "old"},
        {"summary": "undated"},
    )
    assert [row.summary for row in newest_first(timeline_rows(text), DAYS)] == ["c", "a", "b"]


def test_an_update_is_shown_once() -> None:
    update = {"ts": "2026-11-30T01:00:00Z", "type": "update", "source": "dotaios update"}
    events = list(timeline_rows(lines({**update, "summary": "same", "project": "a"})))
    signals = list(
        timeline_rows(
            lines(
                {**update, "summary": "same", "project": "a"},
                {**update, "summary": "same", "project": "b"},
                {**update, "summary": "other", "project": "a"},
                {"type": "note", "summary": "same", "project": "a"},
            )
        )
    )
    assert len(without_mirrors(signals, events)) == 3
    assert len(without_mirrors(signals, [])) == 4


def test_the_active_project_is_that_of_the_latest_session() -> None:
    def active(*rows: tuple[str, str]) -> str | None:
        text = lines(*({"captured_at": at, "project": project} for at, project in rows))
        return active_project(session_rows(text))

    assert active(("2026-11-30", "b"), ("2026-11-29", "a"), ("2026-11-28", "a")) == "b"
    assert active(("2026-11-30", "b"), ("2026-11-30", "a"), ("2026-11-29", "a")) == "a"
    assert active(("2026-11-30", "b"), ("2026-11-30", "a")) == "a"
    assert active(("2026-11-30", "")) is None
