"""Updates: once in both channels, whatever stops or races."""

import json
from datetime import datetime, timedelta, timezone

import pytest

from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.folder.system import System
from agentic_os.aios.notes.update import update
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.request import search_aios
from agentic_os.errors import AiosError
from support.aios.builder import SECRET, AiosBuilder, RaisingLayer, tree
from support.aios.stopping import side_by_side, stopped_at_every_step

SHARED = resolve_policy()
LATE = datetime(2026, 11, 30, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
"""An evening whose day in UTC is the next one."""


def lines(aios: AiosBuilder, path: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (aios.root / path).read_text().splitlines()]


def test_an_evening_update(full: AiosBuilder) -> None:
    (full.root / "memory/events.jsonl").unlink()
    access = full.access()
    access = type(access)(root=full.root, clock=lambda: LATE)
    record = update(access, resolve_policy(project="A1"), "  met\n  Sarah ")
    assert list(record) == [
        "ts",
        "type",
        "project",
        "project_id",
        "summary",
        "source",
        "record_id",
    ]
    assert record["ts"] == "2026-12-01T04:30:00.000Z"
    assert (record["project"], record["project_id"], record["summary"]) == (
        "alpha",
        "A1",
        "met Sarah",
    )
    assert lines(full, "memory/events.jsonl") == [record]
    assert lines(full, "memory/signals/2026-11-30.jsonl") == [record]
    brief = read_brief(access, SHARED).context.markdown
    assert brief.count("met Sarah") == 1
    found = search_aios(access, SHARED, query="Sarah", scope="memory")
    assert found.total == 1


def test_stopped_at_every_step_a_retry_completes_it(aios: AiosBuilder) -> None:
    def prepare() -> None:
        for path in (*aios.root.glob("memory/*.jsonl"), *aios.root.glob("memory/signals/*")):
            path.unlink()

    def act(system: System) -> None:
        update(aios.access(system=system), SHARED, "once", record_id="r-1")

    for _ in stopped_at_every_step(prepare, act):
        update(aios.access(), SHARED, "once", record_id="r-1")
        update(aios.access(), SHARED, "once", record_id="r-1")
        events = lines(aios, "memory/events.jsonl")
        assert len(events) == 1
        assert lines(aios, "memory/signals/2026-11-30.jsonl") == events
        assert not list(aios.root.rglob("*.lock"))


def test_parallel_updates(aios: AiosBuilder) -> None:
    def act(number: int) -> None:
        for turn in range(5):
            update(aios.access(), SHARED, f"update {number} {turn}")

    side_by_side(*(lambda number=number: act(number) for number in range(4)))
    assert len(lines(aios, "memory/events.jsonl")) == 20
    assert len(lines(aios, "memory/signals/2026-11-30.jsonl")) == 20


def test_refusals_change_nothing(full: AiosBuilder) -> None:
    before = tree(full.root)
    cases = [
        (SHARED, f"the key is {SECRET}", "DOTAIOS_SECRET_FOUND"),
        (SHARED, " \n ", "DOTAIOS_ARGUMENT_INVALID"),
        (SHARED, "x" * 4001, "DOTAIOS_ARGUMENT_INVALID"),
        (resolve_policy(project="nobody"), "x", "DOTAIOS_PROJECT_SELECTOR_UNKNOWN"),
    ]
    for policy, text, code in cases:
        with pytest.raises(AiosError) as caught:
            update(full.access(), policy, text)
        assert caught.value.code == code
    assert tree(full.root) == before
    assert update(full.access(), SHARED, f"the key is {SECRET}", allow_secret=True)


def test_off_touches_nothing(aios: AiosBuilder) -> None:
    with pytest.raises(AiosError) as caught:
        update(aios.access(files=RaisingLayer()), resolve_policy(mode="off"), "x")
    assert caught.value.code == "DOTAIOS_MEMORY_OFF"


def test_an_unfinished_migration_stops_every_write(aios: AiosBuilder) -> None:
    aios.write(".dotaios/migrations/transactions/p/journal.json", "{}")
    with pytest.raises(AiosError) as caught:
        update(aios.access(), SHARED, "x")
    assert caught.value.code == "DOTAIOS_MIGRATION_RECOVERY_REQUIRED"
