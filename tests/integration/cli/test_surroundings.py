"""What the surroundings do to a command is said in words: no traceback, no broken store."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.fleet.builder import FleetBuilder

BINARY = f"{sys.executable} -m agentic_os"


def shell(script: str, current: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["/bin/bash", "-c", script.replace("BINARY", BINARY)],
        capture_output=True,
        text=True,
        cwd=current,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "words", ["search lighthouse", "scan", "doctor", "mcp config --client codex"]
)
def test_in_a_folder_that_was_deleted_the_configured_roots_are_asked(
    fleet: FleetBuilder, tmp_path: Path, words: str
) -> None:
    fleet.project("shop").fact("f", "lighthouse")

    done = shell(
        f"BINARY roots add {fleet.root} && mkdir gone && cd gone && rmdir ../gone"
        f" && BINARY {words}",
        tmp_path,
    )

    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 3), done.stderr


@pytest.mark.parametrize("words", ["search lighthouse", "scan", "aios resolve x"])
def test_without_roots_it_says_what_is_wrong(tmp_path: Path, words: str) -> None:
    done = shell(f"mkdir gone; cd gone; rmdir ../gone; BINARY {words}", tmp_path)

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "does not exist" in done.stderr or "is not a folder" in done.stderr


def test_a_port_in_use_ends_with_1(fleet: FleetBuilder, tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = shell(f"BINARY serve --http --port {port} --root {fleet.root}", tmp_path)

    assert done.returncode == 1
    assert "LISTEN_FAILED" in done.stderr
    assert not done.stderr.startswith("listening")


def test_ctrl_c_ends_a_server_on_stdin(fleet: FleetBuilder) -> None:
    import signal

    process = subprocess.Popen(
        [sys.executable, "-m", "agentic_os", "serve", "--root", str(fleet.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    process.stdin.flush()
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    code = process.wait(30)
    process.stdin.close()
    process.stdout.close()

    assert code == 130
