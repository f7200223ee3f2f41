import stat
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentic_os.errors import ServerError, UsageError
from agentic_os.server.served import ServedPerson
from agentic_os.server.transport import http
from agentic_os.server.transport.http import (
    MAX_BODY_BYTES,
    Gate,
    HttpOptions,
    check_options,
    make_http_app,
    read_token,
    serve_http,
)

TOKEN = "t" * 32
HEADERS = {
    "Authorization": f"Bearer {TOKEN}",
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
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


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def post(
    served: ServedPerson,
    *,
    headers: dict[str, str],
    content: bytes | None = None,
    rate: int = 600,
    count: int = 1,
) -> list[int]:
    app = make_http_app(lambda: served, HttpOptions(requests_per_minute=rate), TOKEN)
    statuses = []
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1:8765"
        ) as client,
    ):
        for _ in range(count):
            if content is None:
                answer = await client.post("/mcp", headers=headers, json=INITIALIZE)
            else:
                answer = await client.post("/mcp", headers=headers, content=content)
            statuses.append(answer.status_code)
    return statuses


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, 200),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
    ],
)
@pytest.mark.anyio
async def test_who_is_let_in(served: ServedPerson, change: dict[str, str], expected: int) -> None:
    assert await post(served, headers={**HEADERS, **change}) == [expected]


@pytest.mark.anyio
async def test_the_rate_is_bounded(served: ServedPerson) -> None:
    assert await post(served, headers=HEADERS, rate=2, count=3) == [200, 200, 429]


@pytest.mark.anyio
async def test_bodies_are_bounded(served: ServedPerson) -> None:
    assert await post(served, headers=HEADERS, content=b" " * (MAX_BODY_BYTES + 1)) == [413]


@pytest.mark.anyio
async def test_sessions_are_bounded(served: ServedPerson, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_SESSIONS", 2)

    assert await post(served, headers=HEADERS, count=3) == [200, 200, 503]


def test_the_token_is_made_private_and_kept(tmp_path: Path) -> None:
    token = read_token(tmp_path / "state")

    path = tmp_path / "state/mcp-token"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_token(tmp_path / "state") == token
    assert len(token) >= 32


def test_a_token_file_must_be_private_and_long(tmp_path: Path) -> None:
    path = tmp_path / "token"
    with pytest.raises(ServerError, match="cannot be read"):
        read_token(tmp_path, path)
    path.write_text("x" * 40)
    path.chmod(0o644)
    with pytest.raises(ServerError):
        read_token(tmp_path, path)
    path.chmod(0o600)
    assert read_token(tmp_path, path) == "x" * 40
    path.write_text("short")
    with pytest.raises(ServerError):
        read_token(tmp_path, path)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "[::1]", "localhost", "127.8.8.8"])
def test_loopback_is_served(host: str) -> None:
    check_options(HttpOptions(host=host))


EVERYWHERE = "0.0.0.0"  # noqa: S104 - an address that must be refused


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "10.0.0.1", "example.org", "192.168.1.4"])
def test_another_address_needs_the_flag_and_tls(host: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        check_options(HttpOptions(host=host))
    with pytest.raises(UsageError):
        check_options(HttpOptions(host=host, remote=True))
    check_options(
        HttpOptions(host=host, remote=True, certificate=tmp_path / "c", private_key=tmp_path / "k")
    )


@pytest.mark.anyio
async def test_what_is_not_a_request_goes_through(served: ServedPerson) -> None:
    app = make_http_app(lambda: served, HttpOptions(), TOKEN)
    seen: list[str] = []

    async def inner(scope: Any, _receive: object, _send: object) -> None:
        seen.append(scope["type"])

    gate = Gate(inner, token=TOKEN, requests_per_minute=1)
    await gate({"type": "lifespan"}, None, None)  # type: ignore[arg-type]

    assert seen == ["lifespan"]
    assert app.user_middleware


@pytest.mark.anyio
async def test_two_tokens_are_none(served: ServedPerson) -> None:
    answers: list[int] = []

    async def inner(_scope: object, _receive: object, _send: object) -> None:
        answers.append(200)

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answers.append(message["status"])

    own = (b"authorization", f"Bearer {TOKEN}".encode())
    gate = Gate(inner, token=TOKEN, requests_per_minute=9)
    for headers in ([own, own], [], [own]):
        await gate({"type": "http", "headers": headers}, None, send)  # type: ignore[arg-type]

    assert answers == [401, 401, 200]
    assert served.roots


def test_serving_listens_where_it_was_told(
    served: ServedPerson, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told: dict[str, Any] = {}
    monkeypatch.setattr("uvicorn.run", lambda _app, **options: told.update(options))

    serve_http(lambda: served, HttpOptions(port=9_999), TOKEN)

    assert (told["host"], told["port"], told["ssl_certfile"]) == ("127.0.0.1", 9_999, None)
    assert told["http"] == "h11"
    assert "http://127.0.0.1:9999/mcp" in capsys.readouterr().err
    with pytest.raises(UsageError):
        serve_http(lambda: served, HttpOptions(host="10.0.0.1"), TOKEN)
