"""Token buckets: how often each peer may ask.

>>> now = 0.0
>>> buckets = TokenBuckets(limit=60, clock=lambda: now)
>>> [buckets.take("a") for _ in range(60)] == [0.0] * 60
True
>>> buckets.take("a"), buckets.take("b")
(1.0, 0.0)
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

BUCKETS_ENTRIES: Final = 20_000
"""With more names than this the oldest are forgotten, which gives them a full bucket again."""
MINUTE_SECONDS: Final = 60.0
DAY_SECONDS: Final = 86_400.0


class TokenBuckets:
    """A bucket for each name: ``limit`` requests at once, refilled evenly; 0 is no limit."""

    __slots__ = ("_buckets", "_clock", "_limit", "_rate")

    def __init__(
        self, *, limit: int, clock: Callable[[], float], period_seconds: float = MINUTE_SECONDS
    ) -> None:
        """Start with full buckets.

        Args:
            limit: tokens of a full bucket.
            clock: counts seconds and never goes back.
            period_seconds: how long an empty bucket takes to be full.
        """
        self._limit = float(limit)
        self._rate = limit / period_seconds
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str) -> float:
        """Take a token of ``name``; return 0, or the seconds until there is one to take."""
        if self._limit == 0:
            return 0.0
        now = self._clock()
        left, at = self._buckets.pop(name, (self._limit, now))
        left = min(self._limit, left + (now - at) * self._rate)
        is_granted = left >= 1
        self._buckets[name] = (left - 1 if is_granted else left, now)
        while len(self._buckets) > BUCKETS_ENTRIES:
            self._buckets.popitem(last=False)
        return 0.0 if is_granted else (1 - left) / self._rate
