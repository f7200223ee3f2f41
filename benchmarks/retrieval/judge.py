"""The judge: mean reciprocal rank at 10 and recall at 5, asked through the product's own route."""

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from corpus import Question, Target

RANKS = 10
RECALL_AT = 5

Answerer = Callable[[str], Sequence[Target]]
"""A query to the places it was answered with, best first."""


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What one way of searching scored on one set of questions."""

    questions: int
    mrr: float
    recall: float
    p50_ms: float
    p95_ms: float


def judge(questions: Sequence[Question], answer: Answerer) -> dict[str, Figures]:
    """Ask every question; return the figures of each set."""
    ranks: dict[str, list[int | None]] = defaultdict(list)
    times: dict[str, list[float]] = defaultdict(list)
    for question in questions:
        started = time.perf_counter()
        places = answer(question.text)
        times[question.kind].append((time.perf_counter() - started) * 1_000)
        ranks[question.kind].append(rank_of(question.target, places))
    return {kind: _figures(ranks[kind], times[kind]) for kind in ranks}


def rank_of(target: Target, places: Sequence[Target]) -> int | None:
    """The rank of the first place that lies in the target, counted from 1."""
    for rank, place in enumerate(places[:RANKS], 1):
        same = (place.project, place.path) == (target.project, target.path)
        if same and place.start <= target.end and place.end >= target.start:
            return rank
    return None


def _figures(ranks: Sequence[int | None], times: Sequence[float]) -> Figures:
    ordered = sorted(times)
    return Figures(
        questions=len(ranks),
        mrr=statistics.fmean(1 / rank if rank else 0.0 for rank in ranks),
        recall=statistics.fmean(rank is not None and rank <= RECALL_AT for rank in ranks),
        p50_ms=statistics.median(ordered),
        p95_ms=ordered[int(len(ordered) * 0.95)],
    )
