"""The closed table of read-only connection tools that an intent may ask for.

A tool is named and its parameters are checked; it is never run here. Whether a
connection is configured is told by its marker file alone, whose prose is not read
(DotAIOS convention, resolve).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from agentic_os.aios.folder.json_text import JsonObject
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.errors import AiosError
from agentic_os.text.unicode_form import CONTROL_OR_SURROGATE

ToolStatus = Literal["matched", "no_match", "refused"]
Marker = Literal["configured", "missing", "unsafe"]

CONNECTION: Final = "google-workspace"
MARKER: Final = "connections/apis/google-workspace.md"
CAPABILITY_CHARS: Final = 100
PARAMETER_CHARS: Final = 500
MAX_PAGE_SIZE: Final = 100

_MESSAGE_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,199}")
_WRITING = re.compile(
    r"(?:^|[._-])(?:send|write|create|update|delete|remove|trash|move|modify|reply|forward)"
    r"(?:$|[._-])",
    re.IGNORECASE,
)
_DATE_WINDOWS: Final = ("today", "tomorrow", "week")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """A requested capability and its parameters."""

    capability: str
    query: str | None = None
    message_id: str | None = None
    date_window: str | None = None
    page_size: int | None = None

    @property
    def given(self) -> frozenset[str]:
        """The names of the parameters that were given."""
        values = {
            "query": self.query,
            "message_id": self.message_id,
            "date_window": self.date_window,
            "page_size": self.page_size,
        }
        return frozenset(name for name, value in values.items() if value is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResolution:
    """What became of a request; ``arguments`` only for a match, ``reason`` only without."""

    status: ToolStatus
    capability: str | None
    configured: bool
    reason: str | None = None
    arguments: tuple[str, ...] = ()

    def as_json(self) -> JsonObject:
        """Return the JSON form; whether a login exists is never known here."""
        value: JsonObject = {
            "status": self.status,
            "capability": self.capability,
            "connection": CONNECTION if self.configured else None,
            "configured": self.configured,
            "authenticated": "unknown",
        }
        if self.status == "matched":
            value["argv_suffix"] = list(self.arguments)
        else:
            value["reason"] = self.reason
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Capability:
    """The words of a capability's command, and the one parameter that it takes."""

    words: tuple[str, ...]
    parameter: str | None = None
    option: str | None = None


_CAPABILITIES: Final[Mapping[str, _Capability]] = {
    "google.gmail.inbox": _Capability(words=("google", "inbox")),
    "google.gmail.search": _Capability(
        words=("google", "gmail", "search"), parameter="query", option="--query"
    ),
    "google.gmail.read": _Capability(
        words=("google", "gmail", "read"), parameter="message_id", option="--message-id"
    ),
    "google.calendar.agenda": _Capability(words=("google", "agenda"), parameter="date_window"),
    "google.calendar.prep": _Capability(
        words=("google", "calendar", "prep"), parameter="date_window"
    ),
    "google.drive.list": _Capability(
        words=("google", "drive"), parameter="page_size", option="--page-size"
    ),
    "google.drive.find": _Capability(
        words=("google", "drive", "find"), parameter="query", option="--query"
    ),
}


def read_marker(reader: FolderReader) -> Marker:
    """Look whether the connection's marker file is there."""
    try:
        found = reader.inspect(MARKER, hold=True)
    except AiosError:
        return "unsafe"
    if found is None:
        return "missing"
    return "configured" if found.is_file else "unsafe"


def resolve_tool(request: ToolRequest, marker: Marker) -> ToolResolution:
    """Resolve a request through the closed table."""
    name = request.capability
    if (
        not name
        or name.strip() != name
        or len(name) > CAPABILITY_CHARS
        or CONTROL_OR_SURROGATE.search(name)
    ):
        return ToolResolution(
            status="refused", capability=None, configured=False, reason="invalid_capability"
        )
    configured = marker == "configured"
    status, reason, arguments = _checked(request, marker)
    return ToolResolution(
        status=status, capability=name, configured=configured, reason=reason, arguments=arguments
    )


def _checked(
    request: ToolRequest, marker: Marker
) -> tuple[ToolStatus, str | None, tuple[str, ...]]:
    known = _CAPABILITIES.get(request.capability)
    wanted = frozenset() if known is None or known.parameter is None else {known.parameter}
    status: ToolStatus = "refused"
    reason: str | None = None
    if marker == "unsafe":
        reason = "unsafe_configuration"
    elif known is None and _WRITING.search(request.capability):
        reason = "write_capability_refused"
    elif known is None:
        status, reason = "no_match", "unsupported_capability"
    elif marker == "missing":
        status, reason = "no_match", "connection_not_configured"
    elif request.given - wanted:
        reason = "extra_parameters_refused"
    elif request.given != wanted:
        reason = "required_parameter_missing"
    else:
        words = _arguments(known, request)
        if words is not None:
            return "matched", None, words
        reason = f"invalid_{known.parameter}"
    return status, reason, ()


def _arguments(known: _Capability, request: ToolRequest) -> tuple[str, ...] | None:
    """Return the command's words; ``None`` when the parameter's value is not valid."""
    if known.parameter is None:
        return (*known.words, "--json")
    value = _value(known.parameter, request)
    if value is None:
        return None
    if known.option is None:
        return (*known.words, f"--{value}", "--json")
    return (*known.words, known.option, value, "--json")


def _value(parameter: str, request: ToolRequest) -> str | None:
    match parameter:
        case "query":
            text = request.query or ""
            fits = 0 < len(text) <= PARAMETER_CHARS and text.strip() == text
            return (
                text
                if fits and not text.startswith("--") and not CONTROL_OR_SURROGATE.search(text)
                else None
            )
        case "message_id":
            text = request.message_id or ""
            return text if _MESSAGE_ID.fullmatch(text) else None
        case "date_window":
            text = request.date_window or ""
            return text if text in _DATE_WINDOWS else None
        case _:
            size = request.page_size or 0
            return str(size) if 1 <= size <= MAX_PAGE_SIZE else None
