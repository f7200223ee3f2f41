"""How much one identity, origin or client may ask: rates and body bounds."""

import asyncio
import time
from collections.abc import AsyncIterator

from agentic_os.network.rates import MINUTE_SECONDS, TokenBuckets
from agentic_os.witness.protocol.refusal import Refusal, RequestRefusedError


class Rates:
    """The requests of each name, bounded in a period; 0 is no limit."""

    def __init__(self, *, limit: int, period_seconds: float = MINUTE_SECONDS) -> None:
        """Start with full buckets."""
        self._buckets = TokenBuckets(
            limit=limit, clock=time.monotonic, period_seconds=period_seconds
        )

    def require(self, name: str) -> None:
        """Take one token of ``name``.

        Raises:
            RequestRefusedError: 429 with the seconds until the next token.
        """
        seconds = self._buckets.take(name)
        if seconds:
            raise RequestRefusedError(
                Refusal(
                    status=429,
                    code="RATE_LIMITED",
                    message="too many requests",
                    retry_seconds=int(seconds) + 1,
                )
            )


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
