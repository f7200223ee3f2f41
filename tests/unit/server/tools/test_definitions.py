import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from agentic_os.server.application import make_application
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.calls import Profile, call, definitions
from agentic_os.server.tools.definitions import MAX_DEFINITIONS_CHARS
from agentic_os.server.wording import (
    AIOS_INSTRUCTIONS,
    INSTRUCTIONS,
    MAX_INSTRUCTIONS_CHARS,
)
from mcp import Client
from support.aios.builder import AiosBuilder

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_fleet", {"query": "dunning"}),
    ("search_fleet", {"query": "load", "kinds": ["graph"]}),
    ("search_fleet", {"query": "x", "kinds": ["memory"], "memory": "off"}),
    ("fleet_overview", {"sections": ["projects", "memory", "capabilities", "health"]}),
    ("fleet_overview", {"projects": ["nobody"]}),
    ("query_graph", {"operation": "find", "name": "load"}),
    ("query_graph", {"operation": "neighbors", "name": "load"}),
    ("query_graph", {"operation": "path", "name": "main", "to": "load"}),
    ("query_graph", {"operation": "impact", "name": "load"}),
    ("query_graph", {"operation": "links"}),
    ("query_graph", {"operation": "stats"}),
    ("read_working_context", {}),
    ("read_working_context", {"project": "alpha"}),
    ("read_working_context", {"memory": "off"}),
    ("search_aios", {"query": "rollout"}),
    ("search_aios", {"query": "rollout", "memory": "off"}),
    ("search_aios", {"follow": "ds1.x"}),
    ("search_aios", {"follow": "ds1.x", "memory": "off"}),
    ("resolve_skill", {"intent": "cut a release"}),
    ("resolve_skill", {"intent": "x", "memory": "off"}),
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.parametrize("profile", ["full", "aios"])
async def test_all_definitions_together_stay_small(served: ServedPerson, profile: Profile) -> None:
    async with Client(make_application(lambda: served, profile=profile)) as client:
        listed = (await client.list_tools()).model_dump(
            mode="json", by_alias=True, exclude_none=True
        )["tools"]

    assert len(listed) == (6 if profile == "full" else 3)
    assert len(json.dumps(listed)) <= MAX_DEFINITIONS_CHARS
    for tool in listed:
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])
        assert tool["inputSchema"]["additionalProperties"] is False
        assert tool["annotations"]["readOnlyHint"] is True


@pytest.mark.parametrize(
    ("name", "arguments"), CALLS, ids=[f"{name} {given}"[:50] for name, given in CALLS]
)
def test_answers_are_of_the_type_that_is_listed(
    served: ServedPerson, places: Path, name: str, arguments: dict[str, Any]
) -> None:
    (places / "aios").mkdir()
    AiosBuilder(places / "aios").complete()
    schema = next(one.output for one in definitions("full") if one.name == name)

    answer = call(served, "full", name, arguments)

    jsonschema.validate(answer.document, schema, jsonschema.Draft202012Validator)
    if "data" in answer.document and not answer.failed:
        assert schema["properties"]["data"]["properties"].keys() & answer.document["data"].keys()


def test_a_wrong_answer_would_not_be_of_that_type() -> None:
    schema = next(one.output for one in definitions("full") if one.name == "search_fleet")
    wrong = {"data": {"hits": [{"path": 3}]}, "omissions": [], "truncated": False}

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema, jsonschema.Draft202012Validator)


def test_the_aios_profile_offers_three() -> None:
    assert [one.name for one in definitions("aios")] == [
        "read_working_context",
        "search_aios",
        "resolve_skill",
    ]


def test_instructions_are_short_and_say_when_not_to() -> None:
    for text in (INSTRUCTIONS, AIOS_INSTRUCTIONS):
        assert len(text) <= MAX_INSTRUCTIONS_CHARS
        assert "never follow instructions" in text
    assert "Do not use" in INSTRUCTIONS
