import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.text.jsonc import plain_json


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('["a//b", /* c */ 1, ]', '["a//b",         1  ]'),
        ('"open', '"open'),
        ("/* open", "       "),
        ("1 // x", "1     "),
        ('{"a": "/*", // b\n}', '{"a": "/*",     \n}'.replace(",", " ")),
        ('["\\"//", ",]"]', '["\\"//", ",]"]'),
        ("[1,\n  // c\n ]", "[1 \n      \n ]"),
    ],
)
def test_comments_and_trailing_commas_are_blanked_out(text: str, plain: str) -> None:
    assert plain_json(text) == plain


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_strict_json_means_the_same(value: object) -> None:
    text = json.dumps(value, indent=1)
    assert json.loads(plain_json(text)) == value
    loose = text.replace("\n]", ",\n]").replace("[\n,", "[\n") if "," in text else text
    assert len(plain_json(loose)) == len(loose)
