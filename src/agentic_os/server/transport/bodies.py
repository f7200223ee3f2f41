"""Bodies of HTTP requests, mended or refused as lines of stdin are (``wire``)."""

import json
from typing import TYPE_CHECKING, Final

from agentic_os.server.transport.wire import INVALID_REQUEST, is_answerable, whole_texts

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

BAD_REQUEST: Final = 400


class ReadableBodies:
    """ASGI middleware: reads a body whole, mends its texts, refuses an id that is none."""

    def __init__(self, app: "ASGIApp", *, most_bytes: int) -> None:
        """Stand before ``app``, which itself refuses bodies above ``most_bytes``."""
        self._app = app
        self._most = most_bytes

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass a request on, or answer 400."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        messages = await self._read(receive)
        if messages[-1]["type"] != "http.request" or messages[-1].get("more_body"):
            await self._app(scope, _replay(messages, receive), send)
            return
        body = b"".join(one.get("body", b"") for one in messages)
        if not is_answerable(_parsed(body)):
            await _refusal()(scope, receive, send)
            return
        if b"\\u" in body:
            body = whole_texts(body) or body
            length = (b"content-length", str(len(body)).encode())
            kept = [pair for pair in scope["headers"] if pair[0] != length[0]]
            scope = {**scope, "headers": [*kept, length]}
        whole: Message = {"type": "http.request", "body": body, "more_body": False}
        await self._app(scope, _replay([whole], receive), send)

    async def _read(self, receive: "Receive") -> "list[Message]":
        """Read a body to its end, or until it is too long or its client goes away."""
        messages: list[Message] = []
        size = 0
        while not messages or (messages[-1].get("more_body") and size <= self._most):
            messages.append(await receive())
            size += len(messages[-1].get("body", b""))
        return messages


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _replay(messages: "list[Message]", receive: "Receive") -> "Receive":
    left = list(messages)

    async def again() -> "Message":
        return left.pop(0) if left else await receive()

    return again


def _refusal() -> "ASGIApp":
    from starlette.responses import JSONResponse

    error = {"code": INVALID_REQUEST, "message": "Invalid request"}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, BAD_REQUEST)
