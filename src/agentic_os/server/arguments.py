"""Arguments of the tools: parsed once, at the boundary.

Rules:

1. ``null`` is an argument that was not given.
2. What clients are known to send in another form is read where nothing else can be meant: a list
   as JSON text, one name for a list of names, ``"5"`` and ``5.0`` for a whole number, ``"true"``
   for a flag.
3. An unknown argument or a value out of bounds is an error that names the argument, never ignored.

The input schemas that clients see are made from the same types.

>>> meant({"limit": "5", "projects": '["a", "b"]', "cursor": None}, forms_of(SearchFleet))
{'limit': 5, 'projects': ['a', 'b']}
>>> meant({"limit": "five", "projects": "a"}, forms_of(SearchFleet))
{'limit': 'five', 'projects': ['a']}
"""

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
import msgspec.inspect

from agentic_os.server.codes import ERRORS

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
        Literal[
            "memory", "index", "instruction", "vault", "capability", "graph", "code", "document"
        ],
        ...,
    ] = ()
    mode: Literal["auto", "lexical", "semantic", "hybrid"] = "auto"
    limit: Limit = 5
    details: bool = False
    changed_since: Annotated[str, msgspec.Meta(max_length=40)] = ""
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


_T = TypeVar("_T", bound=msgspec.Struct)


Form = Literal["list", "number", "flag"]
"""What an argument is that clients send as text, too."""

_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_FLAGS: Final = {"true": True, "false": False}


def parse(arguments: Mapping[str, object] | None, form: type[_T]) -> _T:
    """Read a tool's arguments.

    Raises:
        UsageError: ``ARGUMENT_INVALID``, naming the argument.
    """
    given = meant(arguments or {}, forms_of(form))
    names = [field.name for field in msgspec.structs.fields(form)]
    for name in given:
        if name not in names:
            raise ERRORS.error(
                "ARGUMENT_INVALID",
                f"unknown argument {name[:PROJECT_NAME_CHARS]!r}",
                hint=_nearest(name, names),
            )
    try:
        found = msgspec.convert(given, form, strict=True)
    except msgspec.ValidationError as fault:
        raise ERRORS.error("ARGUMENT_INVALID", str(fault)) from None
    for name, value in given.items():
        if isinstance(value, str) and "\0" in value:
            raise ERRORS.error("ARGUMENT_INVALID", f"`{name}` holds the character U+0000")
    return found


def meant(arguments: Mapping[str, object], forms: Mapping[str, Form]) -> dict[str, Any]:
    """Return the arguments without those that are null, in the form that is meant."""
    return {
        name: _meant(value, forms.get(name))
        for name, value in arguments.items()
        if value is not None
    }


@lru_cache(maxsize=8)
def forms_of(form: type[msgspec.Struct]) -> Mapping[str, Form]:
    """Return which arguments are lists, numbers and flags."""
    found: dict[str, Form] = {}
    info = msgspec.inspect.type_info(form)
    if isinstance(info, msgspec.inspect.StructType):
        for field in info.fields:
            if isinstance(field.type, msgspec.inspect.VarTupleType):
                found[field.name] = "list"
            elif isinstance(field.type, msgspec.inspect.IntType):
                found[field.name] = "number"
            elif isinstance(field.type, msgspec.inspect.BoolType):
                found[field.name] = "flag"
    return found


def _meant(value: object, form: Form | None) -> object:
    match form, value:
        case "list", str():
            return _listed(value)
        case "number", str() if _WHOLE_NUMBER.fullmatch(value.strip()):
            return int(value)
        case "number", float() if value.is_integer():
            return int(value)
        case "flag", str():
            return _FLAGS.get(value.strip().lower(), value)
        case _:
            return value


def _listed(value: str) -> object:
    if not value.lstrip().startswith("["):
        return [value]
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return [value]


def _nearest(name: str, names: list[str]) -> str:
    near = get_close_matches(name, names, n=1)
    return f"Did you mean `{near[0]}`?" if near else f"Arguments are {', '.join(names)}."


def input_schema(form: type) -> dict[str, object]:
    """Make the JSON Schema of a tool's arguments, without titles and references."""
    _, components = msgspec.json.schema_components([form], ref_template="#/$defs/{name}")
    (own,) = (value for name, value in components.items() if name == form.__name__)
    kept: dict[str, object] = {
        key: value for key, value in own.items() if key not in {"title", "description"}
    }
    return kept
