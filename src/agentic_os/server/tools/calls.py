"""One call of a tool: from its name and arguments to its document.

Nothing here knows MCP: the application turns a ``ToolFailure`` into a JSON-RPC error or a result.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from agentic_os.errors import AgenticOSError, AiosError, RootMissingError, UsageError
from agentic_os.server.arguments import FleetOverview, Form, QueryGraph, SearchFleet, meant, parse
from agentic_os.server.privacy import LastRedaction, last_redaction
from agentic_os.server.scope.aios import person_access
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools import aios as aios_tools
from agentic_os.server.tools.definitions import AIOS, FLEET, Definition
from agentic_os.server.tools.envelope import Document, plain
from agentic_os.server.tools.fleet import fleet_overview, search_fleet
from agentic_os.server.tools.graph import query_graph
from agentic_os.server.tools.links import Link, hit_link

Profile = Literal["full", "aios"]

INVALID_PARAMS = -32_602
INTERNAL_ERROR = -32_603
CONTEXT_FAILED = "the working context could not be read safely"
AIOS_FAILED = "the AIOS folder could not be read safely"
_AIOS_FORMS: dict[str, Form] = {"limit": "number", "budget": "number"}
_ARGUMENT_FAULTS = frozenset(
    {
        "DOTAIOS_ARGUMENT_INVALID",
        "DOTAIOS_MEMORY_POLICY_INVALID",
        "DOTAIOS_AMBIGUOUS_PROJECT",
        "DOTAIOS_PROJECT_SELECTOR_INVALID",
        "DOTAIOS_PROJECT_SELECTOR_UNKNOWN",
        "DOTAIOS_PROJECT_SELECTOR_AMBIGUOUS",
        "DOTAIOS_FOLDER_MISSING",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """A document and its text; ``failed`` marks a result that says why there is none.

    ``links`` are where the answer can be read on.
    """

    text: str
    document: dict[str, Any]
    failed: bool = False
    links: tuple[Link, ...] = ()


class ToolFailureError(Exception):
    """A failure that becomes a JSON-RPC error: its code, and a message without paths."""

    def __init__(self, code: int, message: str, data: dict[str, Any] | None = None) -> None:
        """Keep all three; ``data`` says which file of the folder is at fault."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def definitions(profile: Profile) -> tuple[Definition, ...]:
    """List the tools of a profile."""
    return AIOS if profile == "aios" else (*FLEET, *AIOS)


def call(
    served: ServedPerson, profile: Profile, name: str, arguments: Mapping[str, object] | None
) -> ToolAnswer:
    """Call a tool; blocks.

    Raises:
        ToolFailureError: unknown tool, or an AIOS tool that failed.
    """
    if name not in {one.name for one in definitions(profile)}:
        raise ToolFailureError(INVALID_PARAMS, "unknown tool")
    if name in {one.name for one in AIOS}:
        return _aios(served, name, arguments or {})
    redaction = last_redaction(served.person)
    try:
        return _shown(redaction, _fleet(served, name, arguments))
    except AgenticOSError as fault:
        document = {
            "data": {},
            "omissions": [],
            "truncated": False,
            "error": {"code": fault.code, "message": _message(fault), "hint": fault.hint},
        }
        return ToolAnswer(
            text=redaction.text(_said(fault)), document=redaction.value(document), failed=True
        )


def _fleet(served: ServedPerson, name: str, arguments: Mapping[str, object] | None) -> Document:
    if name == "search_fleet":
        return search_fleet(served, parse(arguments, SearchFleet))
    if name == "fleet_overview":
        return fleet_overview(served, parse(arguments, FleetOverview))
    return query_graph(served, parse(arguments, QueryGraph))


def _shown(redaction: LastRedaction, document: Document) -> ToolAnswer:
    clean = redaction.value(plain(document))
    hits = clean["data"].get("hits", ())
    return ToolAnswer(
        text=msgspec.json.encode(clean).decode("utf-8"),
        document=clean,
        links=tuple(hit_link(hit["project"], hit["path"], tuple(hit["lines"])) for hit in hits),
    )


def _aios(served: ServedPerson, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
    access = person_access(served.person.environ, served.person.home)
    tool = {
        "read_working_context": aios_tools.read_working_context,
        "search_aios": aios_tools.search,
        "resolve_skill": aios_tools.resolve,
    }[name]
    try:
        text = tool(access, meant(arguments, _AIOS_FORMS))
    except UsageError as fault:
        raise ToolFailureError(INVALID_PARAMS, fault.message) from None
    except AiosError as fault:
        if fault.code in _ARGUMENT_FAULTS:
            raise ToolFailureError(INVALID_PARAMS, fault.message, _data(fault)) from None
        general = CONTEXT_FAILED if name == "read_working_context" else AIOS_FAILED
        raise ToolFailureError(INTERNAL_ERROR, general, _data(fault)) from None
    except AgenticOSError as fault:
        raise ToolFailureError(INTERNAL_ERROR, AIOS_FAILED, _data(fault)) from None
    return ToolAnswer(text=text, document=json.loads(text))


def _data(fault: AgenticOSError) -> dict[str, Any]:
    """Say what a fixed message leaves out: code, file and line within the folder, what mends it."""
    found = {"code": fault.code, "path": fault.path, "line": fault.line, "hint": fault.hint}
    return {name: value for name, value in found.items() if value}


def _said(fault: AgenticOSError) -> str:
    message = _message(fault)
    hint = f"{'' if message.endswith(('.', '?', '!')) else '.'} {fault.hint}" if fault.hint else ""
    return f"{fault.code}: {message}{hint}"


def _message(fault: AgenticOSError) -> str:
    """Return a fault's message, without the path of a root: a model may not read that."""
    if isinstance(fault, RootMissingError):
        return "a root of this server does not exist"
    return fault.message
