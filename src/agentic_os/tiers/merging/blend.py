"""One order of what words and meaning found, by how much each says and not by its rank alone.

A rank says nothing about how sure an arm is: the best of many passages that hold two common words
has the same rank as one that holds them all. So where the cosines of an embedder were measured, a
hit is worth its cosine and a share of its words:

- of the passages that hold every word, the best has the whole share;
- if only some of the words were found, the share is that part of the question's words that the
  score stands for (BM25 gives a term at most ``k1 + 1`` times what its rarity tells), beyond a
  tenth, which any two words reach; a note gets a fraction of it: what is near in meaning goes
  first;
- tests, documents and others' code cost something, unless the question asks for these.

Pure. Weights were chosen on the tuning halves of the judges (``benchmarks/retrieval``).
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from agentic_os.code.roles import PathRole, role_of
from agentic_os.tiers.interface import Candidate, Found
from agentic_os.tiers.merging.fusion import RRF_K, Place, place_of

EVERY_WORD = 0.4
"""What the words of the best passage are worth that holds them all."""
SOME_WORDS = 0.6
"""What a whole part of the question's words is worth where no passage holds them all."""
LEAST_PART = 0.1
"""A part that says nothing."""
NOTE_SHARE = 0.2
"""The part of ``SOME_WORDS`` that counts for a note."""
ROLE_COSTS: Mapping[PathRole, float] = {
    "product": 0.0,
    "document": 0.25,
    "test": 0.3,
    "vendored": 0.3,
}
ROLE_COST_SHARE = 0.5
"""The part of a role's cost where every word was found: then the words say what is meant."""
NOTES = frozenset({"memory", "index", "vault"})
_BM25_BOUND = 2.2
_TIE_DIGITS = 6


def blend(
    by_words: Sequence[Found],
    lists: Sequence[Sequence[Candidate]],
    near: Mapping[Place, float],
    *,
    mind_roles: bool,
) -> list[Candidate]:
    """Merge what the arms found, each passage and each symbol once.

    Args:
        by_words: the answers in words.
        lists: their candidates as they are to be shown, in the same order, then others'.
        near: the cosines of what the index holds.
        mind_roles: own code goes before tests, documents and others' code.
    """
    least = min(near.values(), default=0.0)
    said: dict[Place, float] = {}
    kept: dict[Place, Candidate] = {}
    relaxed = any(found.relaxed for found in by_words)
    for position, ranked in enumerate(lists):
        shares = _shares(by_words[position], ranked) if position < len(by_words) else ()
        for candidate in ranked:
            kept.setdefault(place_of(candidate), candidate)
        for candidate, share in zip(ranked, shares, strict=False):
            place = place_of(candidate)
            said[place] = max(share, said.get(place, 0.0))
    scores = {}
    for place, candidate in kept.items():
        score = near.get(place, least) + said.get(place, 0.0)
        if mind_roles and candidate.kind not in NOTES:
            cost = ROLE_COSTS[role_of(candidate.path)]
            score -= cost if relaxed else cost * ROLE_COST_SHARE
        scores[place] = round(score, _TIE_DIGITS)
    order = sorted(kept, key=lambda place: -scores[place])
    return [replace(kept[place], score=scores[place]) for place in order]


def _shares(found: Found, ranked: Sequence[Candidate]) -> list[float]:
    """Return what the words of each candidate are worth."""
    if not found.weights:
        # Scores of another scale, a code graph's say: its ranks speak for it.
        return [EVERY_WORD * RRF_K / (RRF_K + rank) for rank in range(len(ranked))]
    scores = [max(item.score, 0.0) for item in found.candidates]
    if not found.relaxed:
        best = max(scores, default=0.0) or 1.0
        return [EVERY_WORD * score / best for score in scores]
    told = sum(found.weights.values()) * _BM25_BOUND or 1.0
    return [
        SOME_WORDS * min(score / told, 1.0) * (NOTE_SHARE if candidate.kind in NOTES else 1.0)
        for score, candidate in zip(scores, ranked, strict=True)
    ]
