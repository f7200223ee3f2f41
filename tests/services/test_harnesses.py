"""Real harness programs, set up by ``mcp install``, list the server as connected.

``.ci/services`` installs them by npm into ``build/harnesses``; ``AGENTIC_OS_HARNESSES`` names
another folder of programs. The person's own environment moves every place, as it may on a real
machine. Codex connects only in a session, so one is run against a model's interface on loopback.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from support.aios.builder import AiosBuilder
from support.fleet.builder import FleetBuilder
from support.process.cli_process import run

pytestmark = [pytest.mark.services, pytest.mark.timeout(600)]

INSTALLED = Path(__file__).parents[2] / "build/harnesses/node_modules/.bin"
PROGRAMS = Path(os.environ.get("AGENTIC_OS_HARNESSES", INSTALLED))
CLIENTS = {"claude-code": "claude", "codex": "codex", "gemini": "gemini", "opencode": "opencode"}
LISTED = {"claude-code": "Connected", "gemini": "Connected", "opencode": "connected"}
SECONDS = 180


@pytest.fixture
def person(
    fleet: FleetBuilder, places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """A person whose places are all moved, and whose folders have blanks in their names."""
    fleet.project("shop").fact("f", "lighthouse")
    aios = tmp_path / "my aios"
    aios.mkdir()
    AiosBuilder(aios).complete()
    moved = {
        "DOTAIOS_PATH": str(aios),
        "XDG_CONFIG_HOME": str(tmp_path / "my config"),
        "CODEX_HOME": str(tmp_path / "my codex"),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "my claude"),
        "GEMINI_CLI_HOME": str(tmp_path / "my gemini"),
        # Its own switch; without it Gemini CLI starts no server in a folder it was not asked about.
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "PATH": os.pathsep.join(
            [str(PROGRAMS), str(Path(sys.executable).parent), os.environ["PATH"]]
        ),
        "HOME": str(places),
    }
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME"):
        Path(moved[name]).mkdir()
    for name, value in moved.items():
        monkeypatch.setenv(name, value)
    assert run("roots", "add", fleet.root).code == 0
    return moved


def harness(*words: str, current: Path) -> str:
    """What a harness prints on both streams."""
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=current,
        timeout=SECONDS,
        check=False,
    )
    return done.stdout.decode("utf-8", "replace")


@pytest.mark.parametrize("client", sorted(CLIENTS))
@pytest.mark.usefixtures("person")
def test_what_was_installed_starts_as_the_client_starts_it(client: str) -> None:
    first = run("mcp", "install", "--client", client)
    second = run("mcp", "install", "--client", client)
    checked = run("mcp", "check", "--client", client, "--json")

    assert (first.code, second.code) == (0, 0), first.words + second.words
    assert "already there" in second.words
    assert (checked.data["projects"], checked.data["aios"]) == (1, "ok")


@pytest.mark.parametrize("client", sorted(LISTED))
@pytest.mark.usefixtures("person")
def test_the_client_lists_the_server_as_connected(client: str, fleet: FleetBuilder) -> None:
    installed = run("mcp", "install", "--client", client)
    assert installed.code == 0, installed.words

    said = harness(CLIENTS[client], "mcp", "list", current=fleet.root)

    assert any("agentic-os" in line and LISTED[client] in line for line in said.splitlines()), said


def event(number: int, item: Mapping[str, Any]) -> bytes:
    """One answer of the model: an item, and the end."""
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    response = {"id": f"r{number}"}
    events: tuple[dict[str, Any], ...] = (
        {"type": "response.created", "response": response},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {**response, "usage": usage}},
    )
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events)


@contextmanager
def model() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A model on loopback that asks for the server's resources, then ends; what it was told."""
    told: list[dict[str, Any]] = []
    asks = {
        "type": "function_call",
        "call_id": "c1",
        "name": "list_mcp_resources",
        "arguments": '{"server": "agentic-os"}',
    }
    ends = {
        "type": "message",
        "role": "assistant",
        "id": "m1",
        "content": [{"type": "output_text", "text": "done"}],
    }

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            body = event(len(told), asks if len(told) == 1 else ends)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", told
        finally:
            server.shutdown()


@pytest.mark.usefixtures("person")
def test_codex_reads_the_servers_resources_and_offers_its_tools(fleet: FleetBuilder) -> None:
    assert run("mcp", "install", "--client", "codex").code == 0

    with model() as (url, told):
        settings = {
            "model_provider": '"here"',
            "model": '"none"',
            "model_providers.here.name": '"here"',
            "model_providers.here.base_url": f'"{url}"',
            "model_providers.here.wire_api": '"responses"',
        }
        options = [word for item in settings.items() for word in ("-c", "=".join(item))]
        said = harness(
            "codex", "exec", "--skip-git-repo-check", *options, "say hi", current=fleet.root
        )

    assert len(told) == 2, said
    answers = [one["output"] for one in told[1]["input"] if one["type"] == "function_call_output"]
    assert "fleet://projects" in str(answers)
    assert "search_fleet" in json.dumps(told[1]["tools"])
