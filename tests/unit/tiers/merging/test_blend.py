"""What words and meaning found, in one order by how much each says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.results import Kind
from agentic_os.tiers.interface import Candidate, Found
from agentic_os.tiers.merging.blend import EVERY_WORD, ROLE_COSTS, blend
from agentic_os.tiers.merging.fusion import Place, place_of


def candidate(path: str, score: float = 0.0, kind: Kind = "code", start: int = 1) -> Candidate:
    return Candidate(
        project="p",
        kind=kind,
        tier=3,
        path=path,
        name=path,
        start=start,
        end=start,
        score=score,
        sha256="0",
        indexed_at="",
    )


def words(*candidates: Candidate, relaxed: bool = True, weights: float = 10.0) -> Found:
    return Found(
        surface="lexical",
        candidates=candidates,
        total=len(candidates),
        by_project={},
        milliseconds=0.0,
        relaxed=relaxed,
        weights={"term": weights} if weights else {},
    )


def order(
    found: list[Found],
    meaning: list[Candidate],
    near: dict[Place, float],
    *,
    mind_roles: bool = True,
) -> list[str]:
    lists = [*(answer.candidates for answer in found), meaning]
    return [item.path for item in blend(found, lists, near, mind_roles=mind_roles)]


def nearness(**near: float) -> dict[Place, float]:
    return {place_of(candidate(f"{name}.py")): value for name, value in near.items()}


def test_a_few_common_words_do_not_go_before_what_is_near() -> None:
    found = words(candidate("a.py", score=3.0))

    assert order([found], [candidate("b.py")], nearness(a=0.3, b=0.5)) == ["b.py", "a.py"]


def test_most_of_the_words_go_before_what_is_somewhat_nearer() -> None:
    found = words(candidate("a.py", score=20.0))

    assert order([found], [candidate("b.py")], nearness(a=0.3, b=0.5)) == ["a.py", "b.py"]


def test_every_word_counts_by_the_best() -> None:
    found = words(candidate("a.py", score=3.0), candidate("b.py", score=1.0), relaxed=False)

    assert order([found], [], nearness(a=0.1, b=0.1 + EVERY_WORD / 2)) == ["a.py", "b.py"]


def test_of_notes_what_is_near_goes_first_if_some_words_were_found() -> None:
    held = candidate("a.md", score=20.0, kind="memory")
    nearer = candidate("b.md", kind="memory")
    near = {place_of(held): 0.3, place_of(nearer): 0.45}

    assert order([words(held)], [nearer], near) == ["b.md", "a.md"]


@pytest.mark.parametrize("path", ["tests/test_a.py", "docs/a.md", "vendor/a.py"])
def test_own_code_goes_first_unless_others_are_asked_for(path: str) -> None:
    other, own = candidate(path), candidate("own.py")
    near = {place_of(other): 0.5, place_of(own): 0.5 - min(ROLE_COSTS["document"], 0.1)}

    assert order([words()], [other, own], near) == ["own.py", path]
    assert order([words()], [other, own], near, mind_roles=False) == [path, "own.py"]


def test_what_the_index_does_not_hold_is_as_near_as_the_farthest() -> None:
    found = words(candidate("new.py", score=5.0), relaxed=False)
    near = nearness(a=0.4, b=0.2)

    assert order([found], [candidate("a.py"), candidate("b.py")], near)[0] == "new.py"


def test_scores_of_another_scale_count_by_their_ranks() -> None:
    graph = words(candidate("a.py", score=900.0), candidate("b.py", score=1.0), weights=0.0)

    assert order([graph], [], nearness(a=0.2, b=0.2)) == ["a.py", "b.py"]
    assert order([graph], [], nearness(a=0.2, b=0.3)) == ["b.py", "a.py"]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.floats(0, 30)), max_size=20),
    st.lists(st.tuples(st.integers(0, 9), st.floats(-1, 1)), max_size=20),
    st.booleans(),
)
def test_everything_is_kept_once_and_in_order(
    said: list[tuple[int, float]], near: list[tuple[int, float]], relaxed: bool
) -> None:
    found = words(*(candidate(f"{at}.py", score) for at, score in said), relaxed=relaxed)
    meaning = [candidate(f"{at}.py") for at, _ in near]
    cosines = {place_of(candidate(f"{at}.py")): value for at, value in near}

    blended = blend([found], [found.candidates, meaning], cosines, mind_roles=True)

    assert [item.score for item in blended] == sorted(item.score for item in blended)[::-1]
    assert {item.path for item in blended} == {item.path for item in [*found.candidates, *meaning]}
    assert len(blended) == len({item.path for item in blended})
