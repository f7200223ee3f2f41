from pathlib import Path

import pytest

from agentic_os.server.resources import read_resource
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.calls import (
    AIOS_FAILED,
    CONTEXT_FAILED,
    INTERNAL_ERROR,
    ToolFailureError,
    call,
)
from support.aios.builder import AiosBuilder


def test_a_fleet_failure_is_a_result_that_says_what_to_do(served: ServedPerson) -> None:
    answer = call(served, "full", "fleet_overview", {"projects": ["nobody"]})

    assert answer.failed
    assert answer.document["error"]["code"] == "PROJECT_UNKNOWN"
    assert answer.text.startswith("PROJECT_UNKNOWN: ")
    assert answer.document["data"] == {}


@pytest.mark.parametrize("name", ["search_fleet", "fleet_overview", "query_graph"])
def test_a_wrong_argument_is_an_error_that_names_it(served: ServedPerson, name: str) -> None:
    answer = call(served, "full", name, {"projekts": 1, "query": "x", "operation": "stats"})

    assert answer.failed
    assert answer.document["error"] == {
        "code": "ARGUMENT_INVALID",
        "message": "unknown argument 'projekts'",
        "hint": "Did you mean `projects`?",
    }
    assert answer.text.startswith("ARGUMENT_INVALID: ")


def test_the_aios_tools_read_what_clients_send(served: ServedPerson, places: Path) -> None:
    (places / "aios").mkdir()
    AiosBuilder(places / "aios").complete()

    plain = call(served, "aios", "read_working_context", {"limit": 2, "budget": 5_000})
    sent = {"limit": "2", "budget": 5_000.0, "memory": None, "project": None}
    found = call(served, "aios", "read_working_context", sent)

    assert found.document["markdown"] == plain.document["markdown"]


def test_the_aios_profile_knows_no_fleet_tool(served: ServedPerson) -> None:
    with pytest.raises(ToolFailureError, match="unknown tool"):
        call(served, "aios", "search_fleet", {"query": "x"})


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("read_working_context", {}, CONTEXT_FAILED),
        ("search_aios", {"query": "x"}, AIOS_FAILED),
        ("resolve_skill", {"intent": "x"}, AIOS_FAILED),
    ],
)
def test_settings_that_cannot_be_read_are_a_fixed_message(
    served: ServedPerson, name: str, arguments: dict[str, object], said: str
) -> None:
    config = Path(served.person.environ["AGENTIC_OS_CONFIG_DIR"])
    config.mkdir()
    config.joinpath("projects.toml").write_text("[")

    with pytest.raises(ToolFailureError) as fault:
        call(served, "aios", name, arguments)

    assert fault.value.code == INTERNAL_ERROR
    assert fault.value.message in {said, AIOS_FAILED}


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [("read_working_context", {}, CONTEXT_FAILED), ("search_aios", {"query": "x"}, AIOS_FAILED)],
)
def test_a_folder_that_is_not_safe_to_read_is_a_fixed_message(
    served: ServedPerson, places: Path, name: str, arguments: dict[str, object], said: str
) -> None:
    (places / "aios").mkdir()
    (places / "aios/aios.json").symlink_to(places / "elsewhere.json")

    with pytest.raises(ToolFailureError) as fault:
        call(served, "aios", name, arguments)

    assert (fault.value.code, fault.value.message) == (INTERNAL_ERROR, said)


def test_the_context_is_a_resource_too(served: ServedPerson, places: Path) -> None:
    (places / "aios").mkdir()
    AiosBuilder(places / "aios").write("context/identity.md", "# Identity\n\nI build ships.\n")

    found = read_resource(served, "aios://context", fleet=False)

    assert found.mime == "text/markdown"
    assert "I build ships." in found.text


def test_a_bad_file_of_the_folder_is_named_in_the_errors_data(
    served: ServedPerson, places: Path
) -> None:
    (places / "aios").mkdir()
    folder = AiosBuilder(places / "aios").complete()
    folder.write("projects/zeta/README.md", "---\nid: Z1\nname: a: b\n---\n# Z\n")

    with pytest.raises(ToolFailureError) as fault:
        call(served, "aios", "read_working_context", {})

    assert (fault.value.code, fault.value.message) == (INTERNAL_ERROR, CONTEXT_FAILED)
    data = fault.value.data
    assert data is not None
    assert (data["path"], data["line"]) == ("projects/zeta/README.md", 3)
    assert "quotes" in data["hint"]
