"""Connections are bounded, and nobody is shut out by those who say nothing."""

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from agentic_os.network.addresses import Networks
from agentic_os.witness.service import connections
from agentic_os.witness.service.config import WitnessConfig
from support.witness.actors import Serving, new_witness, serving


@contextmanager
def bounded(folder: Path, **settings: object) -> Iterator[Serving]:
    config = WitnessConfig(folder=new_witness(folder), port=0, **settings)  # type: ignore[arg-type]
    with serving(config) as running:
        yield running


def connected(running: Serving, stack: ExitStack, source: str = "") -> socket.socket:
    host, port = running.url.removeprefix("http://").split(":")
    line = socket.create_connection((host, int(port)), timeout=10, source_address=(source, 0))
    return stack.enter_context(line)


def status(running: Serving) -> int:
    return httpx.get(f"{running.url}/status", timeout=10, trust_env=False).status_code


def test_silent_connections_shut_nobody_out(tmp_path: Path) -> None:
    with (
        bounded(tmp_path / "w", connections=5, client_connections=100) as running,
        ExitStack() as stack,
    ):
        silent = [connected(running, stack) for _ in range(5)]
        assert [status(running) for _ in range(3)] == [200, 200, 200]
        assert silent[0].recv(1) == b""  # the one that was silent longest gave way


@pytest.mark.skipif(sys.platform != "linux", reason="other systems answer at 127.0.0.1 alone")
def test_512_idle_connections_of_eight_addresses_shut_nobody_out(tmp_path: Path) -> None:
    """What a witness lets in by default, all of it held by those who say nothing."""
    with bounded(tmp_path / "w") as running, ExitStack() as stack:
        assert (running.config.connections, running.config.client_connections) == (512, 64)
        silent = [
            connected(running, stack, source=f"127.0.0.{2 + address}")
            for address in range(8)
            for _ in range(64)
        ]
        assert [status(running) for _ in range(5)] == [200] * 5
        assert silent[0].recv(1) == b""


def test_one_address_has_its_share_and_a_trusted_proxy_more(tmp_path: Path) -> None:
    with bounded(tmp_path / "a", client_connections=2) as running, ExitStack() as stack:
        held = [connected(running, stack) for _ in range(2)]
        refused = connected(running, stack)
        assert refused.recv(1024).startswith(b"HTTP/1.1 503 ")
        held[0].close()
        time.sleep(0.2)
        assert status(running) == 200
        metrics = httpx.get(f"{running.url}/metrics", trust_env=False).text
        assert 'refusals_total{code="TOO_MANY_CONNECTIONS"} 1' in metrics
        assert 'requests_total{route="none",status="503"} 1' in metrics
    proxy = Networks.read(["127.0.0.1"])
    with (
        bounded(tmp_path / "b", client_connections=1, trusted_proxies=proxy) as running,
        ExitStack() as stack,
    ):
        for _ in range(3):
            connected(running, stack)
        assert status(running) == 200


@pytest.mark.parametrize("first", [b"", b"GET /status HTT"])
def test_a_head_that_does_not_come_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bytes
) -> None:
    made = connections.ConnectionBounds.__init__

    def hurried(self: connections.ConnectionBounds, **words: object) -> None:
        made(self, **{**words, "head_seconds": 0.3})  # type: ignore[arg-type]

    monkeypatch.setattr(connections.ConnectionBounds, "__init__", hurried)
    with bounded(tmp_path / "w") as running, ExitStack() as stack:
        line = connected(running, stack)
        line.sendall(first)
        assert line.recv(1) == b""
        again = connected(running, stack)
        again.sendall(b"GET /status HTTP/1.1\r\nhost: x\r\n\r\n")
        assert again.recv(1024).startswith(b"HTTP/1.1 200 ")
        again.sendall(first or b"G")
        assert b"HTTP" not in again.recv(1024)  # a second head that does not end either
        assert status(running) == 200


def test_what_is_no_http_is_counted(tmp_path: Path) -> None:
    with bounded(tmp_path / "w") as running, ExitStack() as stack:
        line = connected(running, stack)
        line.sendall(b"\x00\x01 nonsense\r\n\r\n")
        assert line.recv(1024).startswith(b"HTTP/1.1 400 ")
        metrics = httpx.get(f"{running.url}/metrics", trust_env=False).text
        assert 'refusals_total{code="HTTP_INVALID"} 1' in metrics
