"""Which project knows about it: the best passage first, words before meaning, then how many."""

from agentic_os.tiers.interface import Candidate, Found, ProjectScore
from agentic_os.tiers.ranking import rank_projects

NAMES = {name: name.upper() for name in "abcd"}


def found(surface: str, **best: tuple[float, int]) -> Found:
    """What a surface found: the best score and the number of passages of each project."""
    return Found(
        surface=surface,
        candidates=(),
        total=sum(count for _, count in best.values()),
        by_project={
            project: ProjectScore(counts={"memory": count}, best=score)
            for project, (score, count) in best.items()
        },
        milliseconds=0.0,
    )


def only(project: str, count: int) -> list[Candidate]:
    """Passages that were found by meaning only."""
    return [
        Candidate(
            project=project,
            kind="code",
            tier=3,
            path=f"{number}.py",
            name="",
            start=1,
            end=1,
            score=1.0,
            sha256="",
            indexed_at="",
        )
        for number in range(count)
    ]


def order(
    words: list[Found],
    near: list[Found],
    alone: list[Candidate],
    *,
    words_first: bool = False,
) -> list[tuple[str, int]]:
    ranked = rank_projects(words, near, meaning_only=alone, names=NAMES, words_first=words_first)
    assert all(row.name == row.project.upper() for row in ranked)
    return [(row.project, row.hits) for row in ranked]


def test_the_best_passage_counts_more_than_many() -> None:
    words = [found("lexical", a=(1.0, 30), b=(9.0, 1), c=(5.0, 2))]

    assert order(words, [], []) == [("b", 1), ("c", 2), ("a", 30)]


def test_of_equal_passages_more_go_first_then_the_id() -> None:
    words = [found("lexical", a=(2.0, 1), b=(2.001, 3), c=(2.0, 1))]

    assert order(words, [], []) == [("b", 3), ("a", 1), ("c", 1)]


def test_what_several_surfaces_point_at_goes_first() -> None:
    words = [found("lexical", a=(9.0, 4), b=(5.0, 1)), found("graph", b=(1.0, 2))]

    assert order(words, [], []) == [("b", 3), ("a", 4)]


def test_words_go_before_meaning_on_equal_scores() -> None:
    words, near = [found("lexical", b=(3.0, 1))], [found("engine", a=(1.0, 9))]

    assert order(words, near, only("a", 9)) == [("b", 1), ("a", 9)]


def test_an_identifier_is_answered_by_its_words_first() -> None:
    words = [found("lexical", a=(3.0, 1), b=(2.0, 1))]
    near = [found("semantic", c=(0.9, 1), a=(0.5, 1)), found("engine", c=(0.9, 5))]
    meaning_only = only("c", 6)

    assert order(words, near, meaning_only)[0] == ("c", 6)
    assert order(words, near, meaning_only, words_first=True) == [("a", 1), ("b", 1), ("c", 6)]


def test_a_passage_that_words_and_meaning_found_counts_once() -> None:
    words, near = [found("lexical", a=(3.0, 2))], [found("semantic", a=(0.9, 2))]

    assert order(words, near, []) == [("a", 2)]


def test_projects_out_of_scope_are_left_out() -> None:
    assert order([found("lexical", z=(3.0, 2), d=(1.0, 1))], [], []) == [("d", 1)]


def test_nothing_found_ranks_nothing() -> None:
    assert order([found("lexical")], [found("engine")], []) == []
