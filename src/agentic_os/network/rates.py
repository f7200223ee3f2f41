"""Token buckets: how often each peer may ask.

>>> now = 0.0
>>> buckets = TokenBuckets(per_minute=60, clock=lambda: now)
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
_MINUTE_SECONDS: Final = 60


class TokenBuckets:
    """A bucket for each name: ``per_minute`` requests at once, refilled evenly; 0 is no limit."""

    __slots__ = ("_buckets", "_clock", "_per_minute")

    def __init__(self, *, per_minute: int, clock: Callable[[], float]) -> None:
        """Start with full buckets; ``clock`` counts seconds and never goes back."""
        self._per_minute = float(per_minute)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str) -> float:
        """Take a token of ``name``; return 0, or the seconds until there is one to take."""
        if self._per_minute == 0:
            return 0.0
        now, rate = self._clock(), self._per_minute / _MINUTE_SECONDS
        left, at = self._buckets.pop(name, (self._per_minute, now))
        left = min(self._per_minute, left + (now - at) * rate)
        is_granted = left >= 1
        self._buckets[name] = (left - 1 if is_granted else left, now)
        while len(self._buckets) > BUCKETS_ENTRIES:
            self._buckets.popitem(last=False)
        return 0.0 if is_granted else (1 - left) / rate
