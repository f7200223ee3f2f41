"""Reciprocal rank fusion."""

import pytest

from agentic_os.tiers.interface import Candidate
from agentic_os.tiers.merging.fusion import RRF_K, fuse


def candidate(path: str, start: int = 1, score: float = 0.0) -> Candidate:
    return Candidate(
        project="p",
        kind="memory",
        tier=0,
        path=path,
        name=path,
        start=start,
        end=start,
        score=score,
        sha256="0",
        indexed_at="",
    )


def paths(*lists: list[Candidate]) -> list[str]:
    return [each.path for each in fuse(lists)]


def test_one_list_keeps_its_order() -> None:
    assert paths([candidate("a"), candidate("b"), candidate("c")]) == ["a", "b", "c"]
    assert paths() == paths([]) == []


def test_what_both_lists_hold_goes_first() -> None:
    one, two = [candidate("a"), candidate("b")], [candidate("c"), candidate("b")]

    assert paths(one, two) == ["b", "a", "c"]


def test_on_equal_ranks_the_earlier_list_goes_first() -> None:
    assert paths([candidate("a")], [candidate("b")]) == ["a", "b"]
    assert paths([candidate("b")], [candidate("a")]) == ["b", "a"]


def test_places_of_one_file_stay_apart() -> None:
    fused = fuse([[candidate("a", 1), candidate("a", 9)], [candidate("a", 9)]])

    assert [each.start for each in fused] == [9, 1]


def test_the_score_is_the_sum_of_the_ranks() -> None:
    first, second = fuse([[candidate("a"), candidate("b", score=99)], [candidate("b")]])

    assert first.path == "b"
    assert first.score == pytest.approx(1 / (RRF_K + 2) + 1 / (RRF_K + 1))
    assert second.score == pytest.approx(1 / (RRF_K + 1))
