"""An engine's answer is read leniently and believed not at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.tiers.engines.answer import read_answer
from agentic_os.tiers.engines.client import RawAnswer, arguments_for, takes_query
from agentic_os.tiers.engines.values import (
    MAX_CONTENT_CHARS,
    MAX_HITS_ENTRIES,
    EngineFault,
    EngineHit,
    Meter,
)

ROW = {"file_path": "a.py", "content": "x", "start_line": 2, "end_line": 3, "score": 0.5}
HIT = EngineHit(path="a.py", start=2, end=3, content="x", score=0.5)


def read(structured: object, *texts: str) -> tuple[EngineHit, ...]:
    return read_answer(RawAnswer(structured=structured, texts=texts))


@pytest.mark.parametrize(
    "structured",
    [
        {"success": True, "results": [ROW]},
        {"result": [ROW]},
        {"result": {"hits": [ROW]}},
        {"data": {"matches": [ROW]}},
        {"items": [ROW], "message": None},
        {"results": [ROW, "no row", {}, {"file_path": 5}, {"file_path": ""}]},
    ],
)
def test_a_list_is_found_under_its_usual_names(structured: object) -> None:
    assert read(structured) == (HIT,)
    assert read(None, json.dumps(structured)) == (HIT,)
    assert read(None, "words before", json.dumps([ROW])) == (HIT,)


def test_fields_go_by_several_names() -> None:
    row = {"path": "a.py", "text": "x", "line": 2, "line_end": 3, "similarity": 0.5}
    assert read({"hits": [row]}) == (HIT,)


@pytest.mark.parametrize(
    ("field", "value", "kept"),
    [
        ("start_line", "2", (0, 3)),
        ("start_line", True, (0, 3)),
        ("start_line", -1, (0, 3)),
        ("start_line", 10**12, (0, 3)),
        ("end_line", 1, (2, 2)),
        ("end_line", None, (2, 2)),
    ],
)
def test_lines_that_are_none(field: str, value: object, kept: tuple[int, int]) -> None:
    (hit,) = read({"results": [{**ROW, field: value}]})
    assert (hit.start, hit.end) == kept


@pytest.mark.parametrize(
    ("value", "kept"),
    [(7, 1.0), (-1, 0.0), (True, 0.0), ("1", 0.0), (10**400, 0.0), (float("nan"), 0.0), (0, 0.0)],
)
def test_scores_lie_between_0_and_1(value: object, kept: float) -> None:
    (hit,) = read({"results": [{**ROW, "score": value}]})
    assert hit.score == kept


def test_bounds() -> None:
    assert len(read({"results": [ROW] * (MAX_HITS_ENTRIES + 1)})) == MAX_HITS_ENTRIES
    (long,) = read({"results": [{**ROW, "content": "x" * (MAX_CONTENT_CHARS + 1)}]})
    assert long.content == ""
    assert read({"results": [{**ROW, "file_path": "x" * 5_000}]}) == ()


@pytest.mark.parametrize(
    ("structured", "texts", "code"),
    [
        (None, (), "ENGINE_ANSWER_INVALID"),
        (None, ("no results",), "ENGINE_ANSWER_INVALID"),
        (None, ("[" * 100_000,), "ENGINE_ANSWER_INVALID"),
        ({"results": {"result": {"result": [ROW]}}}, (), "ENGINE_ANSWER_INVALID"),
        ({"results": "x"}, ("5",), "ENGINE_ANSWER_INVALID"),
        ({"success": False, "results": [ROW]}, (), "ENGINE_FAILED"),
        (None, ('{"success": false, "message": "\\u001b[2J"}',), "ENGINE_FAILED"),
    ],
)
def test_answers_that_are_none(structured: object, texts: tuple[str, ...], code: str) -> None:
    with pytest.raises(EngineFault) as raised:
        read(structured, *texts)
    assert raised.value.code == code


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["results", "result", "file_path", "start_line", "score", "content"])
            | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(JSON, st.lists(st.text(max_size=30), max_size=3))
def test_any_answer_is_read_or_refused(structured: object, texts: list[str]) -> None:
    try:
        hits = read(structured, *texts)
    except EngineFault as fault:
        assert fault.code in {"ENGINE_ANSWER_INVALID", "ENGINE_FAILED"}  # noqa: PT017 - either is fine
        return
    for hit in hits:
        assert hit.path
        assert 0 <= hit.start <= hit.end
        assert 0.0 <= hit.score <= 1.0


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("name", "schema", "taken"),
    [
        ("search", {"properties": {"query": TEXT}}, True),
        ("search_code", {"properties": {"query": {}}, "required": ["query", "limit"]}, True),
        ("search", {"properties": {"query": {"type": "array"}}}, False),
        ("search", {"properties": {"query": TEXT}, "required": ["query", "project"]}, False),
        ("search", {"properties": {"q": TEXT}}, False),
        ("search", {"properties": []}, False),
        ("search", {}, False),
        ("research", {"properties": {"query": TEXT}}, False),
        ("find", {"properties": {"query": TEXT}}, False),
    ],
)
def test_a_search_tool_needs_a_query_alone(
    name: str, schema: dict[str, object], taken: bool
) -> None:
    assert takes_query(name, schema) == taken


@pytest.mark.parametrize(
    ("properties", "arguments"),
    [
        ({"query": TEXT}, {"query": "q"}),
        (
            {"query": TEXT, "limit": {"maximum": 7}, "refresh_index": {}},
            {"query": "q", "limit": 7, "refresh_index": False},
        ),
        ({"query": TEXT, "top_k": {}, "max_results": {}}, {"query": "q", "top_k": 20}),
        ({"query": TEXT, "limit": {"maximum": True}}, {"query": "q", "limit": 20}),
        ({"query": TEXT, "limit": {"maximum": -3}}, {"query": "q", "limit": 20}),
        ({"query": TEXT, "limit": 5}, {"query": "q", "limit": 20}),
    ],
)
def test_the_arguments_of_a_search(
    properties: dict[str, object], arguments: dict[str, object]
) -> None:
    assert arguments_for({"properties": properties}, "q", 20) == arguments


def test_arguments_without_properties_and_with_too_large_a_limit() -> None:
    assert arguments_for({"properties": "x"}, "q", 20) == {"query": "q"}
    wide = arguments_for({"properties": {"limit": {}}}, "q", 1_010)
    assert wide["limit"] == MAX_HITS_ENTRIES


def test_a_meter_keeps_the_fault_that_ended_it() -> None:
    meter = Meter(limit_bytes=10, limit_messages=2)
    meter.take(10, 2)
    with pytest.raises(EngineFault, match="10 bytes"):
        meter.take(1)
    assert meter.fault is not None
    lines = Meter(limit_messages=1)
    with pytest.raises(EngineFault, match="1 lines"):
        lines.take(0, 2)
