"""Whatever bytes an AIOS folder holds, only documented values and errors come back."""

import base64
import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentic_os.aios.context.notes import carry_over, header_text, plan, recent_decisions, section
from agentic_os.aios.context.timeline import (
    active_project,
    newest_first,
    session_rows,
    timeline_rows,
    without_mirrors,
)
from agentic_os.aios.folder import faults
from agentic_os.aios.folder.allowance import Amount, FairPhase, allocate, protected_share
from agentic_os.aios.folder.front_matter import read_front_matter, without_front_matter
from agentic_os.aios.folder.json_text import (
    Json,
    compact,
    instant_ms,
    pretty,
    stable,
    text_of,
)
from agentic_os.aios.follow.references import Reference, decode, encode
from agentic_os.aios.intent.skills import read_skill
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.projects.attribution import in_projection, in_search
from agentic_os.aios.projects.values import (
    ProjectIdentity,
    clean_selector,
    safe_remote,
    select_project,
)
from agentic_os.aios.search.matching import Query, stem
from agentic_os.aios.search.snippets import SNIPPETS, cut, places, title_of
from agentic_os.aios.search.streams import Stream, best_field, distinct_records
from agentic_os.errors import AiosError
from agentic_os.text.budget import utf16_length
from agentic_os.text.jsonl import parse_json

T = TypeVar("T")

CODES = {value for name, value in vars(faults).items() if name.isupper() and isinstance(value, str)}

texts = st.text(max_size=200)


def outcome(call: Callable[[], T]) -> T | str:
    """The value of a call, or the code of its documented error."""
    try:
        return call()
    except AiosError as error:
        return error.code


lines = st.text(alphabet=st.characters(codec="utf-8"), max_size=60)
values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
FIELDS = (
    "ts type summary note source project project_id captured_at agent title turns path "
    "session_id record_id"
)
field_names = st.sampled_from(FIELDS.split())
rows = st.dictionaries(field_names | texts, values, max_size=6)
jsonl = st.lists(rows.map(json.dumps) | lines, max_size=8).map("\n".join)


@given(
    st.binary(max_size=400) | st.binary(max_size=300).map(lambda data: b"---\n" + data + b"\n---\n")
)
@example(b"---\n" + b"&a [" * 50 + b"\n---\n")
@example(b"---\na: &x [*x, *x]\nb: *x\n---\n")
def test_front_matter_is_a_value_or_a_documented_error(data: bytes) -> None:
    front = outcome(lambda: read_front_matter(data))
    if isinstance(front, str):
        assert front in {"DOTAIOS_FRONTMATTER_INVALID", "DOTAIOS_INVALID_UTF8"}
    else:
        assert 0 <= front.body_from <= len(data)
        assert all(isinstance(name, str) for name in front.fields)


@given(st.binary(max_size=300).map(lambda data: b"---\n" + data + b"\n---\nbody"))
def test_skills_are_values_or_documented_errors(data: bytes) -> None:
    skill = outcome(lambda: read_skill("folder", data))
    if isinstance(skill, str):
        assert skill in {"DOTAIOS_FRONTMATTER_INVALID", "DOTAIOS_INVALID_UTF8"}
    else:
        assert skill.name


@given(values)
def test_json_survives_the_round_trip(value: Json) -> None:
    text = compact(value)
    text.encode("utf-8")
    again = cast("Json", parse_json(text))
    assert compact(again) == text
    assert compact(cast("Json", parse_json(pretty(value)))) == text
    assert stable(again) == stable(value)
    text_of(value)


@given(texts)
def test_parsing_never_fails_otherwise(text: str) -> None:
    with suppress(ValueError):
        compact(cast("Json", parse_json(text)))
    moment = instant_ms(text)
    assert moment is None or any(char.isdigit() for char in text)


@given(jsonl)
def test_timeline_rows_never_raise(text: str) -> None:
    sessions = session_rows(text)
    active_project(sessions)
    assert [row.captured_at for row in session_rows(text)] == [row.captured_at for row in sessions]
    days = ("2026-11-30", "2026-11-29")
    found = newest_first(timeline_rows(text, file_date=days[0]), days)
    assert all(row.summary and row.date in days for row in found)
    assert without_mirrors(found, found) == [row for row in found if not row.is_update]


@given(rows)
def test_attribution_never_widens(row: dict[str, Json]) -> None:
    scope = select_project("a", [ProjectIdentity(slug="a", alias="a", id="A")])
    if in_projection(row, scope) or in_search(row, slug="a", project_id="A"):
        assert row.get("project") in {"a", "A", None}
        assert row.get("project_id") in {"A", None}
        assert row.get("project") is not None or row.get("project_id") is not None


