"""Edits of JSON texts, over drawn values and over comments."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.server.setup.json_edit import append_in, parse, remove_in, set_in

NAMES = st.text(alphabet='ab/*{}[],:\\"é ', max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(alphabet='a"/*,}]é\n', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)
COMMENTED = """{
  // one
  "a": {"x": 1, /* two */ "y": [1, 2,], },
  "b": "// not a comment, } ]", // three
}
"""


def written(value: object, indent: int | None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False)


@given(OBJECTS, NAMES, NAMES, VALUES, st.sampled_from([None, 2]))
def test_one_value_is_set_and_the_others_stay(
    before: dict[str, Any], first: str, second: str, value: object, indent: int | None
) -> None:
    inner = before.get(first, {})
    if not isinstance(inner, dict):
        with pytest.raises(ValueError, match="form"):
            set_in(written(before, indent), (first, second), value)
        return

    after = parse(set_in(written(before, indent), (first, second), value))

    assert after == {**before, first: {**inner, second: value}}


@given(OBJECTS, st.sampled_from([None, 2]))
def test_what_was_added_can_be_taken_out_again(before: dict[str, Any], indent: int | None) -> None:
    text = written(before, indent)
    for name in before:
        without = {other: value for other, value in before.items() if other != name}
        assert parse(remove_in(text, (name,))) == without
    added = set_in(text, ("new name",), {"x": [1]})
    assert parse(remove_in(added, ("new name",))) == before
    assert remove_in(text, ("new name",)) == text


@given(st.lists(VALUES, max_size=3), VALUES, st.sampled_from([None, 2]))
def test_an_element_is_appended_and_taken_out(
    elements: list[object], value: object, indent: int | None
) -> None:
    text = written({"a": {"b": elements}}, indent)

    longer = append_in(text, ("a", "b"), value)

    assert parse(longer) == {"a": {"b": [*elements, value]}}
    assert parse(remove_in(longer, ("a", "b", len(elements)))) == parse(text)
    if elements:
        assert parse(remove_in(longer, ("a", "b", 0))) == {"a": {"b": [*elements[1:], value]}}


def test_comments_and_order_survive() -> None:
    text = set_in(COMMENTED, ("a", "z"), 1)
    text = append_in(text, ("a", "y"), 3)
    text = set_in(text, ("a", "x"), 2)
    text = append_in(text, ("c", "d"), {"e": 1})

    assert parse(text) == {
        "a": {"x": 2, "y": [1, 2, 3], "z": 1},
        "b": "// not a comment, } ]",
        "c": {"d": [{"e": 1}]},
    }
    for comment in ("// one", "/* two */", "// three"):
        assert comment in text
    assert all(
        comment in remove_in(text, ("b",)) for comment in ("// one", "/* two */", "// three")
    )


def test_a_path_into_an_array_of_objects() -> None:
    text = set_in('{"a": [{"b": 1}, {"b": 2}]}', ("a", 1, "b"), 3)

    assert parse(text) == {"a": [{"b": 1}, {"b": 3}]}


@pytest.mark.parametrize("text", ["{", '{"a": [}', "[" * 100_000])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the library's own words
        parse(text)
