"""Connections, bounded: in number, for each address, and in the time until a request's head is in.

uvicorn counts a connection that says nothing like one that asks, and waits for it for ever; so
five hundred silent ones would shut everybody out. Here

- a connection that has not sent the head of a request in ``HEAD_SECONDS`` is closed;
- where the whole number is reached, the connection that has been silent longest gives way;
- one address, trusted proxies apart, has at most its share.

What is refused before the application sees it is counted and logged like every other answer.
"""

from asyncio import TimerHandle, Transport
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Final, TypeAlias

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from agentic_os.network.addresses import Networks, share_of

HEAD_SECONDS: Final = 10.0

_BUSY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\n"
    b"content-type: text/plain; charset=utf-8\r\ncontent-length: 21\r\n\r\n"
    b"too many connections\n"
)

Account: TypeAlias = Callable[[int, str], None]
"""Told the status and the code of an answer that the application never saw."""


@dataclass(kw_only=True)
class ConnectionBounds:
    """How many connections there may be, and those there are.

    Args:
        most: of all together.
        most_of_one: of one address.
        trusted: proxies, whose connections are many people's.
        account: see ``Account``.
        head_seconds: how long the head of a request may take.
    """

    most: int
    most_of_one: int
    trusted: Networks
    account: Account
    head_seconds: float = HEAD_SECONDS
    by_share: Counter[str] = field(default_factory=Counter)
    silent: "dict[BoundedProtocol, None]" = field(default_factory=dict)
    """Connections whose next request has not come, the longest silent first."""


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with bounds; ``bounded_protocol`` sets them."""

    bounds: ClassVar[ConnectionBounds]

    _head_timer: TimerHandle | None = None
    _share = ""
    _has_answered = False

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Take a connection, unless it is one too many."""
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        self._share = share_of(address)
        self.bounds.by_share[self._share] += 1
        is_one_too_many = (
            self.bounds.by_share[self._share] > self.bounds.most_of_one
            and address not in self.bounds.trusted
        )
        if is_one_too_many or (
            len(self.connections) > self.bounds.most and not _make_room(self.bounds)
        ):
            self.bounds.account(503, "TOO_MANY_CONNECTIONS")
            transport.write(_BUSY)
            transport.close()
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._head_came()
        self.bounds.by_share[self._share] -= 1
        if not self.bounds.by_share[self._share]:
            del self.bounds.by_share[self._share]
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        """Stop waiting: the head is in."""
        self._head_came()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._has_answered = True
        if not self.transport.is_closing():
            self._await_head()

    def data_received(self, data: bytes) -> None:
        """Go on waiting while a head comes in drops."""
        super().data_received(data)
        # A head that comes in drops must not end the wait for its end.
        if self in self.bounds.silent and self._head_timer is None:
            self._start_timer()

    def send_400_response(self, msg: str) -> None:
        """Count what is no HTTP."""
        self.bounds.account(400, "HTTP_INVALID")
        super().send_400_response(msg)

    def give_way(self) -> None:
        """Close a connection that has nothing to answer."""
        self._head_came()
        if not self.transport.is_closing():
            self.bounds.account(408, "HEAD_SLOW")
            self.transport.close()

    def _await_head(self) -> None:
        self.bounds.silent[self] = None
        # After an answer uvicorn's own timer runs until the first byte of the next request.
        if not self._has_answered:
            self._start_timer()

    def _start_timer(self) -> None:
        self._head_timer = self.loop.call_later(self.bounds.head_seconds, self.give_way)

    def _head_came(self) -> None:
        self.bounds.silent.pop(self, None)
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def bounded_protocol(bounds: ConnectionBounds) -> type[BoundedProtocol]:
    """Return uvicorn's protocol with these bounds."""
    return type("BoundedProtocolOfOneServer", (BoundedProtocol,), {"bounds": bounds})


def _make_room(bounds: ConnectionBounds) -> bool:
    """Close the connection that has been silent longest, if there is one."""
    for waiting in bounds.silent:
        waiting.give_way()
        return True
    return False
