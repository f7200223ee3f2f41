"""How many sessions an HTTP server keeps: the oldest idle one gives way to a new one.

Clients often go without ending their session. A server that only refuses at its bound would then
be locked until the idle time is over. A session is idle while no request of it is in flight; the
standing stream of a client that is still there counts as one. It is ended as its client would end
it, by ``DELETE``; a client that comes back after all is told 404 and begins anew, as the protocol
has it.
"""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SESSION_HEADER: Final = b"mcp-session-id"


class SessionBound:
    """ASGI middleware that makes room for a new session at the bound."""

    def __init__(self, app: "ASGIApp", *, most: int) -> None:
        """Keep at most ``most`` sessions of ``app``."""
        self._app = app
        self._most = most
        self._in_flight: dict[bytes, int] = {}
        """Requests in flight of each session; the session that was used last is the last one."""

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass a request on, and remember whose it is."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        session = _session(scope["headers"])
        if session is not None:
            await self._within(session, scope, receive, send)
            return
        if scope["method"] == "POST" and len(self._in_flight) >= self._most:
            await self._make_room(scope)

        async def watch(message: "Message") -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:  # noqa: PLR2004
                opened = _session(message.get("headers", ()))
                if opened is not None:
                    self._in_flight.setdefault(opened, 0)
            await send(message)

        await self._app(scope, receive, watch)

    async def _within(
        self, session: bytes, scope: "Scope", receive: "Receive", send: "Send"
    ) -> None:
        status = 0

        async def watch(message: "Message") -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        known = session in self._in_flight
        if known:
            self._in_flight[session] = self._in_flight.pop(session) + 1
        try:
            await self._app(scope, receive, watch)
        finally:
            if session in self._in_flight:
                self._in_flight[session] = max(0, self._in_flight[session] - known)
            if status == 404 or (scope["method"] == "DELETE" and status < 300):  # noqa: PLR2004
                self._in_flight.pop(session, None)

    async def _make_room(self, scope: "Scope") -> None:
        idle = next((one for one, count in self._in_flight.items() if not count), None)
        if idle is None:
            return
        del self._in_flight[idle]
        headers = [(name, value) for name, value in scope["headers"] if name in _KEPT]
        ending = {**scope, "method": "DELETE", "headers": [*headers, (SESSION_HEADER, idle)]}
        await self._app(ending, _no_body, _unheard)


_KEPT = frozenset({b"host", b"origin", b"authorization", b"mcp-protocol-version"})


def _session(headers: Any) -> bytes | None:
    return next((value for name, value in headers if name.lower() == SESSION_HEADER), None)


async def _no_body() -> "Message":
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_message: "Message") -> None:
    """Take the answer that nobody waits for."""
