"""What clients see of the tools: names, descriptions, schemas. Short: it costs every session.

A test holds all definitions together below ``MAX_DEFINITIONS_CHARS``.
"""

from dataclasses import dataclass
from typing import Any, Final

from agentic_os.aios.follow.references import REFERENCE_CHARS
from agentic_os.aios.search.request import QUERY_CHARS
from agentic_os.server.arguments import FleetOverview, QueryGraph, SearchFleet, input_schema
from agentic_os.server.tools.aios import (
    CONTEXT_BUDGET,
    MODES,
    SEARCH_BUDGET,
    SKILL_BUDGET,
)

MAX_DEFINITIONS_CHARS: Final = 10_000

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One tool as it is listed."""

    name: str
    title: str
    description: str
    input: Schema
    output: Schema


def _envelope(data: Schema) -> Schema:
    objects = {"type": "array", "items": {"type": "object"}}
    return {
        "type": "object",
        "properties": {
            "data": {"type": "object", "properties": data},
            "omissions": objects,
            "warnings": objects,
            "noted": {"type": "integer"},
            "truncated": {"type": "boolean"},
            "cursor": {"type": ["string", "null"]},
            "hint": {"type": "string"},
        },
        "required": ["data", "omissions", "truncated"],
    }


def _integer(bounds: tuple[int, int, int]) -> Schema:
    least, most, default = bounds
    return {"type": "integer", "minimum": least, "maximum": most, "default": default}


def _row(needed: str, **types: str | list[str]) -> Schema:
    """Describe an object of simple members; those in ``needed`` are always there."""
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in types.items()},
        "required": needed.split(),
    }


def _rows(row: Schema) -> Schema:
    return {"type": "array", "items": row}


_ROWS: Schema = _rows({"type": "object"})
_HITS: Schema = _rows(
    _row(
        "project name kind path lines snippet",
        project="string",
        name="string",
        kind="string",
        tier=["integer", "null"],
        path="string",
        lines="array",
        snippet="string",
        score="number",
        sha256="string",
        confirmed="boolean",
        branch=["string", "null"],
        commit=["string", "null"],
        stale="boolean",
        relevance="number",
    )
)
_NODES: Schema = _rows(
    _row("id label kind", id="string", label="string", kind="string", place=["object", "null"])
)
_EDGES: Schema = _rows(
    _row(
        "source target relation confidence",
        source="string",
        target="string",
        relation="string",
        confidence="string",
        score="number",
        rule="string",
        evidence="array",
    )
)
_COMMON: dict[str, str | list[str]] = {
    "memory": "string",
    "receipt": "string",
    "notice": ["string", "null"],
    "complete": "boolean",
    "budget": "object",
}
_MEMORY: Schema = {"enum": list(MODES)}
_PROJECT: Schema = {"type": "string", "minLength": 1, "maxLength": 200}
_QUERY: Schema = {"type": "string", "minLength": 1, "maxLength": QUERY_CHARS}

FLEET: Final = (
    Definition(
        name="search_fleet",
        title="Search all repositories",
        description=(
            "Passages from memory, vault notes, inventories and code graphs of all projects, each"
            " with project, path and lines, read again from its file just now. Words in any order,"
            ' "quoted phrases", identifiers, or any run of characters. Read on by the link of a'
            " hit. changed_since: 7d or a date. details adds hashes, commits and times."
        ),
        input=input_schema(SearchFleet),
        output=_envelope(
            {
                "total": {"type": "integer"},
                "hits": _HITS,
                "coverage": {"type": ["object", "null"]},
                "nothing_found": {"type": "boolean"},
            }
        ),
    ),
    Definition(
        name="fleet_overview",
        title="Overview of all repositories",
        description=(
            "Which projects there are, what they remember (titles), which skills, MCP servers and"
            " hooks they have, what doctor found. One row an item, in pages."
        ),
        input=input_schema(FleetOverview),
        output=_envelope(
            {"total": {"type": "integer"}, "rows": _rows(_row("section", section="string"))}
        ),
    ),
    Definition(
        name="query_graph",
        title="Ask the code graph",
        description=(
            "The code graph over all projects. find NAME; neighbors NAME; path NAME to TO; impact"
            " NAME: who depends on it, across repositories; links: edges between projects; stats."
            " NAME is a label, a path, path:name or an id; an ambiguous one lists candidates."
        ),
        input=input_schema(QueryGraph),
        output=_envelope(
            {
                "outcome": {"type": "string"},
                "nodes": {"anyOf": [_NODES, {"type": "integer"}]},
                "edges": {"anyOf": [_EDGES, {"type": "integer"}]},
                "candidates": _NODES,
                "projects": _ROWS,
            }
        ),
    ),
)

AIOS: Final = (
    Definition(
        name="read_working_context",
        title="Read the working context",
        description=(
            "The person's bounded working context as Markdown: identity, priorities, current work,"
            " decisions, today, active project, recent sessions."
        ),
        input={
            "type": "object",
            "properties": {
                "memory": _MEMORY,
                "project": _PROJECT,
                "limit": _integer((1, 10, 3)),
                "budget": _integer(CONTEXT_BUDGET),
            },
            "additionalProperties": False,
        },
        output=_row(
            "markdown memory receipt notice complete scope",
            markdown="string",
            scope="object",
            generated_at="string",
            operational="object",
            coverage="object",
            **_COMMON,
        ),
    ),
    Definition(
        name="search_aios",
        title="Search the AIOS folder",
        description=(
            "Search the person's memory, context, vault, projects, decisions, skills, references,"
            " plugins and sessions; or `follow` a reference of a former answer to read on."
        ),
        input={
            "type": "object",
            "properties": {
                "query": _QUERY,
                "follow": {"type": "string", "minLength": 1, "maxLength": REFERENCE_CHARS},
                "memory": _MEMORY,
                "scope": {"type": "string", "default": "all"},
                "project": _PROJECT,
                "limit": _integer((1, 20, 10)),
                "budget": _integer(SEARCH_BUDGET),
            },
            "additionalProperties": False,
        },
        output=_row(
            "receipt",
            query="string",
            scope="string",
            results="array",
            omissions="array",
            kind="string",
            status="string",
            text="string",
            next=["string", "null"],
            reason="string",
            **_COMMON,
        ),
    ),
    Definition(
        name="resolve_skill",
        title="Find a workflow",
        description="The person's skills that fit an intent, ranked, with the reason.",
        input={
            "type": "object",
            "properties": {
                "intent": _QUERY,
                "memory": _MEMORY,
                "project": _PROJECT,
                "limit": _integer((1, 10, 1)),
                "budget": _integer(SKILL_BUDGET),
            },
            "required": ["intent"],
            "additionalProperties": False,
        },
        output=_row(
            "intent matches memory receipt notice complete budget",
            intent="string",
            matches="array",
            **_COMMON,
        ),
    ),
)
