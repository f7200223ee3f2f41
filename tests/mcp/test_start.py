"""``initialize`` is answered before anything heavy is loaded, and before anything is opened."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

FLEET = Path(__file__).parents[2] / "examples/fleet"
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
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "fleet_overview", "arguments": {}},
}
ANSWERING = frozenset({"sqlite3", "yaml", "tomli", "numpy", "onnxruntime", "lancedb", "networkx"})
"""Libraries that an answer may need, and the session's beginning does not."""
ROOMS = frozenset(
    {"aggregate", "aios", "code", "crypto", "doctor", "files", "models"}
    | {"registry", "results", "settings", "text", "tiers"}
)
WATCH = """
import os, sys
_PLACES = {places!r}
def _watch(event, arguments):
    if event in {{"open", "os.listdir", "os.scandir", "os.mkdir", "sqlite3.connect"}}:
        name = arguments[0]
        name = os.fsdecode(name) if isinstance(name, (str, bytes)) else repr(name)
        if any(name.startswith(place) for place in _PLACES):
            os.write(2, f"\\nOPENED {{event}} {{name}}\\n".encode())
sys.addaudithook(_watch)
"""
_IMPORT = re.compile(r"^import time:\s+\d+ \|\s+\d+ \|\s*(\S+)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the coverage of this run out of the processes whose imports are read."""
    for name in os.environ:
        if name.startswith("COVERAGE_PROCESS"):
            monkeypatch.delenv(name)


def served(
    *messages: dict[str, Any], answers: int, environ: dict[str, str] | None = None
) -> tuple[list[dict[str, Any]], str]:
    """What a server answers to some messages, and what it writes on stderr meanwhile."""
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(
            [sys.executable, "-X", "importtime", "-m", "agentic_os", "serve", "--root", str(FLEET)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=words,
            env={**os.environ, **(environ or {})},
        )
        with process:
            assert process.stdin is not None
            assert process.stdout is not None
            for message in messages:
                process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            lines = [json.loads(process.stdout.readline()) for _ in range(answers)]
            process.communicate(timeout=60)
        words.seek(0)
        return lines, words.read().decode()


def loaded(words: str) -> set[str]:
    """Packages, and of this one its rooms."""
    names = [name.split(".") for name in _IMPORT.findall(words)]
    return {".".join(one[:2]) if one[0] == "agentic_os" else one[0] for one in names}


def test_initialize_needs_neither_the_fleet_nor_the_aios_folder(places: Path) -> None:
    (answer,), words = served(INITIALIZE, answers=1)

    assert answer["result"]["protocolVersion"] == "2025-11-25"
    assert "agentic_os.server" in loaded(words)
    assert loaded(words) & ANSWERING == set()
    assert loaded(words) & {f"agentic_os.{room}" for room in ROOMS} == set()
    assert not (places / "cache").exists()


def test_nothing_is_opened_before_the_first_question(places: Path, tmp_path: Path) -> None:
    (places / "aios").mkdir()
    (places / "aios/aios.json").write_text('{"schema_version": "1.2.0"}')
    watched = [str(FLEET), str(places)]
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch/sitecustomize.py").write_text(WATCH.format(places=watched))
    environ = {"PYTHONPATH": str(tmp_path / "watch")}

    _, before = served(INITIALIZE, answers=1, environ=environ)
    _, asked = served(INITIALIZE, INITIALIZED, CALL, answers=2, environ=environ)

    assert "OPENED" not in before
    assert "OPENED" in asked
    assert loaded(asked) >= {"sqlite3", "agentic_os.registry"}


def test_the_hook_loads_neither_the_protocol_nor_any_search(places: Path) -> None:
    (places / "aios").mkdir()
    (places / "aios/aios.json").write_text('{"schema_version": "1.2.0"}')
    command = [sys.executable, "-X", "importtime", "-m", "agentic_os", "hook", "session-start"]
    asked = json.dumps({"cwd": str(FLEET / "billing")}).encode()

    finished = subprocess.run(
        [*command, "--root", str(FLEET)], input=asked, capture_output=True, check=True, timeout=60
    )

    words = finished.stderr.decode()
    names = set(_IMPORT.findall(words))
    answer = json.loads(finished.stdout)["hookSpecificOutput"]["additionalContext"]
    assert "Memory: Shared" in answer
    assert "## Fleet: billing" in answer
    assert {"agentic_os.aios.context.selection", "agentic_os.aggregate.store.database"} <= names
    assert loaded(words) & {"mcp", "pydantic", "anyio", "starlette", "agentic_os.tiers"} == set()
    assert not {
        name for name in names if name.startswith(("agentic_os.aios.search.request", "mcp"))
    }
