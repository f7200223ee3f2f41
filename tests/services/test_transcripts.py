"""Transcripts that the real Claude Code, Codex and Gemini CLI write are captured.

Each runs one session against a model's interface on loopback; nothing leaves the machine. The
programs are those of ``test_harnesses``.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from support.process.cli_process import run

pytestmark = [pytest.mark.services, pytest.mark.timeout(600)]

INSTALLED = Path(__file__).parents[2] / "build/harnesses/node_modules/.bin"
PROGRAMS = Path(os.environ.get("AGENTIC_OS_HARNESSES", INSTALLED))
SECONDS = 180


def codex_answer(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of the interface that Codex speaks."""
    item = {
        "type": "message",
        "role": "assistant",
        "id": "m1",
        "content": [{"type": "output_text", "text": text}],
    }
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        ("response.created", {"type": "response.created", "response": {"id": "r"}}),
        ("response.output_item.done", {"type": "response.output_item.done", "item": item}),
        (
            "response.completed",
            {"type": "response.completed", "response": {"id": "r", "usage": usage}},
        ),
    ]


def claude_answer(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of the interface that Claude Code speaks."""
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-none",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    start = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": text}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    return [
        ("message_start", {"type": "message_start", "message": message}),
        (
            "content_block_start",
            {"type": "content_block_start", "index": 0, "content_block": start},
        ),
        ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
        ("message_delta", {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}}),
        ("message_stop", {"type": "message_stop"}),
    ]


def gemini_answer(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The one event of the interface that Gemini CLI speaks."""
    part = {"role": "model", "parts": [{"text": text}]}
    candidate = {"content": part, "finishReason": "STOP", "index": 0}
    return [("", {"candidates": [candidate], "usageMetadata": {"totalTokenCount": 2}})]


@contextmanager
def model(events: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """A model on loopback that always says the same; its address."""
    lines = (f"event: {name}\n" if name else "" for name, _ in events)
    said = (f"data: {json.dumps(data)}\n\n" for _, data in events)
    body = "".join(line + data for line, data in zip(lines, said, strict=True))

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def session(words: list[str], current: Path) -> str:
    """What a program prints in one session."""
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


@pytest.fixture
def work(places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work folder of a person who has an AIOS folder and moved the agents' folders."""
    tools = [str(PROGRAMS), str(Path(sys.executable).parent), os.environ["PATH"]]
    moved = {
        "PATH": os.pathsep.join(tools),
        "HOME": str(places),
        "CODEX_HOME": str(tmp_path / "my codex"),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "my claude"),
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    }
    for name, value in moved.items():
        monkeypatch.setenv(name, value)
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        Path(moved[name]).mkdir()
    folder = tmp_path / "work"
    folder.mkdir()
    assert run("aios", "init", "--yes").code == 0
    return folder


def captured(agent: str) -> tuple[str, str]:
    """Import an agent's newest conversation: the outcome and the body."""
    done = run("aios", "capture", "import", agent, "--json")
    assert done.code == 0, done.words
    result = done.data["sessions"][0]["result"]
    folder = Path(os.environ["DOTAIOS_PATH"])
    return str(result["outcome"]), (folder / str(result["path"])).read_text("utf-8")


def test_codex(work: Path) -> None:
    with model(codex_answer("The flag is renamed.")) as url:
        settings = {
            "model_provider": '"here"',
            "model": '"none"',
            "model_providers.here.name": '"here"',
            "model_providers.here.base_url": f'"{url}/v1"',
            "model_providers.here.wire_api": '"responses"',
        }
        options = [word for item in settings.items() for word in ("-c", "=".join(item))]
        words = ["codex", "exec", "--skip-git-repo-check", *options]
        said = session([*words, "Rename the flag"], work)
        outcome, text = captured("codex")
        assert outcome == "created", said
        session([*words, "resume", "--last", "And the other one"], work)
    body = text.split("\n---\n", 1)[1]
    assert body.count("Rename the flag") == 1
    assert body.count("The flag is renamed.") == 1
    assert "environment_context" not in body
    outcome, text = captured("codex")
    assert outcome == "grown"
    assert text.count("And the other one") >= 1


def test_claude_code(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with model(claude_answer("The flag is renamed.")) as url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        said = session(["claude", "-p", "Rename the flag"], work)
        outcome, text = captured("claude-code")
        assert outcome == "created", said
        session(["claude", "-p", "--continue", "And the other one"], work)
    body = text.split("\n---\n", 1)[1]
    assert body.count("Rename the flag") == 1
    assert body.count("The flag is renamed.") == 1
    outcome, text = captured("claude-code")
    assert outcome == "grown"
    assert "And the other one" in text


def test_gemini(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Path(os.environ["HOME"]) / ".gemini/settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))
    monkeypatch.setenv("GEMINI_API_KEY", "none")
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")
    with model(gemini_answer("The flag is renamed.")) as url:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", url)
        said = session(["gemini", "-m", "gemini-2.5-flash", "-p", "Rename the flag"], work)
    outcome, text = captured("gemini")
    assert outcome == "created", said
    body = text.split("\n---\n", 1)[1]
    assert body.count("Rename the flag") == 1
    assert body.count("The flag is renamed.") == 1
    assert "session_context" not in body
