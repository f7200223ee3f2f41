"""A server that many calls, cancellations and a changing fleet meet at once."""

import os
import shutil
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from agentic_os.aggregate.workspace import Person
from agentic_os.server.application import MAX_THREADS, make_application
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools import calls
from agentic_os.server.tools.calls import ToolAnswer
from mcp import Client
from support.fleet.builder import FleetBuilder
from support.process.cli_process import run

WAIT_SECONDS = 60


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def served(fleet: FleetBuilder, person: Person) -> ServedPerson:
    fleet.project("shop").fact("retry", "Four tries, then dunning.", title="Retry")
    return ServedPerson(person=person, roots=(str(fleet.root),))


@pytest.mark.anyio
async def test_a_slow_call_blocks_no_other(
    served: ServedPerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, begun, real = threading.Event(), threading.Semaphore(0), calls.call
    ended: list[str] = []

    def slow(served: ServedPerson, profile: Any, name: str, arguments: Any) -> ToolAnswer:
        if name == "fleet_overview":
            begun.release()
            assert held.wait(WAIT_SECONDS)
        return real(served, profile, name, arguments)

    monkeypatch.setattr(calls, "call", slow)
    async with (
        Client(make_application(lambda: served)) as client,
        anyio.create_task_group() as group,
    ):

        async def ask(name: str, arguments: dict[str, Any]) -> None:
            await client.call_tool(name, arguments)
            ended.append(name)

        for _ in range(MAX_THREADS - 1):
            group.start_soon(ask, "fleet_overview", {})
        for _ in range(MAX_THREADS - 1):
            assert await anyio.to_thread.run_sync(begun.acquire, True, WAIT_SECONDS)
        await ask("search_fleet", {"query": "dunning"})
        assert ended == ["search_fleet"], "all but one thread are busy"
        held.set()

    assert len(ended) == MAX_THREADS


@pytest.mark.anyio
async def test_a_walk_of_the_fleet_blocks_no_answer_of_the_aios_folder(
    served: ServedPerson,
) -> None:
    async with (
        Client(make_application(lambda: served)) as client,
        anyio.create_task_group() as group,
    ):
        answered = anyio.Event()

        async def search() -> None:
            await client.call_tool("search_fleet", {"query": "dunning"})
            answered.set()

        assert served.fleet.looking.acquire(timeout=WAIT_SECONDS)
        try:
            group.start_soon(search)
            found: Any = await client.call_tool("read_working_context", {"memory": "off"})
            assert found.structured_content["receipt"] == "Memory: Off"
            assert not answered.is_set()
        finally:
            served.fleet.looking.release()
        await answered.wait()


@pytest.mark.anyio
async def test_a_cancelled_call_ends_its_work_and_the_session_goes_on(
    served: ServedPerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended, real = threading.Event(), threading.Event(), calls.call

    def endless(served: ServedPerson, profile: Any, name: str, arguments: Any) -> ToolAnswer:
        if name != "fleet_overview":
            return real(served, profile, name, arguments)
        try:
            for done in range(WAIT_SECONDS * 100):
                begun.set()
                served.progress(done, done + 1)
                threading.Event().wait(0.01)
        finally:
            ended.set()
        message = "nobody ended it"
        raise AssertionError(message)

    monkeypatch.setattr(calls, "call", endless)
    async with Client(make_application(lambda: served)) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "fleet_overview", {})
            assert await anyio.to_thread.run_sync(begun.wait, WAIT_SECONDS)
            assert not ended.is_set()
            group.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(ended.wait, WAIT_SECONDS / 2)
        found: Any = await client.call_tool("search_fleet", {"query": "dunning"})

    assert found.structured_content["data"]["hits"]


@pytest.mark.anyio
async def test_edits_and_a_store_that_is_built_anew_are_seen_without_a_restart(
    fleet: FleetBuilder, places: Path
) -> None:
    shop = fleet.project("shop")
    shop.fact("retry", "Four tries.", title="Retry")
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "agentic_os", "serve", "--root", str(fleet.root)],
        env=dict(os.environ),
    )
    async with Client(stdio_client(parameters)) as client:

        async def found(word: str) -> list[str]:
            answer: Any = await client.call_tool("search_fleet", {"query": word})
            return [hit["snippet"] for hit in answer.structured_content["data"]["hits"]]

        assert await found("lighthouse") == []
        assert len(await found("tries")) == 1

        shop.fact("lamp", "The lighthouse turns.")
        assert len(await found("lighthouse")) == 1

        # Another process deletes the store and builds it anew, with what was written meanwhile.
        shop.fact("lamp", "The lighthouse stands.")
        for words in (["purge"], ["aggregate", "--root", str(fleet.root)]):
            finished = await anyio.to_thread.run_sync(partial(run, *words))
            assert finished.code == 0, finished.words
        (snippet,) = await found("lighthouse")
        assert "stands" in snippet

        shutil.rmtree(places / "cache")
        assert len(await found("lighthouse")) == 1

        (places / "cache").mkdir(exist_ok=True)
        for store in (places / "cache").rglob("fleet.db"):
            store.write_bytes(b"no database at all")
        assert len(await found("lighthouse")) == 1
