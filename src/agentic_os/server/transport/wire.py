"""What comes over stdin and is no message of the protocol is answered, not passed over.

The library hands on a line that it cannot read as an exception, which its session only logs: a
client would wait for its answer in vain. JSON-RPC 2.0 has two errors for it, both with the id null.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType

    from mcp.shared.message import SessionMessage

PARSE_ERROR = -32_700
INVALID_REQUEST = -32_600


class AnsweringStream:
    """The incoming messages; faults among them are answered on the way."""

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        """Filter ``incoming``; answer faults on ``outgoing``."""
        self._incoming = incoming
        self._outgoing = outgoing

    @property
    def last_context(self) -> Any:
        """The sender's context of the last message, which the library restores."""
        return self._incoming.last_context

    async def receive(self) -> "SessionMessage":
        """Receive the next message."""
        while True:
            item = await self._incoming.receive()
            if not isinstance(item, Exception):
                message: SessionMessage = item
                return message
            await self._answer(item)

    async def _answer(self, fault: Exception) -> None:
        import anyio
        from mcp.shared.message import SessionMessage
        from mcp_types import ErrorData, JSONRPCError

        code = _code_of(fault)
        if code is None:
            return
        said = "Parse error" if code == PARSE_ERROR else "Invalid request"
        error = JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=said))
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._outgoing.send(SessionMessage(error))

    async def aclose(self) -> None:
        """Close the incoming side."""
        await self._incoming.aclose()

    def __aiter__(self) -> "AnsweringStream":
        """Iterate over the messages."""
        return self

    async def __anext__(self) -> "SessionMessage":
        """Receive the next message, or end."""
        import anyio

        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        """Hold the stream."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: "TracebackType | None",
    ) -> None:
        """Close it."""
        await self.aclose()


def _code_of(fault: Exception) -> int | None:
    """Choose the error for a line that is no message; ``None`` for an empty one."""
    from pydantic import ValidationError

    if not isinstance(fault, ValidationError):
        return PARSE_ERROR
    first = fault.errors(include_url=False)[0]
    if first["type"] != "json_invalid":
        return INVALID_REQUEST
    return PARSE_ERROR if str(first["input"]).strip() else None
