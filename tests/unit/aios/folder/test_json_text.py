import pytest

from agentic_os.aios.folder.json_text import (
    Json,
    compact,
    instant_ms,
    iso_utc,
    number_text,
    parse_object,
    pretty,
    stable,
    text_of,
)
from agentic_os.text.jsonl import parse_json
from support.aios.builder import NOW


def test_documents_look_like_stringify() -> None:
    value: Json = {"b": [1.0, 2.5, None, True], "a": 'é\u2028\n"', "inf": float("inf")}
    assert compact(value) == '{"b":[1,2.5,null,true],"a":"é\u2028\\n\\"","inf":null}'
    assert pretty({"a": [1]}) == '{\n  "a": [\n    1\n  ]\n}'
    assert stable({"b": 1, "a": {"d": 2, "c": 3}}) == '{"a":{"c":3,"d":2},"b":1}'
    assert compact("\ud800") == '"\\ud800"'


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1764493200000.5, "1764493200000.5"),
        (1764493200000.0, "1764493200000"),
        (12, "12"),
        (2**64, "18446744073709552000"),
        (1e21, "1e+21"),
        (1e-7, "1e-7"),
        (-3.0, "-3"),
    ],
)
def test_numbers_read_like_javascript(number: float, text: str) -> None:
    assert number_text(number) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (0.5, "0.5"),
        (float("inf"), "Infinity"),
        ([1, None, "x"], "1,,x"),
        ({}, "[object Object]"),
    ],
)
def test_text_of(value: Json, text: str) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "NaN",
        '{"a":Infinity}',
        "[" * 201 + "]" * 201,
        '{"a":' * 201 + "1" + "}" * 201,
        "[" * 100_000,
        "1" * 5000,
    ],
)
def test_what_is_not_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_json(text)
    assert parse_object(text) is None


def test_what_is_json() -> None:
    assert parse_json("[" * 200 + "]" * 200) is not None
    assert parse_json('{"a":{}, "b":[[]], "c":"[[[["}') == {"a": {}, "b": [[]], "c": "[[[["}
    wide = "[" + ",".join(["[]"] * 300) + "]"
    assert parse_json(wide) == [[]] * 300
    assert parse_object("[1]") is None
    assert parse_object('{"a":1}') == {"a": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:01.5Z", 1500.0),
        ("1970-01-01", 0.0),
        ("1970-01-01T01:00:00+01:00", 0.0),
        ("1970-01-01T01:00:00.123456789+0100", 123.456),
        ("1970-13-01", None),
        ("1970-01-01T99:00Z", None),
        ("0001-01-01T00:00:00", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_instants(text: str, expected: float | None) -> None:
    assert instant_ms(text) == (None if expected is None else pytest.approx(expected))


def test_a_time_without_a_zone() -> None:
    assert instant_ms("1970-01-01T00:00:00", local=False) == 0.0
    assert instant_ms("2026-11-30T12:00") is not None
    assert iso_utc(NOW) == "2026-11-30T12:00:00.000Z"
