"""One conversation with an engine: initialize, find its search tool, ask it.

Only the messages themselves come from the library. What a server declares about its own output
is not followed: a schema of a stranger's can name addresses to load and patterns that never end.
Nothing the server asks of us (sampling, roots, elicitation) is answered with more than a refusal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentic_os import __version__
from agentic_os.tiers.engines.values import MAX_HITS_ENTRIES, EngineFault

if TYPE_CHECKING:
    from mcp_types import Tool

    from mcp import ClientSession

MAX_PAGES_ENTRIES = 5
"""Pages of tools looked through."""
MAX_TOOLS_ENTRIES = 200
TOOL_NAME = "search"
LIMIT_NAMES = ("limit", "top_k", "max_results")
UNTOUCHED = "refresh_index"
"""An argument that lets a search write the engine's index; always sent as false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswer:
    """What the tool said: its structured content, if any, and its texts. Untrusted."""

    structured: object
    texts: tuple[str, ...]


async def converse(read: Any, write: Any, question: str, limit: int) -> RawAnswer:
    """Ask one question.

    Args:
        read: what the server says.
        write: what it is told.
        question: the query as the person typed it.
        limit: how many passages are wanted.

    Raises:
        EngineFault: ENGINE_TOOL_MISSING or ENGINE_FAILED. What the library raises, and what the
            transport raises, passes through.
    """
    from mcp.shared.exceptions import MCPError
    from mcp_types import (
        CallToolRequest,
        CallToolRequestParams,
        CallToolResult,
        Implementation,
        TextContent,
    )

    from mcp import ClientSession

    async with ClientSession(
        read, write, client_info=Implementation(name="agentic-os", version=__version__)
    ) as session:
        await session.initialize()
        try:
            tool = await _search_tool(session)
            arguments = arguments_for(tool.input_schema, question, limit)
            result = await session.send_request(
                CallToolRequest(params=CallToolRequestParams(name=tool.name, arguments=arguments)),
                CallToolResult,
            )
        except MCPError as fault:
            raise EngineFault("ENGINE_FAILED", "it ended, or answered with an error") from fault
    if result.is_error:
        raise EngineFault("ENGINE_FAILED", "its search answered with an error")
    texts = tuple(item.text for item in result.content if isinstance(item, TextContent))
    return RawAnswer(structured=result.structured_content, texts=texts)


async def _search_tool(session: "ClientSession") -> "Tool":
    from mcp_types import PaginatedRequestParams

    found: list[Tool] = []
    params: PaginatedRequestParams | None = None
    for _ in range(MAX_PAGES_ENTRIES):
        page = await session.list_tools(params=params)
        found += [tool for tool in page.tools if takes_query(tool.name, tool.input_schema)]
        if page.next_cursor is None or len(page.tools) > MAX_TOOLS_ENTRIES:
            break
        params = PaginatedRequestParams(cursor=page.next_cursor)
    # The tool of exactly this name, else the first of those that begin with it.
    found.sort(key=lambda tool: tool.name != TOOL_NAME)
    if not found:
        raise EngineFault("ENGINE_TOOL_MISSING", "it has no search tool that takes a query")
    return found[0]


def takes_query(name: str, schema: Mapping[str, object]) -> bool:
    """Return whether a tool is a search that a query alone is enough for."""
    properties = schema.get("properties")
    if not name.startswith(TOOL_NAME) or not isinstance(properties, dict):
        return False
    query = properties.get("query")
    required = schema.get("required")
    needed = set(map(str, required)) if isinstance(required, list) else set()
    given = {"query", UNTOUCHED, *LIMIT_NAMES}
    return isinstance(query, dict) and query.get("type", "string") == "string" and needed <= given


def arguments_for(schema: Mapping[str, object], question: str, limit: int) -> dict[str, object]:
    """Build the arguments of a search: the query, a limit, and that nothing is written."""
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    arguments: dict[str, object] = {"query": question}
    for name in LIMIT_NAMES:
        if name in known:
            arguments[name] = min(limit, MAX_HITS_ENTRIES, _maximum(known[name]))
            break
    if UNTOUCHED in known:
        arguments[UNTOUCHED] = False
    return arguments


def _maximum(schema: object) -> int:
    most = schema.get("maximum") if isinstance(schema, dict) else None
    if isinstance(most, int) and not isinstance(most, bool) and most > 0:
        return most
    return MAX_HITS_ENTRIES
