from hypothesis import given
from hypothesis import strategies as st

from agentic_os.tiers.embed.batching import plan_batches

lengths_of_texts = st.lists(st.integers(0, 300), max_size=200)


def test_nothing_makes_no_batch() -> None:
    assert plan_batches([]) == []


def test_like_lengths_travel_together_and_the_longest_come_last() -> None:
    assert plan_batches([9, 2, 8, 2], tokens=18, texts=4) == [[1, 3], [2, 0]]


def test_a_text_longer_than_a_batch_stands_alone() -> None:
    assert plan_batches([100, 1], tokens=10, texts=4) == [[1], [0]]


def test_the_number_of_texts_is_bounded() -> None:
    assert [len(batch) for batch in plan_batches([1] * 7, tokens=1_000, texts=3)] == [3, 3, 1]


@given(lengths_of_texts, st.integers(1, 600), st.integers(1, 20))
def test_every_text_once_and_no_batch_over_its_bounds(
    lengths: list[int], tokens: int, texts: int
) -> None:
    batches = plan_batches(lengths, tokens=tokens, texts=texts)
    assert sorted(position for batch in batches for position in batch) == list(range(len(lengths)))
    for batch in batches:
        widest = max(lengths[position] for position in batch)
        assert lengths[batch[-1]] == widest
        assert 0 < len(batch) <= texts
        assert len(batch) == 1 or len(batch) * widest <= tokens
