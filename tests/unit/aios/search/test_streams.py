from agentic_os.aios.folder.json_text import JsonObject
from agentic_os.aios.search.matching import Query
from agentic_os.aios.search.streams import (
    Family,
    Generation,
    Stream,
    best_field,
    distinct_records,
    record_fields,
)

A: JsonObject = {"summary": "a"}
B: JsonObject = {"summary": "b"}


def stream(
    source: str, generation: Generation, *lines: JsonObject, family: Family = "events"
) -> Stream:
    return Stream(source=source, family=family, generation=generation, lines=list(lines))


def shown(*streams: Stream) -> list[tuple[str, str]]:
    return [(source, str(record["summary"])) for source, record in distinct_records(list(streams))]


def test_an_interrupted_move_shows_each_line_once() -> None:
    found = shown(
        stream("live", "live", A, B), stream("shard", "shard", A), stream("active", "active", B)
    )
    assert found == [("live", "a"), ("live", "b")]


def test_the_generation_with_most_copies_keeps_them() -> None:
    found = shown(stream("live", "live", A), stream("active", "active", A, A))
    assert found == [("active", "a"), ("active", "a")]
    equal = shown(stream("live", "live", A, A), stream("active", "active", A, A))
    assert equal == [("live", "a")] * 2


def test_only_the_newest_shard_can_overlap() -> None:
    old, new = stream("1", "shard", A), stream("2", "shard", A)
    assert shown(old, new, stream("active", "active", A)) == [("1", "a"), ("2", "a")]


def test_families_do_not_suppress_each_other() -> None:
    found = shown(stream("e", "live", A), stream("s", "live", A, family="signals"))
    assert found == [("e", "a"), ("s", "a")]


def test_one_record_id_is_shown_once_across_families() -> None:
    first: JsonObject = {"summary": "a", "record_id": "r"}
    second: JsonObject = {"summary": "b", "record_id": "r"}
    numbered: JsonObject = {"summary": "c", "record_id": 5}
    found = shown(
        stream("e", "live", first, numbered, numbered),
        stream("s", "live", second, family="signals"),
    )
    assert found == [("e", "a"), ("e", "c"), ("e", "c")]


def test_fields_are_flattened_in_order() -> None:
    record: JsonObject = {"a": [1, {"b": True}], "c": None, "d": {"e": "x"}}
    assert list(record_fields(record)) == [("a[0]", "1"), ("a[1].b", "true"), ("d.e", "x")]


def test_the_best_field_by_score_the_summary_among_equals() -> None:
    query = Query("ship gate")
    equal: JsonObject = {"note": "ship gate", "summary": "ship gate"}
    better: JsonObject = {"summary": "gate and ship", "note": "ship gate"}
    for record, expected in ((equal, "summary"), (better, "note")):
        found = best_field(record, query)
        assert found is not None
        assert found[0] == expected
    assert best_field({"a": "x"}, query) is None
