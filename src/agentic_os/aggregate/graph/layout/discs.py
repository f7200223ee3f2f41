"""Discs placed in a plane, pure: linked ones near each other, none above another.

Deterministic: the same discs and links always come to the same places, so people find again what
they saw. The start is a spiral in the order in which the discs are given, each turn taking the
room that its discs need; then linked discs are drawn together and overlapping ones pushed apart.
Without numpy the spiral is the answer: it overlaps nowhere and says less.

>>> places = spiral([1.0, 1.0, 1.0])
>>> places[0]
(0.0, 0.0)
>>> extent(places, [1.0, 1.0, 1.0]) > 1
True
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

Place = tuple[float, float]
Link = tuple[int, int, float]
"""Two discs by number, and how strongly they are linked."""

GOLDEN_ANGLE: Final = math.pi * (3 - math.sqrt(5))
GAP: Final = 1.15
"""A disc keeps a ring of fifteen hundredths of its radius free around itself."""
MAX_RELAXED_DISCS: Final = 600
"""More discs stay on their spiral: each push compares every pair."""
DRAWN_STEPS: Final = 40
PUSHED_STEPS: Final = 40
_STEPS_A_PUSH: Final = 5
MAX_SPREAD: Final = 3.0
_DRAW: Final = 0.12
_CENTRE: Final = 0.01
_ONE_PLACE: Final = 1e-9
_ROOMY: Final = 1.35
"""How much more area than the discs' own a spiral takes."""


def spiral(radii: Sequence[float]) -> list[Place]:
    """Return places on a spiral of equal areas, the first disc in the middle."""
    places: list[Place] = []
    area = 0.0
    for number, radius in enumerate(radii):
        own = (radius * GAP) ** 2
        distance = 0.0 if number == 0 else math.sqrt((area + own / 2) * _ROOMY * 1.6)
        angle = number * GOLDEN_ANGLE
        places.append((distance * math.cos(angle), distance * math.sin(angle)))
        area += own
    return places


def placed(
    radii: Sequence[float], links: Sequence[Link], start: Sequence[Place] | None = None
) -> list[Place]:
    """Return a place for each disc.

    Args:
        radii: of the discs.
        links: which discs belong together; what names no disc of these is an error.
        start: where the discs lay before; they keep near it. None lays them out anew.
    """
    known = list(start) if start is not None else spiral(radii)
    if len(radii) > MAX_RELAXED_DISCS or len(radii) < 2:  # noqa: PLR2004 - a pair is the least
        return known
    try:
        import numpy as np
    except ImportError:
        return known
    places = np.array(known, dtype=np.float64)
    sizes = np.array(radii, dtype=np.float64) * GAP
    if links and start is None:
        places = _drawn(np, places, sizes, links)
    places = _spread(np, _apart(np, places, sizes, PUSHED_STEPS), sizes)
    return [(round(float(x), 4), round(float(y), 4)) for x, y in places]


def extent(places: Sequence[Place], radii: Sequence[float]) -> float:
    """Return the radius of the circle around the origin that holds every disc."""
    return max(
        (math.hypot(x, y) + radius for (x, y), radius in zip(places, radii, strict=True)),
        default=0.0,
    )


def _drawn(
    np: Any, places: "np.ndarray[Any, Any]", sizes: "np.ndarray[Any, Any]", links: Sequence[Link]
) -> "np.ndarray[Any, Any]":
    """Draw linked discs together, a little less each step, pushing apart as they meet."""
    first = np.array([link[0] for link in links])
    second = np.array([link[1] for link in links])
    weight = np.log1p(np.array([link[2] for link in links], dtype=np.float64))
    weight /= weight.max()
    degree = np.zeros(len(places))
    np.add.at(degree, first, weight)
    np.add.at(degree, second, weight)
    for step in range(DRAWN_STEPS):
        cooling = 1 - step / DRAWN_STEPS
        away = places[second] - places[first]
        distance = np.maximum(np.hypot(away[:, 0], away[:, 1]), 1e-9)
        wanted = sizes[first] + sizes[second]
        # Only what is further off than touching is drawn; a hub moves less than what hangs on it.
        share = _DRAW * cooling * weight * np.maximum(distance - wanted, 0) / distance
        pull = share[:, None] * away
        move = np.zeros_like(places)
        np.add.at(move, first, pull / np.maximum(degree[first], 1)[:, None])
        np.add.at(move, second, -pull / np.maximum(degree[second], 1)[:, None])
        places = (places + move) * (1 - _CENTRE * cooling)
        if step % _STEPS_A_PUSH == _STEPS_A_PUSH - 1:
            places = _apart(np, places, sizes, 1)
    return places


def _apart(
    np: Any, places: "np.ndarray[Any, Any]", sizes: "np.ndarray[Any, Any]", steps: int
) -> "np.ndarray[Any, Any]":
    """Push overlapping discs apart, until none overlaps or the steps are used up."""
    reach = sizes[:, None] + sizes[None, :]
    np.fill_diagonal(reach, 0)
    numbers = np.arange(len(places))
    for _step in range(steps):
        x, y = places[:, 0], places[:, 1]
        # Most pairs are far apart: only those whose squares meet are looked at closely.
        near = (np.abs(x[:, None] - x[None, :]) < reach) & (np.abs(y[:, None] - y[None, :]) < reach)
        one, other = np.nonzero(near)
        away_x, away_y = x[one] - x[other], y[one] - y[other]
        distance = np.hypot(away_x, away_y)
        overlap = reach[one, other] - distance
        meets = overlap > 0
        if not meets.any():
            break
        one, other, distance, overlap = one[meets], other[meets], distance[meets], overlap[meets]
        # Two discs in one place part in a direction of their own numbers.
        same = distance < _ONE_PLACE
        angle = (numbers[one] - numbers[other]) * GOLDEN_ANGLE
        scale = np.where(same, 1.0, distance)
        share = overlap / scale / 2
        move = np.zeros_like(places)
        np.add.at(move[:, 0], one, share * np.where(same, np.cos(angle), away_x[meets]))
        np.add.at(move[:, 1], one, share * np.where(same, np.sin(angle), away_y[meets]))
        crowd = np.bincount(one, minlength=len(places))
        places = places + move / np.maximum(np.sqrt(crowd), 1)[:, None]
    return places


def _spread(
    np: Any, places: "np.ndarray[Any, Any]", sizes: "np.ndarray[Any, Any]"
) -> "np.ndarray[Any, Any]":
    """Blow the whole up until the worst overlap that is left is none; places keep their angles."""
    away = places[:, None, :] - places[None, :, :]
    distance = np.hypot(away[:, :, 0], away[:, :, 1])
    np.fill_diagonal(distance, np.inf)
    # Without the free ring: discs may touch here.
    reach = (sizes[:, None] + sizes[None, :]) / GAP
    worst = float((reach / np.maximum(distance, _ONE_PLACE)).max())
    return places * min(max(worst, 1.0), MAX_SPREAD)
