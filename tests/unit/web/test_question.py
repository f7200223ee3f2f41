import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.errors import UsageError
from agentic_os.web.question import MAX_TEXT_CHARS, MAX_VALUES, Question


def question(**pairs: str) -> Question:
    return Question(tuple(pairs.items()))


def refused(call: object) -> str:
    with pytest.raises(UsageError) as caught:
        call()  # type: ignore[operator]
    assert caught.value.code == "ARGUMENT_INVALID"
    return caught.value.message


def test_texts() -> None:
    asked = Question((("q", "a b"), ("project", "x"), ("project", ""), ("project", "y")))
    assert asked.text("q") == "a b"
    assert asked.text("absent", "default") == "default"
    assert asked.texts("project") == ("x", "y")
    assert "more than once" in refused(lambda: asked.text("project"))
    assert "missing" in refused(lambda: asked.needed("absent"))
    assert "missing" in refused(lambda: question(q=" ").needed("q"))


def test_bounds() -> None:
    long = question(q="x" * (MAX_TEXT_CHARS + 1))
    assert str(MAX_TEXT_CHARS) in refused(lambda: long.text("q"))
    many = Question((("p", "x"),) * (MAX_VALUES + 1))
    assert str(MAX_VALUES) in refused(lambda: many.texts("p"))
    assert "not text" in refused(lambda: question(q="a\0b").text("q"))
    assert "not text" in refused(lambda: question(q="\ufffd").text("q"))


def test_numbers() -> None:
    assert question(n="7").integer("n", 1, least=1, most=9) == 7
    assert question().integer("n", 1, least=1, most=9) == 1
    for wrong in ("0", "10", "x", "1.0", "9" * 400):
        refused(lambda wrong=wrong: question(n=wrong).integer("n", 1, least=1, most=9))
    assert question(x="-1.5e3").real("x") == -1500.0
    assert question().real("x") is None
    for wrong in ("nan", "inf", "-inf", "1e13", "x"):
        refused(lambda wrong=wrong: question(x=wrong).real("x"))


def test_choices() -> None:
    assert question(m="b").choice("m", ("a", "b"), "a") == "b"
    assert question().choice("m", ("a", "b"), "a") == "a"
    assert "none of a, b" in refused(lambda: question(m="c").choice("m", ("a", "b"), "a"))
    assert question(kind="memory").kinds() == {"memory"}
    assert "'x'" in refused(lambda: question(kind="x").kinds())
    assert question(mode="lexical").mode() == "lexical"


@given(st.text(max_size=30))
def test_a_number_is_finite_or_refused(text: str) -> None:
    try:
        number = question(x=text).real("x")
    except UsageError:
        return
    assert number is None or math.isfinite(number)
