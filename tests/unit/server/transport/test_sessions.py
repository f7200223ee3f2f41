"""The bound of sessions, over an application that only opens and ends them."""

from typing import Any

import pytest

from agentic_os.server.transport.sessions import SESSION_HEADER, SessionBound


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Application:
    """Opens a session where none is named, and ends one that is deleted."""

    def __init__(self) -> None:
        self.open: list[bytes] = []
        self.made = 0
        self.held: Any = None

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        named = dict(scope["headers"]).get(SESSION_HEADER)
        status, headers = 200, []
        if named is None:
            self.made += 1
            named = f"s{self.made}".encode()
            self.open.append(named)
            headers = [(SESSION_HEADER, named)]
        elif named not in self.open:
            status = 404
        elif scope["method"] == "DELETE":
            self.open.remove(named)
        if scope["method"] == "GET" and self.held is not None:
            await self.held.wait()
        await send({"type": "http.response.start", "status": status, "headers": headers})


async def ask(bound: SessionBound, method: str, session: bytes | None = None) -> None:
    headers = [] if session is None else [(SESSION_HEADER, session)]

    async def unheard(_message: Any) -> None:
        pass

    await bound({"type": "http", "method": method, "headers": headers}, None, unheard)  # type: ignore[arg-type]


@pytest.mark.anyio
async def test_the_session_that_was_used_longest_ago_gives_way() -> None:
    inner = Application()
    bound = SessionBound(inner, most=2)

    await ask(bound, "POST")
    await ask(bound, "POST")
    await ask(bound, "POST", b"s1")
    await ask(bound, "POST")

    assert inner.open == [b"s1", b"s3"]


@pytest.mark.anyio
async def test_a_session_with_an_open_stream_stays() -> None:
    import anyio

    inner = Application()
    inner.held = anyio.Event()
    bound = SessionBound(inner, most=1)
    await ask(bound, "POST")

    async with anyio.create_task_group() as group:
        group.start_soon(ask, bound, "GET", b"s1")
        await anyio.lowlevel.checkpoint()
        await ask(bound, "POST")  # the application itself refuses beyond the bound
        assert b"s1" in inner.open
        inner.held.set()
    await ask(bound, "POST")

    assert b"s1" not in inner.open


@pytest.mark.anyio
async def test_a_session_that_its_client_ended_needs_no_room() -> None:
    inner = Application()
    bound = SessionBound(inner, most=1)

    await ask(bound, "POST")
    await ask(bound, "DELETE", b"s1")
    await ask(bound, "POST")
    await ask(bound, "POST", b"unknown")

    assert inner.open == [b"s2"]
