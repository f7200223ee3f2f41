"""What a client sends and is no message of the protocol is answered, not passed over.

The library hands on a line that it cannot read as an exception, which its session only logs, and
takes a request whose id is of no allowed type for a notification: a client would wait for its
answer for ever. JSON-RPC 2.0 has two errors for it, both with the id null. Half a surrogate pair,
which a client leaves where it cuts a text, is valid JSON and no text: it becomes U+FFFD.
"""

import json
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
            read = _mended(item) if isinstance(item, Exception) else item
            code: int | None
            if read is None:
                code = _code_of(item)
            elif _asks_in_vain(read):
                code = INVALID_REQUEST
            else:
                message: SessionMessage = read
                return message
            if code is not None:
                await self._answer(code)

    async def _answer(self, code: int) -> None:
        import anyio
        from mcp.shared.message import SessionMessage
        from mcp_types import ErrorData, JSONRPCError

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


def whole_texts(data: str | bytes) -> bytes | None:
    """Write JSON anew with U+FFFD for each half of a surrogate pair; ``None`` if it is no JSON."""
    try:
        text = json.dumps(json.loads(data), ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.encode("utf-8")


def is_answerable(value: object) -> bool:
    """Tell whether a message is anything but a request with an id that no answer can carry."""
    if not isinstance(value, dict) or "id" not in value or "method" not in value:
        return True
    return isinstance(value["id"], str | int) and not isinstance(value["id"], bool)


def _mended(fault: Exception) -> "SessionMessage | None":
    """Read a line again whose only fault is half a surrogate pair."""
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter
    from pydantic import ValidationError

    if not isinstance(fault, ValidationError):
        return None
    first = fault.errors(include_url=False)[0]
    data = whole_texts(first["input"]) if first["type"] == "json_invalid" else None
    if data is None:
        return None
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(data, by_name=False))
    except ValidationError:
        return None


def _asks_in_vain(item: "SessionMessage") -> bool:
    """Tell whether a request was read as a notification, because of its id."""
    from mcp_types import JSONRPCNotification

    message = item.message
    return isinstance(message, JSONRPCNotification) and not message.method.startswith(
        "notifications/"
    )
