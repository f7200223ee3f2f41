"""Bad clients of a real listening server, whose bounds are small here."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
import uvicorn

from agentic_os.server.transport.connections import Places, bounded_protocol

WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HALF = b"POST / HTTP/1.1\r\nHost: x\r\nX-A: "


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def answer(_scope: object, _receive: object, send: object) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})  # type: ignore[operator]
    await send({"type": "http.response.body", "body": b""})  # type: ignore[operator]


@contextlib.asynccontextmanager
async def listening(*, most: int, seconds: float) -> AsyncIterator[int]:
    config = uvicorn.Config(
        answer,
        port=0,
        log_level="critical",
        lifespan="off",
        http=bounded_protocol(most=most, most_of_address=most, seconds=seconds),
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    async with asyncio.timeout(30):
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await task


async def first_line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await asyncio.wait_for(reader.readline(), 30)
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize(
    "sent", [b"", HALF, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"]
)
@pytest.mark.anyio
async def test_an_unfinished_request_is_closed(sent: bytes) -> None:
    async with listening(most=9, seconds=0.2) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        while await first_line(reader):
            pass  # an answer may come before the end of the request
        writer.close()


@pytest.mark.anyio
async def test_the_next_request_of_a_connection_is_bounded_too() -> None:
    async with listening(most=9, seconds=0.2) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(WHOLE)
        assert (await first_line(reader)).startswith(b"HTTP/1.1 204")
        await asyncio.sleep(0.5)
        writer.write(WHOLE)
        await reader.readuntil(b"\r\n\r\n")
        assert (await first_line(reader)).startswith(b"HTTP/1.1 204")
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HALF)
        assert await first_line(reader) == b""
        writer.close()


@pytest.mark.anyio
async def test_half_requests_do_not_shut_others_out() -> None:
    async with listening(most=4, seconds=60) as port:
        waiting = [await asyncio.open_connection("127.0.0.1", port) for _ in range(8)]
        for _, writer in waiting:
            writer.write(HALF)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(WHOLE)
        assert (await first_line(reader)).startswith(b"HTTP/1.1 204")
        assert await first_line(waiting[0][0]) == b""
        for _, one in [*waiting, (reader, writer)]:
            one.close()


class Connection:
    def __init__(self, address: str) -> None:
        self.address = address
        self.dropped = False

    def drop(self) -> None:
        self.dropped = True


def test_a_new_connection_is_closed_where_nobody_waits() -> None:
    places = Places(most=9, most_of_address=1)
    first, second, other = Connection("a"), Connection("a"), Connection("b")
    for one in (first, second, other):
        places.take(one)

    assert [first.dropped, second.dropped, other.dropped] == [False, True, False]
    for one in (first, second, other):
        places.give_back(one)
    third = Connection("a")
    places.take(third)
    assert not third.dropped
