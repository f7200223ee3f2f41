"""Reciprocal rank fusion: several ranked lists, one order.

Scores of different surfaces cannot be compared, their ranks can. An item's score is the sum of
``1 / (K + rank)`` over the lists it stands in (Cormack, Clarke and Büttcher, 2009), with the small
``K`` that was measured best on code and notes (design section 5).
"""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from agentic_os.tiers.interface import Candidate

RRF_K = 10

Place = tuple[str, str, str, str | int]
"""What two surfaces may both find: project, kind, file, and a symbol or a first line."""


def place_of(candidate: Candidate) -> Place:
    """Return where a candidate stands."""
    symbol = candidate.symbol if candidate.kind == "code" else None
    return (candidate.project, candidate.kind, candidate.path, symbol or candidate.start)


def fuse(
    lists: Sequence[Sequence[Candidate]],
    weigh: Callable[[int, Candidate], float] = lambda _position, _candidate: 1.0,
) -> list[Candidate]:
    """Merge ranked lists; on equal scores the earlier list goes first.

    Args:
        lists: each best first.
        weigh: what a place in a list is worth, by the list's position and the candidate.

    A passage that several lists hold is kept once, as the first of them has it; so is a symbol
    of a source file, of which several passages may have been found.
    """
    scores: dict[Place, float] = {}
    kept: dict[Place, tuple[int, int, Candidate]] = {}
    for position, ranked in enumerate(lists):
        seen: set[Place] = set()
        for candidate in ranked:
            key = place_of(candidate)
            if key in seen:
                continue
            seen.add(key)
            rank = len(seen)
            scores[key] = scores.get(key, 0.0) + weigh(position, candidate) / (RRF_K + rank)
            kept.setdefault(key, (position, rank, candidate))
    order = sorted(kept, key=lambda key: (-scores[key], kept[key][:2]))
    return [replace(kept[key][2], score=scores[key]) for key in order]
