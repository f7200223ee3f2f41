import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from agentic_os.server import stdio
from agentic_os.server.seat import Seat


class EndedError(Exception):
    """Stands for the end of the process."""


def test_the_process_ends_when_stdin_closes(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def closed() -> AsyncIterator[tuple[Any, Any]]:
        sending, incoming = anyio.create_memory_object_stream[Any](1)
        outgoing, receiving = anyio.create_memory_object_stream[Any](1)
        await sending.aclose()
        async with incoming, outgoing, receiving:
            yield incoming, outgoing

    def ended(status: int) -> None:
        raise EndedError(status)

    monkeypatch.setattr("mcp.server.stdio.stdio_server", closed)
    monkeypatch.setattr("agentic_os.server.stdio.os._exit", ended)
    monkeypatch.setattr(stdio, "_watch_parent", lambda _parent: None)

    with pytest.raises(EndedError) as fault:
        stdio.serve_stdio(seat.person, seat.roots)

    assert fault.value.args == (0,)


def test_the_process_ends_when_its_parent_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    parents = iter([7, 7, 1])
    monkeypatch.setattr("agentic_os.server.stdio.os.getppid", lambda: next(parents))
    monkeypatch.setattr("agentic_os.server.stdio.os._exit", lambda _status: ended.set())
    monkeypatch.setattr(stdio, "PARENT_SECONDS", 0.01)

    stdio._watch_parent(7)

    assert ended.wait(20)
