from typing import Any

import pytest
from mcp_types import PromptReference

from agentic_os.server.application import make_application
from agentic_os.server.completion import complete
from agentic_os.server.served import ServedPerson
from mcp import Client
from support.fleet.builder import FleetBuilder, ProjectBuilder


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_projects_are_completed_by_name_and_id(served: ServedPerson) -> None:
    found = complete(served, "project", "SH", {})

    assert "shop" in found
    assert any(one.startswith("shop-") for one in found)
    assert complete(served, "project", "nothing", {}) == ()
    assert complete(served, "topic", "", {}) == ()


def test_skills_are_those_of_the_project(served: ServedPerson, fleet: FleetBuilder) -> None:
    ProjectBuilder(folder=fleet.root / "shop").capabilities(skills={"release": "Cuts a release"})
    fleet.project("dock").capabilities(skills={"repair": "Repairs"})

    assert complete(served, "skill", "re", {}) == ("release", "repair")
    assert complete(served, "skill", "re", {"project": "dock"}) == ("repair",)


@pytest.mark.anyio
async def test_a_client_is_told(served: ServedPerson) -> None:
    async with Client(make_application(lambda: served)) as client:
        reference = PromptReference(type="ref/prompt", name="hand_over")
        found: Any = await client.complete(reference, {"name": "project", "value": "sho"})

    assert found.completion.values[0] == "shop"
    assert found.completion.has_more is False
