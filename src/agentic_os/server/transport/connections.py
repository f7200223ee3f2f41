"""Connections to the HTTP server: so many in all and from each address, none that only waits.

Whoever can reach the port can open connections, without the token. A connection that does not
send a whole request in time is closed. At a bound the connection that has waited longest with an
unfinished request gives way to the new one; if there is none, the new one is closed.
"""

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS: Final = 512
MAX_CONNECTIONS_OF_ADDRESS: Final = 256
REQUEST_SECONDS: Final = 10.0
"""From connecting, or from the first byte, to the end of a request."""


class Waiting(Protocol):
    """A connection whose request is unfinished."""

    address: str

    def drop(self) -> None:
        """Close it at once."""


class Places:
    """The places of one server: who holds them, and who waits longest."""

    def __init__(self, *, most: int, most_of_address: int) -> None:
        """Start without a connection."""
        self._most = most
        self._most_of_address = most_of_address
        self._opened: Counter[str] = Counter()
        self._waiting: dict[Waiting, asyncio.TimerHandle] = {}

    def take(self, new: Waiting) -> None:
        """Give a place to a connection; drop the one that has waited longest if there is none."""
        self._opened[new.address] += 1
        of_address = self._opened[new.address] > self._most_of_address
        if of_address or self._opened.total() > self._most:
            others = (one for one in self._waiting if not of_address or one.address == new.address)
            next(others, new).drop()

    def give_back(self, one: Waiting) -> None:
        """Free the place of a connection."""
        self._opened[one.address] -= 1
        if not self._opened[one.address]:
            del self._opened[one.address]

    def wait(self, one: Waiting, seconds: float) -> None:
        """Let an unfinished request wait so long, from when it was first seen."""
        if one not in self._waiting:
            loop = asyncio.get_running_loop()
            self._waiting[one] = loop.call_later(seconds, one.drop)

    def go_on(self, one: Waiting) -> None:
        """Remember that it is finished, or that its connection is gone."""
        deadline = self._waiting.pop(one, None)
        if deadline is not None:
            deadline.cancel()


def bounded_protocol(
    *,
    most: int = MAX_CONNECTIONS,
    most_of_address: int = MAX_CONNECTIONS_OF_ADDRESS,
    seconds: float = REQUEST_SECONDS,
) -> "type[H11Protocol]":
    """Make uvicorn's protocol with these bounds.

    It is named, too, because another parser that happens to be installed keeps blanks around the
    values of headers (RFC 9110, 5.5).
    """
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    unfinished = {h11.IDLE, h11.SEND_BODY}
    places = Places(most=most, most_of_address=most_of_address)

    class BoundedProtocol(H11Protocol):
        """One connection of the bounded server."""

        address = ""

        def connection_made(self, transport: Any) -> None:
            """Take a place, if there is one or one can be made."""
            super().connection_made(transport)
            self.address = self.client[0] if self.client else ""
            places.take(self)
            if not transport.is_closing():
                places.wait(self, seconds)

        def connection_lost(self, exc: Exception | None) -> None:
            """Give the place back."""
            places.go_on(self)
            places.give_back(self)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            """Read on; the clock runs while a request is unfinished."""
            super().data_received(data)
            if self.conn.their_state in unfinished:
                places.wait(self, seconds)
            else:
                places.go_on(self)

        def drop(self) -> None:
            """Close the connection at once."""
            places.go_on(self)
            self.transport.abort()

    return BoundedProtocol
