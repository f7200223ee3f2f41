import math
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_os.aggregate.graph.layout.discs import MAX_RELAXED_DISCS, Link, extent, placed, spiral

RADII = st.lists(st.floats(0.5, 30), min_size=2, max_size=40)


def overlaps(places: list[tuple[float, float]], radii: list[float]) -> list[tuple[int, int]]:
    return [
        (one, other)
        for one, other in combinations(range(len(radii)), 2)
        if math.dist(places[one], places[other]) < (radii[one] + radii[other]) * 0.999
    ]


@given(radii=RADII, seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_no_disc_lies_above_another_and_the_same_discs_lie_in_the_same_places(
    radii: list[float], seed: int
) -> None:
    count = len(radii)
    links: list[Link] = [(at, (at * 7 + seed) % count, 1.0 + at) for at in range(count)]
    links = [link for link in links if link[0] != link[1]]

    places = placed(radii, links)

    assert overlaps(places, radii) == []
    assert places == placed(radii, links)


def test_linked_discs_lie_nearer_than_others() -> None:
    radii = [1.0] * 60
    links: list[Link] = [(at, at + 30, 5.0) for at in range(30)]

    places = placed(radii, links)

    linked = [math.dist(places[one], places[other]) for one, other, _ in links]
    every = [math.dist(places[one], places[other]) for one, other in combinations(range(60), 2)]
    assert sum(linked) / len(linked) < 0.7 * sum(every) / len(every)


def test_known_places_are_kept_where_nothing_is_in_the_way() -> None:
    radii = [1.0, 1.0, 1.0, 1.0]
    start = [(0.0, 0.0), (10.0, 0.0), (0.0, 10.0), (0.5, 0.5)]

    places = placed(radii, [(0, 1, 9.0)], start)

    assert overlaps(places, radii) == []
    direction = math.atan2(places[1][1], places[1][0]), math.atan2(places[2][1], places[2][0])
    assert direction == pytest.approx((0.0, math.pi / 2), abs=0.3)


def test_more_discs_than_are_relaxed_stay_on_their_spiral() -> None:
    radii = [1.0] * (MAX_RELAXED_DISCS + 1)
    assert placed(radii, [(0, 1, 1.0)]) == spiral(radii)


def test_without_numpy_the_spiral_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "numpy", None)
    radii = [3.0, 2.0, 1.0]
    assert placed(radii, [(0, 2, 1.0)]) == spiral(radii)


def test_few_and_no_discs() -> None:
    assert placed([], []) == []
    assert placed([2.0], []) == [(0.0, 0.0)]
    assert extent([], []) == 0.0
    assert extent([(3.0, 4.0)], [1.0]) == 6.0
