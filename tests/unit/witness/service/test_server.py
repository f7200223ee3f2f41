"""The runner as a process: start, graceful stop, and what keeps it from starting."""

import builtins
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentic_os.witness.client.submission import build_bookmark
from agentic_os.witness.protocol.json import read_receipt, write_request
from agentic_os.witness.service import server as server_module
from agentic_os.witness.service.config import read_witness_config
from agentic_os.witness.service.http import WitnessService
from agentic_os.witness.service.server import open_desk
from support.witness.actors import Owner, desk_of, new_witness

SERVER = (
    "import sys; from pathlib import Path;"
    "from agentic_os.witness.service.config import read_witness_config;"
    "from agentic_os.witness.service.server import serve_witness;"
    "serve_witness(read_witness_config(Path(sys.argv[1])),"
    " started=lambda host, port: print(port, flush=True))"
)


@contextmanager
def started(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        output = server.stdout
        assert output
        with output:
            yield server, int(output.readline())
    finally:
        server.kill()
        server.wait(20)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_graceful_stop_keeps_what_was_answered(tmp_path: Path, number: int) -> None:
    folder = new_witness(tmp_path / "w")
    (folder / "witness.toml").write_text("port = 0\n")
    owner = Owner(seed=1).add(3)
    with started(folder) as (server, port):
        request = build_bookmark(owner.ledger(), ordinal=3, old_size=None, binds=False)
        url = f"http://127.0.0.1:{port}/witness/bookmark"
        answer = httpx.post(url, content=write_request(request))
        server.send_signal(number)
        code = server.wait(20)

    assert read_receipt(answer.content).ordinal == 3
    assert code == 0
    assert not (folder / "witness.db-wal").exists()
    desk = open_desk(read_witness_config(folder))
    state = desk.store.read.identity(owner.ledger().identity_id)
    desk.store.close()
    assert state
    assert state.bookmark
    assert state.bookmark.ordinal == 3


def test_what_is_in_flight_is_answered_before_it_stops(tmp_path: Path) -> None:
    folder = new_witness(tmp_path / "w")
    (folder / "witness.toml").write_text("port = 0\n")
    owner = Owner(seed=1).add(3)
    body = write_request(build_bookmark(owner.ledger(), ordinal=3, old_size=None, binds=False))
    with started(folder) as (server, port):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
            head = f"POST /witness/bookmark HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}"
            line.sendall(head.encode() + b"\r\n\r\n" + body[:100])
            time.sleep(0.3)  # it has begun to read
            server.send_signal(signal.SIGTERM)
            time.sleep(0.3)  # it has begun to stop
            with pytest.raises(OSError, match="refused"):
                socket.create_connection(("127.0.0.1", port), timeout=5)
            line.sendall(body[100:])
            answer = line.recv(65536)
        code = server.wait(20)

    assert answer.startswith(b"HTTP/1.1 201 ")
    assert code == 0
    desk = open_desk(read_witness_config(folder))
    state = desk.store.read.identity(owner.ledger().identity_id)
    desk.store.close()
    assert state is not None


def test_it_runs_without_the_faster_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """uvloop has no build for some platforms."""
    factory = server_module._fast_loop()
    assert factory is not None
    loop = factory()
    assert "uvloop" in type(loop).__module__
    loop.close()
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert server_module._fast_loop() is None


def test_no_library_takes_a_connection_past_the_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that speaks WebSocket would, where it is installed; it is not even looked for."""
    config = read_witness_config(new_witness(tmp_path / "w"))
    asked: list[str] = []
    real = builtins.__import__

    def watched(name: str, *rest: Any, **words: Any) -> Any:
        asked.append(name)
        return real(name, *rest, **words)

    with desk_of(config) as desk:
        server = server_module._server(WitnessService(desk), config)
        monkeypatch.setattr(builtins, "__import__", watched)
        server.config.load()
        monkeypatch.undo()
    assert server.config.ws_protocol_class is None
    assert not {"websockets", "wsproto"} & {name.partition(".")[0] for name in asked}


def test_a_port_that_is_taken_is_said_so(tmp_path: Path) -> None:
    folder = new_witness(tmp_path / "w")
    (folder / "witness.toml").write_text("port = 0\n")
    with started(folder) as (_, port):
        other = new_witness(tmp_path / "w2")
        (other / "witness.toml").write_text(f"port = {port}\n")
        second = subprocess.run(
            [sys.executable, "-c", SERVER, str(other)],
            capture_output=True,
            timeout=30,
            check=False,
        )

    assert second.returncode != 0
    assert b"LISTEN_FAILED" in second.stderr or b"cannot listen on" in second.stderr


def test_keys_without_their_database_do_not_serve(tmp_path: Path) -> None:
    folder = new_witness(tmp_path / "w")
    (folder / "witness.db").unlink()
    run = subprocess.run(
        [sys.executable, "-c", SERVER, str(folder)], capture_output=True, timeout=30, check=False
    )

    assert run.returncode != 0
    assert b"there is no database witness.db beside the keys" in run.stderr
    assert not (folder / "witness.db").exists()
