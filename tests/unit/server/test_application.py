"""The application over the library's in-memory transport: what the handlers answer."""

import threading
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp.shared.exceptions import MCPError

from agentic_os.server import application
from agentic_os.server.application import AIOS_SERVER_NAME, SERVER_NAME, make_application
from agentic_os.server.served import ServedPerson
from mcp import Client


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_everything_that_is_listed_can_be_used(served: ServedPerson) -> None:
    async with Client(make_application(lambda: served)) as client:
        tools = (await client.list_tools()).tools
        resources = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        prompts = (await client.list_prompts()).prompts

        assert [len(tools), len(resources), len(templates), len(prompts)] == [6, 3, 3, 2]
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        found: Any = await client.call_tool("search_fleet", {"query": "dunning"})
        assert found.structured_content["data"]["hits"]
        failed = await client.call_tool("fleet_overview", {"projects": ["nobody"]})
        assert failed.is_error
        read: Any = await client.read_resource("fleet://projects")
        assert '"shop"' in read.contents[0].text
        prompt: Any = await client.get_prompt("orient", {})
        assert "fleet_overview" in prompt.messages[0].content.text


@pytest.mark.anyio
async def test_faults_are_errors_of_the_protocol(served: ServedPerson) -> None:
    async with Client(make_application(lambda: served)) as client:
        with pytest.raises(MCPError, match="unknown tool"):
            await client.call_tool("search_everything", {"query": "x"})
        with pytest.raises(MCPError, match="no such resource"):
            await client.read_resource("fleet://nothing")
        with pytest.raises(MCPError, match="unknown prompt"):
            await client.get_prompt("nothing", {})


@pytest.mark.anyio
async def test_the_aios_profile_lists_no_fleet(served: ServedPerson) -> None:
    async with Client(make_application(lambda: served, profile="aios")) as client:
        assert len((await client.list_tools()).tools) == 3
        resources = (await client.list_resources()).resources
        assert [str(one.uri) for one in resources] == ["aios://context"]
        assert (await client.list_resource_templates()).resource_templates == []


def test_the_profiles_have_names_of_their_own(served: ServedPerson) -> None:
    assert make_application(lambda: served).name == SERVER_NAME
    assert make_application(lambda: served, profile="aios").name == AIOS_SERVER_NAME


@pytest.mark.anyio
async def test_long_work_tells_its_progress(
    served: ServedPerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "PROGRESS_SECONDS", 0.0)
    told: list[tuple[float, float | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))
        assert message == "projects"

    async with Client(make_application(lambda: served)) as client:
        await client.call_tool("fleet_overview", {}, progress_callback=tell)

    assert told[-1] == (2, 2)


@pytest.mark.anyio
async def test_quick_work_says_nothing_between(
    served: ServedPerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "PROGRESS_SECONDS", 1_000.0)
    told: list[object] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with Client(make_application(lambda: served)) as client:
        await client.call_tool("fleet_overview", {}, progress_callback=tell)

    assert told == []


@pytest.mark.anyio
async def test_work_ends_once_its_call_is_cancelled(served: ServedPerson) -> None:
    started, cancelled, ended = threading.Event(), threading.Event(), threading.Event()
    context: Any = None
    report = application._reporter(context)

    def work() -> None:
        started.set()
        cancelled.wait(20)
        try:
            report(1, 2)
        except BaseException:
            ended.set()
            raise

    async with anyio.create_task_group() as group:
        group.start_soon(partial(anyio.to_thread.run_sync, work, abandon_on_cancel=True))
        assert await anyio.to_thread.run_sync(started.wait, 20)
        group.cancel_scope.cancel()
    cancelled.set()

    assert await anyio.to_thread.run_sync(ended.wait, 20)
    assert served.roots