@given(texts, texts)
def test_queries_never_raise(query: str, text: str) -> None:
    asked = Query(query)
    found = asked.match(text.lower())
    assert found is None or found.score > 0
    assert set(asked.present(text)) <= set(asked.terms)
    marked = asked.mark(text)
    assert len(marked) >= len(text)
    snippets = list(cut(text, places(text, asked)))
    assert len(snippets) <= text.count("\n") + 2
    assert all(1 <= s.line <= s.line_end <= text.count("\n") + 1 for s in snippets)
    assert SNIPPETS == 5
    title_of(text)
    for term in asked.terms:
        folded = stem(term)
        assert folded is None or term.startswith(folded)


@given(st.lists(rows, max_size=5), st.lists(rows, max_size=5), texts)
def test_memory_streams_lose_nothing(
    live: list[dict[str, Json]], active: list[dict[str, Json]], query: str
) -> None:
    streams = [
        Stream(source="live", family="events", generation="live", lines=list(live)),
        Stream(source="active", family="events", generation="active", lines=list(active)),
    ]
    found = list(distinct_records(streams))
    shown = {compact(record) for _, record in found}
    lost = {compact(r) for r in (*live, *active)} - shown
    assert all('"record_id"' in line for line in lost)
    for _, record in found:
        best_field(record, Query(query))


@given(lines, lines)
def test_notes_never_raise(text: str, other: str) -> None:
    note = f"## Plan\n{text}\n## Close\n### Carry-over\n{other}"
    section(note, "Plan")
    assert len(plan(note)) <= 4
    assert len(carry_over(note, note)) <= 5
    assert len(recent_decisions(note)) <= 3
    assert utf16_length(header_text(text * 20)) <= 800
    assert without_front_matter(text) in {text, without_front_matter(text)}


@given(
    st.sampled_from([None, "shared", "project", "off"]) | texts,
    st.none() | texts,
    st.none() | texts,
)
def test_policies_are_values_or_documented_errors(
    mode: str | None, project: str | None, message: str | None
) -> None:
    policy = outcome(lambda: resolve_policy(mode=mode, project=project, first_message=message))
    if isinstance(policy, str):
        assert policy == "DOTAIOS_MEMORY_POLICY_INVALID"
    else:
        assert (policy.selector is not None) == (policy.mode == "project")


@given(texts)
def test_selectors_and_remotes(text: str) -> None:
    assert outcome(lambda: clean_selector(text)) in {text.strip(), "DOTAIOS_ARGUMENT_INVALID"}
    assert safe_remote(text) in {text, None}


references = st.builds(
    Reference,
    source=st.sampled_from(["context/work.md", "context/é/😀.md"]),
    scope=st.just("shared"),
    project=st.none(),
    root=st.just("0" * 64),
    file=st.just("a" * 64),
    digest=st.just("sha256:" + "9" * 64),
    offset=st.integers(0, 2**53 - 1),
)


@given(references)
def test_references_round_trip(reference: Reference) -> None:
    assert decode(encode(reference)) == reference


@given(
    texts
    | st.binary(max_size=300).map(
        lambda data: "ds1." + base64.urlsafe_b64encode(data).decode().rstrip("=")
    )
    | rows.map(
        lambda row: "ds1." + base64.urlsafe_b64encode(json.dumps(row).encode()).decode().rstrip("=")
    )
)
def test_anything_else_is_no_reference(text: str) -> None:
    with pytest.raises(ValueError, match="reference"):
        decode(text)


amounts = st.builds(
    Amount, bytes=st.integers(0, 10**9), files=st.integers(0, 10**5), entries=st.integers(0, 10**6)
)


@given(amounts, st.lists(amounts, min_size=1, max_size=9))
def test_allocation_never_exceeds_the_room(room: Amount, demands: list[Amount]) -> None:
    named = [(str(at), demand) for at, demand in enumerate(demands)]
    allocation = allocate(named, room, scopes=len(named))
    used = Amount()
    for name, demand in named:
        if name in allocation.admitted:
            used = used.plus(demand)
        else:
            assert not demand.fits(allocation.room)
    assert used.fits(room)
    share = protected_share(room, len(named))
    assert all(name in allocation.admitted for name, demand in named if demand.fits(share))


@given(amounts, st.lists(st.integers(0, 10**6), min_size=1, max_size=9))
def test_phases_never_hand_out_more_than_there_is(room: Amount, wanted: list[int]) -> None:
    phase = FairPhase(room, len(wanted))
    share = protected_share(room, len(wanted))
    used = 0
    for want in wanted:
        allowance = phase.open()
        assert share.fits(allowance.limit)
        taken = Amount(entries=min(want, allowance.limit.entries))
        allowance.charge(taken)
        used += taken.entries
        phase.settle(allowance)
    assert used <= room.entries


def test_every_documented_error_is_path_free() -> None:
    messages = [
        faults.fault(code).message
        for code in CODES
        if code not in {faults.POLICY_INVALID, faults.ARGUMENT_INVALID}
    ]
    assert len(messages) > 30
    assert not any(re.search(r"(?:^|\s)/|\\", message) for message in messages)
