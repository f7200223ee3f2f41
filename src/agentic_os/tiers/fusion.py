"""Reciprocal rank fusion: several ranked lists, one order.

Scores of different surfaces cannot be compared, their ranks can. An item's score is the sum of
``1 / (K + rank)`` over the lists it stands in (Cormack, Clarke and Büttcher, 2009), with the small
``K`` that was measured best on code and notes (design section 5).
"""

from collections.abc import Sequence
from dataclasses import replace

from agentic_os.tiers.interface import Candidate

RRF_K = 10


def fuse(lists: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """Merge ranked lists; on equal scores the earlier list goes first.

    A passage that several lists hold is kept once, as the first of them has it.
    """
    scores: dict[tuple[str, str, str, int], float] = {}
    kept: dict[tuple[str, str, str, int], tuple[int, int, Candidate]] = {}
    for position, ranked in enumerate(lists):
        for rank, candidate in enumerate(ranked, 1):
            key = (candidate.project, candidate.kind, candidate.path, candidate.start)
            scores[key] = scores.get(key, 0.0) + 1 / (RRF_K + rank)
            kept.setdefault(key, (position, rank, candidate))
    order = sorted(kept, key=lambda key: (-scores[key], kept[key][:2]))
    return [replace(kept[key][2], score=scores[key]) for key in order]
