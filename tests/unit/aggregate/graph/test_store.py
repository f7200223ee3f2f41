"""What is indexed of a label is what the text room makes of it, word by word or whole."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.aggregate.graph.store import label_words
from agentic_os.text.tokens import index_extra


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


@pytest.mark.parametrize(
    ("label", "extra"),
    [
        ("getUserName()", {"get", "user", "name"}),
        (".HTTPServer2Go()", {"http", "server", "2", "go"}),
        ("safe_load()", set()),
        ("", set()),
        ("é_fooBar", {"foo", "bar"}),
    ],
)
def test_humps_are_words_of_their_own(label: str, extra: set[str]) -> None:
    assert words(label_words(label)) == words(label) | extra
    assert label_words(label).startswith(label)


@given(st.text("aZbY01_.()- é", max_size=40))
def test_words_looked_up_are_those_of_the_whole_label(label: str) -> None:
    assert words(label_words(label)) == words(f"{label} {index_extra(label)}")
