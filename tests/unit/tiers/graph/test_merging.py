"""Words and meaning in one list: what is called so goes first, names are answered by words."""

import pytest

from agentic_os.tiers.interface import Candidate, Found, Query
from agentic_os.tiers.lexical import SURE_SCORE
from agentic_os.tiers.meaning import merge, wants_words


def candidate(path: str, score: float) -> Candidate:
    return Candidate(
        project="p",
        kind="code",
        tier=3,
        path=path,
        name=path,
        start=1,
        end=2,
        score=score,
        sha256="",
        indexed_at="",
    )


def found(surface: str, *candidates: Candidate) -> Found:
    return Found(
        surface=surface,
        candidates=candidates,
        total=len(candidates),
        by_project={},
        milliseconds=0.0,
    )


def paths(text: str, words: Found, near: Found) -> list[str]:
    merged, _ = merge(Query(text=text), [words], [near])
    return [item.path for item in merged]


WORDS = found("lexical", candidate("a", 9.0), candidate("b", 8.0))
NEAR = found("semantic", candidate("c", 0.9), candidate("b", 0.8))


def test_ranks_of_words_and_meaning_are_fused() -> None:
    assert paths("how is it done", WORDS, NEAR) == ["b", "a", "c"]


@pytest.mark.parametrize("text", ["get_user", "getUser", "retry", "src/a.py"])
def test_a_name_or_a_word_is_answered_by_its_words_first(text: str) -> None:
    assert wants_words(text)
    assert paths(text, WORDS, NEAR) == ["a", "b", "c"]


def test_what_is_called_so_goes_before_all() -> None:
    words = found("lexical", candidate("a", SURE_SCORE), candidate("b", 8.0))

    assert paths("Getting started", words, NEAR) == ["a", "b", "c"]
    assert paths("Getting started", found("graph", *words.candidates), NEAR) == ["b", "a", "c"]


def test_several_words_are_no_name() -> None:
    assert not wants_words("retry later")
