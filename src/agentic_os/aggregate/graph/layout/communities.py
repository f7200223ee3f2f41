"""Which files of a project belong together, pure: the level between a project and its files.

Where the graph states communities of its nodes, a file belongs to the one that most of its nodes
are in. Elsewhere a label spreads along the links between files, the heaviest first, until nothing
changes; ties go to the lower number, so the same links always give the same communities.

>>> grouped(4, [(0, 1, 3.0), (2, 3, 3.0), (1, 2, 1.0)])
[0, 0, 1, 1]
>>> grouped(3, [], [7, 5, 7])
[0, 1, 0]
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from agentic_os.aggregate.graph.layout.discs import Link

MAX_ROUNDS: Final = 20
_STATED_SHARE: Final = 2
"""Communities are the graph's where it states them for one file in so many."""


def grouped(
    files: int, links: Sequence[Link], stated: Sequence[int | None] | None = None
) -> list[int]:
    """Return the community of each file, numbered by size, the largest 0.

    Args:
        files: how many there are.
        links: between files, by number, with a weight.
        stated: the community of each file as the graph has it, or None.
    """
    beside: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    for one, other, weight in links:
        beside[one].append((other, weight))
        beside[other].append((one, weight))
    known = sum(label is not None for label in stated or ())
    if stated is not None and known * _STATED_SHARE >= files and files:
        labels = _joined(list(stated), beside)
    else:
        labels = _spread(files, beside)
    sizes = Counter(labels)
    first = {label: labels.index(label) for label in sizes}
    order = sorted(sizes, key=lambda label: (-sizes[label], first[label]))
    number = {label: at for at, label in enumerate(order)}
    return [number[label] for label in labels]


def _joined(
    labels: list[int | None], beside: defaultdict[int, list[tuple[int, float]]]
) -> list[int]:
    """Let files that nobody placed join what they are linked to most; else each stands alone."""
    alone = max((label for label in labels if label is not None), default=0) + 1
    joined: list[int] = []
    for at, label in enumerate(labels):
        if label is not None:
            joined.append(label)
            continue
        near = _heaviest([(labels[other], weight) for other, weight in beside[at]])
        joined.append(alone + at if near is None else near)
    return joined


def _heaviest(weighed: Sequence[tuple[int | None, float]]) -> int | None:
    weights: defaultdict[int, float] = defaultdict(float)
    for label, weight in weighed:
        if label is not None:
            weights[label] += weight
    return min(weights, key=lambda label: (-weights[label], label)) if weights else None


def _spread(files: int, beside: defaultdict[int, list[tuple[int, float]]]) -> list[int]:
    labels = list(range(files))
    # The most linked first: what hangs on a file follows it, and not the other way round.
    order = sorted(range(files), key=lambda at: (-sum(w for _, w in beside[at]), at))
    for _round in range(MAX_ROUNDS):
        changed = False
        for at in order:
            near = _heaviest([(labels[other], weight) for other, weight in beside[at]])
            own = sum(weight for other, weight in beside[at] if labels[other] == labels[at])
            if near is None or near == labels[at]:
                continue
            best = sum(weight for other, weight in beside[at] if labels[other] == near)
            if best > own:
                labels[at] = near
                changed = True
        if not changed:
            break
    return labels
