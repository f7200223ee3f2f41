"""A real client of the protocol's library talks to the real server process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from agentic_os.results import MODES
from mcp import Client
from support.aios.builder import AiosBuilder
from support.model.prepared import lend_minilm

FLEET = Path(__file__).parents[2] / "examples/fleet"
PARENT = """
import pathlib, subprocess, sys, time
command = [sys.executable, "-m", "agentic_os", "serve"]
server = subprocess.Popen(command, stdin=int(sys.argv[1]), stdout=subprocess.DEVNULL)
pathlib.Path(sys.argv[2]).write_text(str(server.pid))
time.sleep(60)
"""
NOISE = """
import os, sys
print("a noisy dependency")
sys.stdout.flush()
os.write(1, b"straight to the descriptor\\n")
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def folder(places: Path) -> AiosBuilder:
    (places / "aios").mkdir()
    built = AiosBuilder(places / "aios")
    built.write("context/identity.md", "# Identity\n\nI keep the books.\n")
    return built


@asynccontextmanager
async def session(mode: str, *, extra: dict[str, str] | None = None) -> AsyncIterator[Any]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "agentic_os", "serve", "--root", str(FLEET)],
        env={**os.environ, **(extra or {})},
    )
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_session_from_overview_to_context(mode: str, folder: AiosBuilder) -> None:
    async with session(mode) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) == 6
        assert all(tool.annotations.read_only_hint for tool in tools)

        overview = await client.call_tool("fleet_overview", {"budget": 32_000})
        names = {row["name"] for row in overview.structured_content["data"]["rows"]}
        assert {"billing", "handbook", "auth"} <= names

        found = await client.call_tool("search_fleet", {"query": "dunning starts"})
        hit = found.structured_content["data"]["hits"][0]
        assert hit["path"] == ".agents/memory/project_retry-policy.md"

        source = await client.read_resource(f"fleet://source/{hit['project']}/{hit['path']}")
        assert "dunning starts" in source.contents[0].text
        link = next(part for part in found.content if part.type == "resource_link")
        around = await client.read_resource(link.uri)
        assert around.contents[0].text.startswith("[lines 1-")
        assert "dunning starts" in around.contents[0].text

        graph = await client.call_tool("query_graph", {"operation": "impact", "name": "post_entry"})
        assert "reverse_entry" in str(graph.structured_content)

        context = await client.call_tool("read_working_context", {})
        assert "I keep the books." in context.structured_content["markdown"]

        prompt = await client.get_prompt("orient", {"topic": "payments"})
        assert "payments" in prompt.messages[0].content.text
    assert folder.root.is_dir()


@pytest.mark.anyio
async def test_what_is_wrong_with_a_call_is_an_error_of_the_protocol() -> None:
    async with session("auto") as client:
        for name, arguments in (
            ("search_aios", {"query": "x", "unknown": 1}),
            ("read_working_context", {}),
            ("nothing", {}),
        ):
            with pytest.raises(MCPError):
                await client.call_tool(name, arguments)
        with pytest.raises(MCPError):
            await client.read_resource("fleet://source/x/../../etc/passwd")
        with pytest.raises(MCPError):
            await client.get_prompt("nothing")


@pytest.mark.anyio
async def test_a_noisy_dependency_cannot_break_the_session(tmp_path: Path) -> None:
    (tmp_path / "noise").mkdir()
    # Imported by the search, after the protocol has taken stdout over.
    (tmp_path / "noise/sitecustomize.py").write_text(
        "import builtins\n_import = builtins.__import__\n"
        "def noisy(name, *rest, **named):\n"
        "    if name == 'agentic_os.tiers.route':\n"
        "        " + NOISE.strip().replace("\n", "\n        ") + "\n"
        "    return _import(name, *rest, **named)\n"
        "builtins.__import__ = noisy\n"
    )
    async with session("auto", extra={"PYTHONPATH": str(tmp_path / "noise")}) as client:
        found = await client.call_tool("search_fleet", {"query": "dunning"})

    assert found.structured_content["data"]["hits"]


@pytest.mark.anyio
async def test_every_mode_is_answered_and_a_new_index_is_seen(places: Path) -> None:
    lend_minilm(places / "data")
    build = [sys.executable, "-m", "agentic_os", "index", "build", "--root", str(FLEET)]
    question = "waiting before trying the payment again"

    async with session("auto") as client:

        async def ask(mode: str) -> Any:
            return await client.call_tool(
                "search_fleet", {"query": question, "mode": mode, "details": True}
            )

        refused = await ask("semantic")
        before = (await ask("auto")).structured_content
        done = await anyio.run_process(build)
        after = {mode: (await ask(mode)).structured_content for mode in MODES}

    assert refused.is_error
    assert "SEMANTIC_UNAVAILABLE" in refused.content[0].text
    assert done.returncode == 0
    assert before["data"]["coverage"]["embedder"] is None
    said = {mode: found["data"]["coverage"]["embedder"] for mode, found in after.items()}
    assert said.pop("lexical") is None
    assert set(said.values()) == {"all-MiniLM-L6-v2"}
    first = after["semantic"]["data"]["hits"][0]
    assert first["path"] == ".agents/memory/project_retry-policy.md"
    assert first["confirmed"]
    assert after["hybrid"]["data"]["hits"] == after["auto"]["data"]["hits"]


@pytest.mark.anyio
async def test_many_calls_at_once_are_all_answered() -> None:
    answers: list[int] = []

    async with session("auto") as client:

        async def ask(number: int) -> None:
            found = await client.call_tool(
                "search_fleet", {"query": "rate limit", "limit": 1 + number % 5}
            )
            answers.append(len(found.structured_content["data"]["hits"]))

        async with anyio.create_task_group() as group:
            for number in range(16):
                group.start_soon(ask, number)

    assert sorted(answers) == sorted(1 + number % 5 for number in range(16))


def started(**named: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "agentic_os", "serve", "--root", str(FLEET)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        **named,
    )


def test_the_server_ends_when_stdin_closes() -> None:
    with started() as process:
        assert process.stdin is not None
        process.stdin.close()

        assert process.wait(timeout=30) == 0


def test_the_server_ends_when_its_parent_dies(tmp_path: Path) -> None:
    # The pipe stays open in this process, so only the parent's death can end the server.
    reading, writing = os.pipe()
    note = tmp_path / "pid"
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            PARENT,
            str(reading),
            str(note),
        ],
        pass_fds=[reading],
        cwd=FLEET,
    )
    try:
        until = time.monotonic() + 30
        while not (note.exists() and note.read_text()) and time.monotonic() < until:
            time.sleep(0.05)
        server = int(note.read_text())
        # It looks for its parent in a thread of its own, which comes last when it starts.
        while len(_threads(server)) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        parent.send_signal(signal.SIGKILL)
        parent.wait(timeout=10)
        until = time.monotonic() + 30
        while _alive(server) and time.monotonic() < until:
            time.sleep(0.1)

        assert not _alive(server)
    finally:
        parent.kill()
        os.close(reading)
        os.close(writing)


def _threads(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/task").iterdir())


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"
