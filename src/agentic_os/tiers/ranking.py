"""Which project knows about it: projects ranked over every surface that answered.

A project stands, with each surface, where its best passage stands (of equal ones the project
with more passages goes first); the ranks are fused as those of passages are. So a project that
both words and meaning point at goes before one that only one of them does. On equal scores words
go before meaning (an index and an engine find something near to any question), then more passages
before fewer. A question that is an identifier is answered by its words first. A passage that
words and meaning both found counts once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from agentic_os.results import ProjectRank
from agentic_os.text.fencing import one_line
from agentic_os.tiers.interface import Candidate, Found
from agentic_os.tiers.lexical import TIE_DIGITS
from agentic_os.tiers.merging.fusion import RRF_K


def rank_projects(
    by_words: Sequence[Found],
    by_meaning: Sequence[Found],
    *,
    meaning_only: Sequence[Candidate],
    names: Mapping[str, str],
    words_first: bool,
) -> tuple[ProjectRank, ...]:
    """Rank the projects in scope that have an answer, best first.

    Args:
        by_words: the answers of surfaces that look for words.
        by_meaning: the answers of surfaces that look for meaning.
        meaning_only: passages that were found by meaning alone.
        names: the projects in scope.
        words_first: projects that no word points at go last.
    """
    hits: Counter[str] = Counter(candidate.project for candidate in meaning_only)
    for answer in by_words:
        hits.update({project: score.hits for project, score in answer.by_project.items()})
    in_words = {project for answer in by_words for project in answer.by_project}
    scores: dict[str, float] = {}
    for answer in (*by_words, *by_meaning):
        order = {
            project: (-round(score.best, TIE_DIGITS), -score.hits, project)
            for project, score in answer.by_project.items()
        }
        for rank, project in enumerate(sorted(order, key=order.__getitem__), 1):
            scores[project] = scores.get(project, 0.0) + 1 / (RRF_K + rank)
    ranked = sorted(
        scores.keys() & names.keys(),
        key=lambda project: (
            words_first and project not in in_words,
            -scores[project],
            project not in in_words,
            -hits[project],
            project,
        ),
    )
    return tuple(
        ProjectRank(
            project=project,
            name=one_line(names[project]),
            hits=hits[project],
            score=round(scores[project], 4),
        )
        for project in ranked
    )
