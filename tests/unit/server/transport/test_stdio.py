import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from agentic_os.server.served import ServedPerson
from agentic_os.server.transport import stdio

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "fleet_overview", "arguments": {}},
}


class EndedError(Exception):
    """Stands for the end of the process."""


def test_the_process_ends_when_stdin_closes(
    served: ServedPerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Any] = []

    @asynccontextmanager
    async def asked_once() -> AsyncIterator[tuple[Any, Any]]:
        sending, incoming = anyio.create_memory_object_stream[Any](8)
        outgoing, receiving = anyio.create_memory_object_stream[Any](8)
        for message in (INITIALIZE, INITIALIZED, CALL):
            await sending.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))
        async with sending, incoming, outgoing, receiving, anyio.create_task_group() as group:

            async def close_after_the_second() -> None:
                answers.append((await receiving.receive()).message)
                answers.append((await receiving.receive()).message)
                await sending.aclose()

            group.start_soon(close_after_the_second)
            yield incoming, outgoing

    def ended(status: int) -> None:
        raise EndedError(status)

    monkeypatch.setattr("mcp.server.stdio.stdio_server", asked_once)
    monkeypatch.setattr("agentic_os.server.transport.stdio.os._exit", ended)
    monkeypatch.setattr(stdio, "_watch_parent", lambda _parent: None)

    with pytest.raises(EndedError) as fault:
        stdio.serve_stdio(lambda: served)

    assert fault.value.args == (0,)
    assert [one.id for one in answers] == [1, 2]
    assert "shop" in str(answers[1].result)


def test_the_process_ends_when_its_parent_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    parents = iter([7, 7, 1])
    monkeypatch.setattr("agentic_os.server.transport.stdio.os.getppid", lambda: next(parents))
    monkeypatch.setattr("agentic_os.server.transport.stdio.os._exit", lambda _status: ended.set())
    monkeypatch.setattr(stdio, "PARENT_SECONDS", 0.01)

    stdio._watch_parent(7)

    assert ended.wait(20)
