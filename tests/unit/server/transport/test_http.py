import json
import re
import stat
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentic_os.errors import ServerError, UsageError
from agentic_os.server.served import ServedPerson
from agentic_os.server.transport import http
from agentic_os.server.transport.http import (
    MAX_BODY_BYTES,
    HttpOptions,
    check_options,
    make_http_app,
    open_socket,
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
        ({"Host": "127.0.0.1:80@evil.example"}, 421),
        ({"Host": "127.0.0.1:"}, 421),
        ({"Host": "LOCALHOST:8765"}, 200),
        ({"Origin": "http://127.0.0.1:8765"}, 200),
        ({"Origin": "http://127.0.0.1:8765.evil.example"}, 403),
        ({"Origin": "https://127.0.0.1:8765"}, 403),
        ({"Origin": "null"}, 403),
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
    check_options(replace(tls_files(tmp_path), host=host, remote=True))


def test_an_address_that_is_refused_is_never_taken(served: ServedPerson) -> None:
    with pytest.raises(UsageError):
        serve_http(lambda: served, HttpOptions(host="10.0.0.1"), TOKEN)


def test_a_port_in_use_is_an_error_with_words() -> None:
    with open_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServerError, match="Address already in use") as fault:
            open_socket("127.0.0.1", port)
    assert fault.value.code == "LISTEN_FAILED"
    assert "--port" in fault.value.hint
    open_socket("127.0.0.1", port).close()


@pytest.mark.parametrize("host", ["no-such-host.invalid", "203.0.113.7"])
def test_an_address_of_another_machine_is_an_error_with_words(host: str) -> None:
    with pytest.raises(ServerError, match=re.escape(host)):
        open_socket(host, 0)


def tls_files(folder: Path) -> HttpOptions:
    """A self-signed certificate and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    start = datetime(2020, 1, 1, tzinfo=UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=36_500))
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "cert.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    private.chmod(0o600)
    return HttpOptions(certificate=certificate, private_key=private)


def test_tls_files_that_fit_are_taken(tmp_path: Path) -> None:
    check_options(tls_files(tmp_path))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda o: o.private_key.chmod(0o644), "can be read or changed by others"),
        (lambda o: o.private_key.unlink(), "key cannot be read: No such file"),
        (lambda o: o.certificate.unlink(), "certificate cannot be read: No such file"),
        (lambda o: o.certificate.write_text("no PEM"), "no PEM certificate"),
        (lambda o: o.private_key.write_bytes(o.certificate.read_bytes()), "no PEM certificate"),
    ],
    ids=["open", "no-key", "no-certificate", "not-pem", "wrong-key"],
)
def test_tls_files_that_cannot_serve_are_named(
    tmp_path: Path, spoil: Callable[[Any], object], words: str
) -> None:
    options = tls_files(tmp_path)
    spoil(options)

    with pytest.raises(ServerError, match=words) as fault:
        check_options(options)
    assert fault.value.code == "TLS_INVALID"
    assert str(tmp_path) not in fault.value.message


def test_half_of_the_tls_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="together"):
        check_options(HttpOptions(certificate=tmp_path / "c"))


@pytest.mark.anyio
async def test_an_idle_session_gives_way(
    served: ServedPerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_SESSIONS", 2)

    assert await post(served, headers=HEADERS, count=5) == [200] * 5


@pytest.mark.parametrize("number", ["1.5", "true", "{}", "null", "[1]"])
@pytest.mark.anyio
async def test_an_id_that_no_answer_can_carry_is_an_error(
    served: ServedPerson, number: str
) -> None:
    body = json.dumps(INITIALIZE).replace('"id": 1', f'"id": {number}').encode()

    assert await post(served, headers=HEADERS, content=body) == [400]


@pytest.mark.anyio
async def test_half_a_character_is_no_reason_to_refuse(served: ServedPerson) -> None:
    body = json.dumps(INITIALIZE).replace("test", "test \\ud83d").encode()

    assert await post(served, headers=HEADERS, content=body) == [200]
