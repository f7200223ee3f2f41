"""What is said of the time left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.tiers.index.pace import START_SECONDS, WINDOW_CHARS, Pace, cost_of


@given(
    st.lists(st.integers(0, 4_000), min_size=2, max_size=60),
    st.floats(0.001, 1.0),
    st.integers(1, 59),
)
def test_the_time_left_is_true_where_a_text_costs_what_it_is_long(
    lengths: list[int], seconds_a_char: float, done: int
) -> None:
    costs = [cost_of(length) for length in sorted(lengths)]
    pace = Pace(total=sum(costs))
    for cost in costs[:done]:
        pace.went_on(cost, cost * seconds_a_char)

    left = pace.left_seconds

    if pace.seconds < START_SECONDS:
        assert left is None
    else:
        assert left == pytest.approx(sum(costs[done:]) * seconds_a_char)


def test_nothing_is_foretold_at_first() -> None:
    pace = Pace(total=10)
    assert pace.left_seconds is None
    pace.went_on(1, START_SECONDS / 2)
    assert pace.left_seconds is None


def test_what_a_model_does_not_read_costs_nothing() -> None:
    assert cost_of(WINDOW_CHARS) == cost_of(WINDOW_CHARS * 9)
    assert cost_of(0) == 1
