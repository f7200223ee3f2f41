from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from agentic_os.server.transport.wire import INVALID_REQUEST, PARSE_ERROR, AnsweringStream

PING = SessionMessage(
    jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", "id": 1, "method": "ping"})
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def fault(line: str) -> Exception:
    with pytest.raises(ValidationError) as caught:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    return caught.value


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (fault("{"), PARSE_ERROR),
        (fault("[]"), INVALID_REQUEST),
        (fault(" \n"), None),
        (OSError("unreadable"), PARSE_ERROR),
    ],
    ids=["no JSON", "no message", "an empty line", "no line"],
)
async def test_faults_are_answered_and_messages_handed_on(
    broken: Exception, code: int | None
) -> None:
    sending, incoming = anyio.create_memory_object_stream[Any](8)
    outgoing, receiving = anyio.create_memory_object_stream[Any](8)
    await sending.send(broken)
    await sending.send(PING)
    await sending.aclose()

    async with AnsweringStream(incoming, outgoing) as stream:
        assert [message async for message in stream] == [PING]
    await outgoing.aclose()
    answers = [answer.message async for answer in receiving]

    await receiving.aclose()
    if code is None:
        assert answers == []
    else:
        (answer,) = answers
        assert isinstance(answer, JSONRPCError)
        assert (answer.id, answer.error.code) == (None, code)
        assert '"id":null' in answer.model_dump_json(exclude_unset=True)


@pytest.mark.anyio
async def test_a_client_that_is_gone_is_not_answered() -> None:
    sending, incoming = anyio.create_memory_object_stream[Any](8)
    outgoing, receiving = anyio.create_memory_object_stream[Any](8)
    await receiving.aclose()
    await sending.send(fault("{"))
    await sending.send(PING)

    async with AnsweringStream(incoming, outgoing) as stream:
        assert await stream.receive() == PING
    await sending.aclose()
    await outgoing.aclose()
