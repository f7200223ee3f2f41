"""How much one identity, origin or client may ask: token buckets and body bounds."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from typing import Final

from agentic_os.witness.protocol.refusal import Refusal, RequestRefusedError

BUCKETS_ENTRIES: Final = 20_000
"""More names than this share the fate of being forgotten, oldest first: a full bucket again."""
_MINUTE_SECONDS: Final = 60


class TokenBuckets:
    """A bucket for each name: ``per_minute`` requests at once, refilled evenly; 0 is no limit."""

    def __init__(self, *, per_minute: int, clock: Callable[[], float]) -> None:
        """``clock`` counts seconds and never goes back (``time.monotonic``)."""
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str) -> None:
        """Take one token of ``name``.

        Raises:
            RequestRefusedError: 429 with the seconds until the next token.
        """
        if self._per_minute == 0:
            return
        now, rate = self._clock(), self._per_minute / _MINUTE_SECONDS
        tokens, at = self._buckets.pop(name, (float(self._per_minute), now))
        tokens = min(float(self._per_minute), tokens + (now - at) * rate)
        is_granted = tokens >= 1
        self._buckets[name] = (tokens - 1 if is_granted else tokens, now)
        while len(self._buckets) > BUCKETS_ENTRIES:
            self._buckets.popitem(last=False)
        if not is_granted:
            refusal = Refusal(
                status=429,
                code="RATE_LIMITED",
                message="too many requests",
                retry_seconds=int((1 - tokens) / rate) + 1,
            )
            raise RequestRefusedError(refusal)


async def read_body(
    chunks: AsyncIterator[bytes], *, stated: str | None, limit_bytes: int, seconds: float
) -> bytes:
    """Read a body, counted as it arrives and not only by its stated length.

    Raises:
        RequestRefusedError: 413, or 408 when it takes longer than ``seconds``.
    """
    if stated is not None and stated.isdecimal() and int(stated[:20]) > limit_bytes:
        raise _too_large(limit_bytes)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in chunks:
                body += chunk
                if len(body) > limit_bytes:
                    raise _too_large(limit_bytes)
    except TimeoutError:
        refusal = Refusal(status=408, code="BODY_SLOW", message="the body took too long")
        raise RequestRefusedError(refusal) from None
    return bytes(body)


def _too_large(limit_bytes: int) -> RequestRefusedError:
    refusal = Refusal(
        status=413, code="BODY_TOO_LARGE", message=f"the body is larger than {limit_bytes} bytes"
    )
    return RequestRefusedError(refusal)
