"""Whatever arguments a tool is given, only documented errors come back (docs/reference/mcp.md)."""

import json
import os
from collections.abc import Callable
from typing import Any, TypeVar

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentic_os.aggregate.workspace import Person
from agentic_os.errors import AgenticOSError
from agentic_os.server.prompts import PROMPTS, render_prompt
from agentic_os.server.resources import ResourceText, read_resource
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.calls import (
    AIOS_FAILED,
    CONTEXT_FAILED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ToolAnswer,
    ToolFailureError,
    call,
    definitions,
)
from agentic_os.server.tools.definitions import AIOS
from support.aios.builder import AiosBuilder
from support.fleet.builder import FleetBuilder

T = TypeVar("T")

AIOS_NAMES = frozenset(one.name for one in AIOS)
RESULT_CODES = frozenset(
    {
        "ARGUMENT_INVALID",
        "CURSOR_INVALID",
        "PROJECT_UNKNOWN",
        "GRAPH_NAME_UNKNOWN",
        "GRAPH_NAME_AMBIGUOUS",
        "GRAPH_NONE",
        "INDEX_ERROR",
        "INDEX_MISSING",
        "MODEL_ERROR",
        "MODEL_MISSING",
        "SEMANTIC_UNAVAILABLE",
    }
)
RUNS = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=5,
)
WORDS = st.sampled_from(
    ["retry", "shop", "load", "load()", "app.py", "app.py:load", "a b", '"', "*", "\0", "..", "AND"]
) | st.text(max_size=30)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that mostly fit a property's schema: deep enough to reach the tool itself."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "integer":
            return st.integers(schema.get("minimum", 0) - 1, schema.get("maximum", 9) + 1)
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(fitting(schema["items"]), max_size=2)
        case _:
            return WORDS


@st.composite
def arguments(draw: st.DrawFn, schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments: mostly fitting, sometimes a wild value, seldom an unknown name."""
    own = schema["properties"]
    needed = set(schema.get("required", ()))
    given = {}
    for name, form in own.items():
        if name in needed or draw(st.integers(0, 2)) == 0:
            wild = draw(st.integers(0, 9)) == 0
            given[name] = draw(ANYTHING if wild else fitting(form))
    if draw(st.integers(0, 19)) == 0:
        given[draw(st.text(max_size=12))] = draw(ANYTHING)
    return given


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> ServedPerson:
    """One small fleet and AIOS folder for all examples."""
    home = tmp_path_factory.mktemp("home")
    root = home / "code"
    root.mkdir()
    shop = FleetBuilder(root=root).project("shop", "obsidian-graphify")
    shop.fact("retry", "Four tries, then dunning.", title="Retry")
    shop.note("note.md", "# Night\n\nLook at the pager.\n")
    shop.capabilities(skills={"plan": "Plan first"}, servers={"ctx": "npx ctx"})
    nodes = [
        {"id": name, "label": f"{name}()", "file_type": "code", "source_file": "app.py"}
        for name in ("load", "main")
    ]
    links = [{"source": "main", "target": "load", "relation": "calls", "confidence": "EXTRACTED"}]
    graph = {"directed": False, "nodes": nodes, "links": links}
    shop.write("graphify-out/graph.json", json.dumps(graph))
    (home / "aios").mkdir()
    AiosBuilder(home / "aios").complete()
    environ = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("AGENTIC_OS_", "DOTAIOS_", "XDG_"))
    }
    environ |= {f"AGENTIC_OS_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA")}
    environ |= {f"AGENTIC_OS_{name}_DIR": str(home / name.lower()) for name in ("CACHE", "STATE")}
    environ |= {"HOME": str(home), "DOTAIOS_PATH": str(home / "aios")}
    return ServedPerson(person=Person(environ=environ, home=home, current=home), roots=(str(root),))


def outcome(work: Callable[[], T]) -> T | ToolFailureError | AgenticOSError:
    """What comes back: an answer or a documented kind of failure; anything else is raised."""
    try:
        return work()
    except (ToolFailureError, AgenticOSError) as fault:
        return fault


def check(served: ServedPerson, name: str, given: dict[str, Any]) -> None:
    answer = outcome(lambda: call(served, "full", name, given))
    if isinstance(answer, ToolFailureError):
        assert answer.code in {INVALID_PARAMS, INTERNAL_ERROR}
        assert str(served.person.home) not in answer.message
        if answer.code == INTERNAL_ERROR:
            assert name in AIOS_NAMES
            assert answer.message in {CONTEXT_FAILED, AIOS_FAILED}
        return
    assert isinstance(answer, ToolAnswer)
    schema = next(one.output for one in definitions("full") if one.name == name)
    jsonschema.validate(answer.document, schema, jsonschema.Draft202012Validator)
    assert str(served.person.home) not in answer.text + json.dumps(answer.document)
    if answer.failed:
        assert name not in AIOS_NAMES, "the AIOS tools never fail in a result"
        assert answer.document["error"]["code"] in RESULT_CODES, answer.text
    else:
        assert json.loads(answer.text) == answer.document


@pytest.mark.parametrize("name", [one.name for one in definitions("full")])
def test_arguments_that_nearly_fit(served: ServedPerson, name: str) -> None:
    schema = next(one.input for one in definitions("full") if one.name == name)

    @RUNS
    @given(arguments(schema))
    def run(given: dict[str, Any]) -> None:
        check(served, name, given)

    run()


@pytest.mark.parametrize("name", [one.name for one in definitions("full")])
def test_arguments_that_are_anything(served: ServedPerson, name: str) -> None:
    names = list(next(one.input for one in definitions("full") if one.name == name)["properties"])

    @RUNS
    @given(st.dictionaries(st.sampled_from(names) | st.text(max_size=8), ANYTHING, max_size=4))
    def run(given: dict[str, Any]) -> None:
        check(served, name, given)

    run()


@RUNS
@given(
    st.sampled_from(["fleet://", "fleet://memory/", "fleet://source/", "aios://", ""]),
    st.text(max_size=40) | st.sampled_from(["shop/%2e%2e/x", "shop/..%2fx", "%00", "%ff/%ff"]),
)
def test_uris_of_resources(served: ServedPerson, scheme: str, rest: str) -> None:
    found = outcome(lambda: read_resource(served, scheme + rest, fleet=True))

    if isinstance(found, AgenticOSError):
        assert found.code == "RESOURCE_UNKNOWN"
    else:
        assert isinstance(found, ResourceText)
        assert str(served.person.home) not in found.text


@RUNS
@given(
    st.sampled_from([one.name for one in PROMPTS]) | st.text(max_size=8),
    st.dictionaries(st.sampled_from(["topic", "project", "task", "x"]), st.text(max_size=60)),
)
def test_prompts(name: str, given: dict[str, str]) -> None:
    text = outcome(lambda: render_prompt(name, given))

    if isinstance(text, AgenticOSError):
        assert text.code == "ARGUMENT_INVALID"
    else:
        assert isinstance(text, str)
        assert text.startswith(("Call fleet_overview", "Prepare a hand-over"))
