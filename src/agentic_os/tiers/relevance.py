"""How likely a passage answers a question: what is near in meaning, and the words it holds.

A ranking always has a first place, also for a question that nothing answers. So each hit carries
a relevance between 0 and 1, and from 0.5 on it counts as an answer; if no hit reaches that, the
answer is that nothing was found.

The evidence is the cosine of question and passage plus a share of the question's words, the rare
ones weighing most; both together, since either alone errs: an unanswerable question of common
words has words, and one about a neighbouring subject is near. The bound is measured per embedder,
on questions with known answers and on questions that nothing answers (``benchmarks/retrieval``).
A passage that holds every term, or is called what was asked for, is always an answer. The cosine
of a passage that words found is computed too: that nobody computed it is no evidence against it.

>>> [relevance(cosine, words, floor=0.43) for cosine, words in ((0.6, 0.5), (0.3, 0.2), (0.0, 1.0))]
[0.995, 0.237, 0.5]
>>> relevance(None, 0.1, floor=0.43), relevance(None, 0.4, floor=None)
(0.001, 0.924)
"""

import math
from collections.abc import Mapping

ANSWERS = 0.5
"""From this relevance on a passage counts as an answer."""
NOISE = 0.1
"""Below this one it is not shown, beside answers or without."""
FLOORS: Mapping[str, float] = {"all-MiniLM-L6-v2": 0.43}
"""The evidence of a passage that is as likely an answer as not, by embedder, among ``FLOOR_ROWS``.

Another embedder's cosines are of another scale; until they are measured they are not judged."""
FLOOR_ROWS = 14_667
FLOOR_SLOPE = 0.0226
"""The nearest of many unrelated rows is nearer: nine of ten unanswerable questions stay below 0.19
among 5 rows and below 0.37 among 14,667, and in between it grows with the logarithm."""
LEAST_FLOOR, GREATEST_FLOOR = 0.2, 0.5
WORDS_FLOOR = 0.2
"""The same if only words were searched."""
WORDS_WEIGHT = 0.3
_SPREAD = 0.06
_WORDS_SPREAD = 0.08
_DIGITS = 3


def floor_of(embedder: str, rows: int) -> float | None:
    """Return the bound of an embedder in an index of so many rows; ``None`` if it is not measured.

    >>> [floor_of("all-MiniLM-L6-v2", rows) for rows in (5, 1_000, 14_667, 10**7)]
    [0.25, 0.369, 0.43, 0.5]
    """
    floor = FLOORS.get(embedder)
    if floor is None:
        return None
    floor += FLOOR_SLOPE * math.log(max(rows, 1) / FLOOR_ROWS)
    return round(min(max(floor, LEAST_FLOOR), GREATEST_FLOOR), _DIGITS)


def relevance(similarity: float | None, words: float, *, floor: float | None) -> float:
    """Judge one passage.

    Args:
        similarity: its cosine to the question; ``None`` if the semantic index does not hold it.
        words: the share of the question's words that it holds, weighed, between 0 and 1.
        floor: of the embedder that was asked; ``None`` if none was, or if it is not measured.
    """
    if floor is None:
        # Similarities that nobody measured are no evidence against a passage.
        found = 1.0 if similarity is not None else _logistic((words - WORDS_FLOOR) / _WORDS_SPREAD)
    else:
        evidence = (similarity or 0.0) + WORDS_WEIGHT * words
        found = _logistic((evidence - floor) / _SPREAD)
    return round(max(found, ANSWERS) if words >= 1.0 else found, _DIGITS)


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))
