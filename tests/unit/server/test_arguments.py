from typing import Any

import pytest
from msgspec import UNSET

from agentic_os.errors import UsageError
from agentic_os.server.arguments import FleetOverview, QueryGraph, SearchFleet, input_schema, parse


def test_defaults_are_those_of_the_schema() -> None:
    asked = parse({"query": "x"}, SearchFleet)

    assert (asked.limit, asked.budget, asked.kinds) == (5, 6_000, ())
    assert asked.memory is UNSET


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        {},
        {"query": ""},
        {"query": 1},
        {"query": "x" * 501},
        {"query": "x", "limit": True},
        {"query": "x", "limit": "three"},
        {"query": "x", "limit": "3.5"},
        {"query": None},
        {"query": "x\0y"},
        {"query": "x", "kinds": "[memory"},
        {"query": "x", "limit": 3.5},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 51},
        {"query": "x", "budget": 999},
        {"query": "x", "kinds": ["nonsense"]},
        {"query": "x", "mode": "magic"},
        {"query": "x", "memory": "none"},
        {"query": "x", "projects": [1]},
        {"query": "x", "unknown": 1},
    ],
)
def test_whatever_is_wrong_is_an_error(arguments: dict[str, Any] | None) -> None:
    with pytest.raises(UsageError) as fault:
        parse(arguments, SearchFleet)

    assert fault.value.code == "ARGUMENT_INVALID"


@pytest.mark.parametrize("form", [SearchFleet, FleetOverview, QueryGraph])
def test_schemas_forbid_what_is_unknown_and_hold_no_references(form: type) -> None:
    schema = input_schema(form)

    assert schema["additionalProperties"] is False
    assert schema["type"] == "object"
    assert "$ref" not in str(schema)


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ({"cursor": None, "projects": None, "kinds": None, "memory": None, "limit": None}, {}),
        ({"projects": '["a", "b"]'}, {"projects": ["a", "b"]}),
        ({"projects": "a"}, {"projects": ["a"]}),
        ({"projects": "[draft] notes"}, {"projects": ["[draft] notes"]}),
        ({"kinds": "memory"}, {"kinds": ["memory"]}),
        ({"limit": "5"}, {"limit": 5}),
        ({"limit": " 5 "}, {"limit": 5}),
        ({"limit": 5.0}, {"limit": 5}),
    ],
)
def test_what_clients_send_means_the_same(given: dict[str, Any], plain: dict[str, Any]) -> None:
    assert parse({"query": "x", **given}, SearchFleet) == parse(
        {"query": "x", **plain}, SearchFleet
    )


def test_a_flag_may_be_text() -> None:
    asked = {"operation": "path", "name": "a", "to": "b"}

    assert parse({**asked, "undirected": "True"}, QueryGraph).undirected
    with pytest.raises(UsageError):
        parse({**asked, "undirected": "maybe"}, QueryGraph)


@pytest.mark.parametrize(
    ("name", "hint"), [("projekt", "Did you mean `projects`?"), ("qqqqqq", "Arguments are query, ")]
)
def test_an_unknown_argument_says_which_are_near(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=name) as fault:
        parse({"query": "x", name: 1}, SearchFleet)

    assert fault.value.hint.startswith(hint)
