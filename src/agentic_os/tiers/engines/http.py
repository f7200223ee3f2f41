"""A granted address as an MCP server over HTTP: one origin, no proxies, bounded answers.

The library follows a redirect only within the origin that was granted. Proxies of the
environment's are not used, cookies and keys are not sent, and an answer that is packed is
refused: unpacked it could be of any size.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from agentic_os.tiers.engines.endpoint import Address
from agentic_os.tiers.engines.values import EngineFault, Meter

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 5.0
QUIET_LOGS = ("mcp.client", "client")
"""Logs of the library's that repeat what a server says: nobody reads them here."""


@asynccontextmanager
async def engine_http(
    address: Address, *, seconds: float, meter: Meter
) -> AsyncIterator[tuple[Any, Any]]:
    """Reach an MCP server and give the two streams that a client session needs.

    Args:
        address: where it is.
        seconds: how long each wait may take.
        meter: counts what it says; keeps the fault where that is too much.
    """
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    keep_quiet()
    limits = httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
    async with (
        httpx2.AsyncClient(
            transport=_metered(meter),
            timeout=limits,
            trust_env=False,
            follow_redirects=False,
            headers={"accept-encoding": "identity"},
        ) as client,
        streamable_http_client(
            address.url, http_client=client, max_sse_event_size=meter.limit_bytes
        ) as (read, write),
    ):
        yield read, write


def keep_quiet() -> None:
    """Keep what a server says out of our own words: it is untrusted, and a terminal is near."""
    for name in QUIET_LOGS:
        log = logging.getLogger(name)
        if log.propagate:
            log.addHandler(logging.NullHandler())
            log.propagate = False


def _metered(meter: Meter) -> "httpx2.AsyncBaseTransport":
    """Make the ordinary transport, with every byte of an answer's body counted."""
    import httpx2

    class Body(httpx2.AsyncByteStream):
        def __init__(self, inner: httpx2.AsyncByteStream) -> None:
            self.inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for piece in self.inner:
                meter.take(len(piece), piece.count(b"\n"))
                yield piece

        async def aclose(self) -> None:
            await self.inner.aclose()

    class Transport(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            response = await super().handle_async_request(request)
            if response.headers.get("content-encoding", "identity") != "identity":
                meter.fault = EngineFault("ENGINE_ANSWER_INVALID", "its answer is packed")
                await response.aclose()
                raise meter.fault
            if isinstance(response.stream, httpx2.AsyncByteStream):
                response.stream = Body(response.stream)
            return response

    return Transport()
