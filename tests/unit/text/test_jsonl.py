"""JSON Lines: one bounded line at a time, and a bad line is a value."""

import pytest

from agentic_os.text.jsonl import JsonlFault, iterate_jsonl


def read(data: bytes, limit: int = 1000) -> list[tuple[int, object]]:
    return list(iterate_jsonl(data, max_line_bytes=limit))


def test_lines_are_numbered_and_blank_ones_passed_over() -> None:
    assert read(b'{"a": 1}\n\n  \t\n[2]\r\n"x"') == [(1, {"a": 1}), (4, [2]), (5, "x")]


def test_an_empty_file_has_no_lines() -> None:
    assert read(b"") == []
    assert read(b"\xef\xbb\xbf") == []
    assert read(b"\n\n") == []


def test_a_byte_order_mark_at_the_start_is_dropped() -> None:
    assert read(b"\xef\xbb\xbf1\n2") == [(1, 1), (2, 2)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", "LINE_NOT_JSON"),
        (b"{'a': 1}", "LINE_NOT_JSON"),
        (b"1 2", "LINE_NOT_JSON"),
        (b"NaN", "LINE_NOT_JSON"),
        (b"[Infinity]", "LINE_NOT_JSON"),
        (b"-Infinity", "LINE_NOT_JSON"),
        (b"\xff", "LINE_NOT_UTF8"),
        (b'"\xed\xa0\xbd"', "LINE_NOT_UTF8"),
        (b"\xef\xbb\xbf1", "LINE_NOT_JSON"),
    ],
)
def test_a_bad_line_is_a_fault_and_the_next_is_read(line: bytes, code: str) -> None:
    found = read(b"1\n" + line + b"\n3\n")
    assert [number for number, _ in found] == [1, 2, 3]
    assert found[0][1] == 1
    assert found[2][1] == 3
    fault = found[1][1]
    assert isinstance(fault, JsonlFault)
    assert fault.code == code
    assert fault.message


def test_nesting_and_numbers_without_bounds_are_faults() -> None:
    deep = b"[" * 100_000
    huge = b"1" * 10_000
    found = read(deep + b"\n" + huge + b"\n1", limit=200_000)
    codes = [value.code if isinstance(value, JsonlFault) else value for _, value in found]
    assert codes == ["LINE_TOO_DEEP", "LINE_NOT_JSON", 1]


@pytest.mark.parametrize(("limit", "fits"), [(5, True), (4, False)])
def test_the_limit_does_not_count_the_line_end(limit: int, *, fits: bool) -> None:
    (first, second) = read(b"12345\n1\n", limit)
    assert second == (2, 1)
    if fits:
        assert first == (1, 12345)
    else:
        assert isinstance(first[1], JsonlFault)
        assert first[1].code == "LINE_TOO_LONG"
