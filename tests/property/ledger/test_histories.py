"""Any history: snapshot equals replay, and no change of a ledger's bytes goes unnoticed."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentic_os.crypto.canonical.json import encode
from agentic_os.errors import LedgerError
from agentic_os.ledger.file.verify import verify_storage
from agentic_os.ledger.line.vocabulary import entry_type
from agentic_os.ledger.projection.database import SqliteDatabase
from agentic_os.ledger.projection.rows import Event
from agentic_os.ledger.projection.snapshot import make_seal, restore_snapshot, write_snapshot
from agentic_os.ledger.projection.tables import Projection
from support.ledger.builder import KEYS, Builder, MemoryStorage
from support.ledger.stories import events_of, story

IDS = st.sampled_from(["a", "b", "c", "d"])
EDGES = st.sampled_from(["SUPPORTS", "CONTRADICTS"])
WORDS = st.sampled_from(["x", "y", "é \U0001f600"])
REQUESTS: st.SearchStrategy[tuple[str, dict[str, Any]]] = st.one_of(
    st.tuples(
        st.just("belief.upsert"),
        st.fixed_dictionaries({"id": IDS, "claim": WORDS, "confidence": st.sampled_from([0, 0.5])}),
    ),
    st.tuples(st.just("experience.create"), st.fixed_dictionaries({"id": IDS, "content": WORDS})),
    st.tuples(
        st.sampled_from(["edge.create", "edge.archive"]),
        st.fixed_dictionaries(
            {
                "from_id": IDS,
                "to_id": IDS,
                "edge_type": st.sampled_from(["SUPPORTS", "CONTRADICTS"]),
            }
        ),
    ),
    st.tuples(st.just("belief.archive"), st.fixed_dictionaries({"id": IDS, "reason": WORDS})),
    st.tuples(
        st.just("belief.supersede"),
        st.fixed_dictionaries({"old_id": IDS, "new_id": IDS, "reason": WORDS}),
    ),
    st.tuples(st.just("working.note"), st.fixed_dictionaries({"id": IDS, "content": WORDS})),
    st.tuples(st.just("policy.set"), st.fixed_dictionaries({"key": IDS, "value": st.integers()})),
    st.tuples(
        st.just("intention.create"),
        st.fixed_dictionaries({"id": IDS, "statement": WORDS, "why": WORDS}),
    ),
)


def _event(number: int, name: str, payload: dict[str, Any]) -> Event:
    kind, data = entry_type(name), encode(payload)
    return Event(
        seq=number,
        hash=f"sha256:{number:064d}",
        ts="2026-01-01T00:00:00.000000000Z",
        role="identity",
        kind=kind,
        payload=kind.read(data),
        payload_bytes=data,
    )


def _accepted(requests: list[tuple[str, dict[str, Any]]]) -> list[Event]:
    """The requests that apply, as a writer's trial would find."""
    projection = Projection(SqliteDatabase(None))
    events: list[Event] = []
    for name, payload in requests:
        try:
            event = _event(len(events) + 1, name, payload)
            projection.apply([event])
        except LedgerError:
            continue
        events.append(event)
    projection.close()
    return events


@given(st.lists(REQUESTS, max_size=30), st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_snapshot_and_replay_are_equal_at_every_line(
    requests: list[tuple[str, dict[str, Any]]], data: st.DataObject
) -> None:
    events = _accepted(requests)
    cut = data.draw(st.integers(0, len(events)))
    replayed = Projection(SqliteDatabase(None))
    replayed.apply(events[:cut])
    restored = Projection(SqliteDatabase(None))
    with tempfile.TemporaryDirectory() as folder:
        seal = make_seal(replayed, origin="o", key=KEYS["identity"])
        path = write_snapshot(replayed, Path(folder), seal)
        assert restore_snapshot(restored, path, seal)
    for one in (replayed, restored):
        one.apply(events[cut:])
    in_one_go = Projection(SqliteDatabase(None))
    in_one_go.apply(events)
    assert replayed.digest() == restored.digest() == in_one_go.digest()
    assert replayed.cursor == restored.cursor == in_one_go.cursor
    for one in (replayed, restored, in_one_go):
        one.close()


@given(st.lists(REQUESTS, max_size=20), REQUESTS)
@settings(max_examples=40, deadline=None)
def test_a_trial_leaves_no_trace(
    requests: list[tuple[str, dict[str, Any]]], tried: tuple[str, dict[str, Any]]
) -> None:
    from agentic_os.ledger.projection.effects import apply_event

    events = _accepted(requests)
    projection = Projection(SqliteDatabase(None))
    projection.apply(events)
    before = (projection.digest(), projection.cursor)
    try:
        event = _event(len(events) + 1, *tried)
        with projection.trial():
            apply_event(projection.db, event)
    except LedgerError:
        pass
    assert (projection.digest(), projection.cursor) == before
    projection.close()


STORY = story(20)
DATA = STORY.data


@given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
@settings(max_examples=150, deadline=None)
def test_no_changed_byte_goes_unnoticed(at: int, change: int) -> None:
    changed = bytearray(DATA)
    changed[at] ^= change
    found, _ = verify_storage(MemoryStorage(bytes(changed)))
    assert found.findings


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_lines_dropped_doubled_swapped_or_inserted_are_noticed(data: st.DataObject) -> None:
    lines = list(STORY.lines)
    other = Builder().genesis().experience(1).experience(2).lines
    at = data.draw(st.integers(0, len(lines) - 2))
    match data.draw(st.sampled_from(["drop", "double", "swap", "insert", "replace"])):
        case "drop":
            del lines[at]
        case "double":
            lines.insert(at, lines[at])
        case "swap":
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
        case "insert":
            lines.insert(at + 1, data.draw(st.sampled_from(other)))
        case _:
            lines[at] = data.draw(st.sampled_from(other))
    found, _ = verify_storage(MemoryStorage(b"".join(line + b"\n" for line in lines)))
    assert found.findings


def test_the_story_itself_verifies() -> None:
    found, _ = verify_storage(MemoryStorage(DATA))
    assert found.verified
    assert len(events_of(STORY)) == len(STORY.lines)
