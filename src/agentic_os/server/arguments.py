"""Arguments of the tools: parsed strictly, once, at the boundary.

An unknown argument, a string where an integer is meant, or a value out of bounds is an error that
names the argument, never silently ignored or converted. The input schemas that clients see are
made from the same types.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

import msgspec

from agentic_os.errors import UsageError

MAX_QUERY_CHARS = 500
PROJECT_NAME_CHARS = 200
LEAST_ANSWER_CHARS = 1_000
MOST_ANSWER_CHARS = 32_000
ANSWER_CHARS = 6_000
MAX_LIMIT = 50
MAX_PROJECTS = 100

Memory = Literal["shared", "project", "off"]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=PROJECT_NAME_CHARS)]
Names = Annotated[tuple[Name, ...], msgspec.Meta(max_length=MAX_PROJECTS)]
Budget = Annotated[int, msgspec.Meta(ge=LEAST_ANSWER_CHARS, le=MOST_ANSWER_CHARS)]
Limit = Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)]
Cursor = Annotated[str, msgspec.Meta(max_length=200)]


class SearchFleet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``search_fleet``."""

    query: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_QUERY_CHARS)]
    projects: Names = ()
    kinds: tuple[
        Literal["memory", "index", "vault", "capability", "graph", "code", "document"], ...
    ] = ()
    mode: Literal["auto", "lexical", "semantic", "hybrid"] = "auto"
    limit: Limit = 10
    budget: Budget = ANSWER_CHARS
    cursor: Cursor = ""
    memory: Memory | msgspec.UnsetType = msgspec.UNSET


class FleetOverview(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``fleet_overview``."""

    projects: Names = ()
    sections: tuple[Literal["projects", "memory", "capabilities", "health"], ...] = ("projects",)
    budget: Budget = ANSWER_CHARS
    cursor: Cursor = ""
    memory: Memory | msgspec.UnsetType = msgspec.UNSET


class QueryGraph(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of ``query_graph``; which are needed depends on the operation."""

    operation: Literal["find", "neighbors", "path", "impact", "links", "stats"]
    name: Annotated[str, msgspec.Meta(max_length=1_000)] = ""
    to: Annotated[str, msgspec.Meta(max_length=1_000)] = ""
    projects: Names = ()
    depth: Annotated[int, msgspec.Meta(ge=1, le=6)] = 1
    limit: Limit = 20
    undirected: bool = False
    budget: Budget = ANSWER_CHARS
    cursor: Cursor = ""
    memory: Memory | msgspec.UnsetType = msgspec.UNSET


_T = TypeVar("_T")


def parse(arguments: Mapping[str, object] | None, form: type[_T]) -> _T:
    """Read a tool's arguments.

    Raises:
        UsageError: ``ARGUMENT_INVALID``, naming the argument.
    """
    try:
        return msgspec.convert(dict(arguments or {}), form, strict=True)
    except msgspec.ValidationError as fault:
        raise UsageError(str(fault), code="ARGUMENT_INVALID") from None


def input_schema(form: type) -> dict[str, object]:
    """Make the JSON Schema of a tool's arguments, without titles and references."""
    _, components = msgspec.json.schema_components([form], ref_template="#/$defs/{name}")
    (own,) = (value for name, value in components.items() if name == form.__name__)
    kept: dict[str, object] = {
        key: value for key, value in own.items() if key not in {"title", "description"}
    }
    return kept
