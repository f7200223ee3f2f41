"""The server and projects' own engines: granted ones answer, and none outlives the server."""

import json
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcp import Client
from support.engine.builder import engine_project, hostile_command, row
from support.fleet.builder import FleetBuilder
from support.process.cli_call import call


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def command(fleet: FleetBuilder) -> list[str]:
    return ["-m", "agentic_os", "serve", "--root", str(fleet.root)]


def gone(pid: str) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] in {"Z", "X"}


@pytest.mark.anyio
async def test_a_granted_engine_answers_a_tool_and_memory_off_closes_what_it_closes(
    fleet: FleetBuilder, places: Path, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.json"
    rows.write_text(
        json.dumps([row("a.py", "def lamp(): ..."), row(".agents/memory/f.md", "The lamp.")])
    )
    (places / "config").mkdir()
    (places / "config/projects.toml").write_text("[limits]\nengine_seconds = 120\n")
    project = engine_project(fleet, "shop", hostile_command("plain", rows))
    project.write("a.py", "def lamp(): ...\n")
    project.fact("f", "The lamp.", title="Fact")
    await anyio.to_thread.run_sync(
        lambda: call("roots", "grant", "shop", "--yes", "--root", fleet.root)
    )
    environ = {"HOME": str(places), "AGENTIC_OS_CONFIG_DIR": str(places / "config")}
    parameters = StdioServerParameters(
        command=sys.executable,
        args=command(fleet),
        env={**environ, "AGENTIC_OS_CACHE_DIR": str(places / "cache")},
    )

    async with Client(stdio_client(parameters)) as client:
        shared = await client.call_tool("search_fleet", {"query": "lamp"})
        off = await client.call_tool("search_fleet", {"query": "lamp", "memory": "off"})

    def kinds(result: object) -> list[str]:
        document = getattr(result, "structured_content", None)
        assert document is not None
        assert str(fleet.root) not in json.dumps(document)
        return sorted(hit["kind"] for hit in document["data"]["hits"])

    assert kinds(shared) == ["code", "memory"]
    assert kinds(off) == ["code"]


def test_an_engine_does_not_outlive_the_server(fleet: FleetBuilder, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    engine_project(fleet, "shop", hostile_command("hang", mark))
    assert call("roots", "grant", "shop", "--yes", "--root", fleet.root).code == 0
    server = subprocess.Popen(
        [sys.executable, *command(fleet)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdin is not None
    info = {"name": "test", "version": "1"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
    asked = {"name": "search_fleet", "arguments": {"query": "lamp"}}
    for message in (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": asked},
    ):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()
    for _ in range(1_500):
        if mark.exists() and len(mark.read_text().split()) == 2:
            break
        time.sleep(0.02)
    pids = mark.read_text().split()
    assert not any(map(gone, pids))

    server.stdin.close()
    assert server.wait(timeout=60) == 0

    for _ in range(250):
        if all(map(gone, pids)):
            break
        time.sleep(0.02)
    assert all(map(gone, pids))
