"""Which files of a project belong together."""

from hypothesis import given
from hypothesis import strategies as st

from agentic_os.aggregate.graph.layout.communities import grouped

NUMBERS = st.integers(0, 11)
LINKS = st.lists(
    st.tuples(NUMBERS, NUMBERS, st.floats(1, 9)).filter(lambda link: link[0] != link[1])
)


@given(LINKS, st.none() | st.lists(st.none() | st.integers(0, 4), min_size=12, max_size=12))
def test_every_file_has_one_and_the_largest_comes_first(
    links: list[tuple[int, int, float]], stated: list[int | None] | None
) -> None:
    found = grouped(12, links, stated)

    sizes = [found.count(label) for label in sorted(set(found))]
    assert len(found) == 12
    assert set(found) == set(range(len(sizes)))
    assert sizes == sorted(sizes, reverse=True)
    assert found == grouped(12, links, stated)


def test_what_is_linked_within_and_hardly_without_is_one() -> None:
    ring = [(a, b, 2.0) for a in range(5) for b in range(a)]
    other = [(a + 5, b + 5, 2.0) for a, b, _ in ring]

    assert grouped(10, [*ring, *other, (0, 5, 1.0)]) == [0] * 5 + [1] * 5


def test_the_graphs_own_communities_are_taken_and_others_join_them() -> None:
    links = [(3, 2, 5.0), (3, 0, 1.0)]

    assert grouped(5, links, [4, 4, 9, None, None]) == [0, 0, 1, 1, 2]


def test_too_few_stated_communities_are_not_taken() -> None:
    assert grouped(4, [(0, 1, 1.0), (2, 3, 1.0)], [7, None, None, None]) == [0, 0, 1, 1]


def test_without_files_there_is_none() -> None:
    assert grouped(0, []) == []
