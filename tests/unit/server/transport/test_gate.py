from typing import Any

import pytest

from agentic_os.server.transport.gate import Gate

TOKEN = "t" * 32
OWN = (b"authorization", f"Bearer {TOKEN}".encode())
HOST = (b"host", b"127.0.0.1:8765")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def gate(answers: list[Any]) -> Gate:
    async def inner(scope: Any, _receive: object, _send: object) -> None:
        answers.append(200 if scope["type"] == "http" else scope["type"])

    return Gate(inner, token=TOKEN, hosts=["127.0.0.1"], scheme="http", requests_per_minute=9)


async def asked(*headers: tuple[bytes, bytes], kind: str = "http") -> list[Any]:
    answers: list[Any] = []

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answers.append(message["status"])

    await gate(answers)({"type": kind, "headers": list(headers)}, None, send)  # type: ignore[arg-type]
    return answers


@pytest.mark.anyio
async def test_what_is_not_a_request_goes_through() -> None:
    assert await asked(kind="lifespan") == ["lifespan"]


@pytest.mark.anyio
async def test_a_header_that_stands_twice_is_none() -> None:
    assert await asked(OWN, HOST) == [200]
    assert await asked(OWN, OWN, HOST) == [401]
    assert await asked(HOST) == [401]
    assert await asked(OWN) == [421]
    assert await asked(OWN, HOST, HOST) == [421]
    origin = (b"origin", b"http://127.0.0.1")
    assert await asked(OWN, HOST, origin) == [200]
    assert await asked(OWN, HOST, origin, origin) == [403]
