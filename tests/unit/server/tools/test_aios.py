import json
from pathlib import Path
from typing import Any

import pytest

from agentic_os.aggregate.workspace import Person
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.calls import INTERNAL_ERROR, INVALID_PARAMS, ToolFailureError, call
from support.aios.builder import AiosBuilder


@pytest.fixture
def folder(places: Path) -> AiosBuilder:
    root = places / "aios"
    root.mkdir()
    built = AiosBuilder(root)
    built.write("context/identity.md", "# Identity\n\nI build ships.\n")
    built.write("context/priorities.md", "# Priorities\n\nFloat.\n")
    built.skill("release", "Release a version", "release", "ship it")
    built.project("boat", "# Boat\n\nA boat.\n", id="p_boat", name="Boat", status="active")
    return built


@pytest.fixture
def alone(person: Person) -> ServedPerson:
    return ServedPerson(person=person, roots=())


def answer(served: ServedPerson, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    found = call(served, "aios", name, arguments)
    assert json.loads(found.text) == found.document
    return found.document


def test_the_working_context_is_the_projection(folder: AiosBuilder, alone: ServedPerson) -> None:
    found = answer(alone, "read_working_context", {})

    assert "I build ships." in found["markdown"]
    assert (found["memory"], found["complete"]) == ("shared", True)
    assert found["budget"]["limit"] == 6_000
    assert str(folder.root) not in json.dumps(found)


def test_a_search_finds_and_stays_within_its_budget(
    folder: AiosBuilder, alone: ServedPerson
) -> None:
    found = answer(alone, "search_aios", {"query": "ships", "budget": 4_000})

    assert found["results"]
    assert found["budget"]["used"] <= 4_000
    assert str(folder.root) not in json.dumps(found)


def test_a_reference_that_is_none_is_refused_as_an_answer(
    folder: AiosBuilder, alone: ServedPerson
) -> None:
    found = answer(alone, "search_aios", {"follow": "ds1.nonsense"})

    assert found["status"] == "refused"
    assert folder.root.is_dir()


def test_a_skill_is_found(folder: AiosBuilder, alone: ServedPerson) -> None:
    found = answer(alone, "resolve_skill", {"intent": "release the version"})

    assert [one["name"] for one in found["matches"]] == ["release"]
    assert folder.root.is_dir()


@pytest.mark.parametrize("name", ["read_working_context", "search_aios", "resolve_skill"])
def test_off_needs_no_folder(alone: ServedPerson, name: str) -> None:
    arguments: dict[str, Any] = {"memory": "off"}
    if name == "search_aios":
        arguments["query"] = "x"
    if name == "resolve_skill":
        arguments["intent"] = "x"

    assert answer(alone, name, arguments)["memory"] == "off"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_working_context", {"limit": "three"}),
        ("read_working_context", {"limit": True}),
        ("read_working_context", {"limit": 0}),
        ("read_working_context", {"limit": 11}),
        ("read_working_context", {"budget": 255}),
        ("read_working_context", {"budget": 32_001}),
        ("read_working_context", {"project": " "}),
        ("read_working_context", {"project": "a\x00b"}),
        ("read_working_context", {"project": 7}),
        ("read_working_context", {"memory": "all"}),
        ("read_working_context", {"memory": "project"}),
        ("read_working_context", {"project": "nobody"}),
        ("read_working_context", {"extra": 1}),
        ("search_aios", {}),
        ("search_aios", {"query": " "}),
        ("search_aios", {"query": "x" * 501}),
        ("search_aios", {"query": "x", "scope": "nowhere"}),
        ("search_aios", {"query": "x", "scope": "projects"}),
        ("search_aios", {"query": "x", "project": "a b"}),
        ("search_aios", {"query": "x", "project": "a/b"}),
        ("search_aios", {"query": "x", "limit": 21}),
        ("search_aios", {"query": "x", "budget": 3_529}),
        ("search_aios", {"query": "x", "follow": "ds1.x"}),
        ("search_aios", {"follow": ""}),
        ("search_aios", {"follow": "ds1.x", "limit": 1}),
        ("resolve_skill", {}),
        ("resolve_skill", {"intent": "x", "project": "boat"}),
        ("resolve_skill", {"intent": "x", "memory": "project"}),
        ("resolve_skill", {"intent": "x", "limit": 11}),
    ],
)
def test_wrong_arguments_are_json_rpc_errors(
    folder: AiosBuilder, alone: ServedPerson, name: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(ToolFailureError) as fault:
        call(alone, "aios", name, arguments)

    assert fault.value.code == INVALID_PARAMS
    assert str(folder.root) not in fault.value.message


def test_a_missing_folder_is_said_without_its_path(alone: ServedPerson, places: Path) -> None:
    with pytest.raises(ToolFailureError) as fault:
        call(alone, "aios", "read_working_context", {})

    assert fault.value.code == INVALID_PARAMS
    assert str(places) not in fault.value.message


def test_an_unsafe_source_fails_closed_with_one_message(
    folder: AiosBuilder, alone: ServedPerson, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("not yours")
    (folder.root / "context/work.md").symlink_to(outside)

    with pytest.raises(ToolFailureError) as fault:
        call(alone, "aios", "read_working_context", {})

    assert (fault.value.code, fault.value.message) == (
        INTERNAL_ERROR,
        "the working context could not be read safely",
    )


def test_the_aios_profile_knows_no_fleet_tool(alone: ServedPerson) -> None:
    with pytest.raises(ToolFailureError):
        call(alone, "aios", "search_fleet", {"query": "x"})


def test_a_fleet_that_cannot_be_opened_is_a_result_that_says_why(
    person: Person, tmp_path: Path
) -> None:
    served = ServedPerson(person=person, roots=(str(tmp_path / "nowhere"),))

    found = call(served, "full", "search_fleet", {"query": "x"})

    assert found.failed
    assert found.document["error"]["code"] == "ROOT_MISSING"
