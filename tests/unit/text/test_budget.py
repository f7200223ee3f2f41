"""Lengths and cuts in characters and in UTF-16 code units."""

import pytest

from agentic_os.text.budget import cut_chars, cut_utf16, utf16_length


@pytest.mark.parametrize(
    ("text", "units"), [("", 0), ("abc", 3), ("äöü", 3), ("🚀", 2), ("a🚀b", 4), ("\ud83d", 1)]
)
def test_utf16_length_counts_as_javascript_does(text: str, units: int) -> None:
    assert utf16_length(text) == units


@pytest.mark.parametrize(
    ("text", "units", "cut"),
    [
        ("abc", 3, "abc"),
        ("abc", 2, "ab"),
        ("abc", 0, ""),
        ("abc", -1, ""),
        ("äöü", 3, "äöü"),
        ("äöü", 2, "äö"),
        ("a🚀b", 4, "a🚀b"),
        ("a🚀b", 3, "a🚀"),
        ("a🚀b", 2, "a"),
        ("🚀", 1, ""),
        ("🚀🚀", 3, "🚀"),
        ("abc🚀", 3, "abc"),
    ],
)
def test_cut_utf16_keeps_pairs_whole(text: str, units: int, cut: str) -> None:
    assert cut_utf16(text, units) == cut


@pytest.mark.parametrize(
    ("text", "chars", "cut"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("ab cd", 4, "ab…"),
        ("abc", 1, "a"),
        ("abc", 0, ""),
        ("abc", -5, ""),
    ],
)
def test_cut_chars_says_that_it_cut(text: str, chars: int, cut: str) -> None:
    assert cut_chars(text, chars) == cut


def test_the_mark_can_be_chosen() -> None:
    assert cut_chars("abcdef", 5, mark="[..]") == "a[..]"
    assert cut_chars("abcdef", 3, mark="") == "abc"
