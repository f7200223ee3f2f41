"""The MCP application: one factory for stdio, HTTP and tests.

Made from the library's low-level server, because its convenience layer ignores unknown arguments,
takes ``"3"`` for an integer and turns failures into results. Requests run in threads of their own;
nothing heavy is imported or opened before the first of them, so ``initialize`` is answered at once.
"""

import json
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from agentic_os import __version__
from agentic_os.errors import AgenticOSError, UsageError
from agentic_os.server.wording import AIOS_INSTRUCTIONS, INSTRUCTIONS

if TYPE_CHECKING:
    import anyio
    import mcp_types as types
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

    from agentic_os.server.served import ServedPerson
    from agentic_os.server.tools.calls import Profile
    from agentic_os.server.tools.plugins import ServedPlugins

    Context = ServerRequestContext[Any]

SERVER_NAME = "agentic-os"
AIOS_SERVER_NAME = "agentic-os-aios"
MAX_THREADS = 32
PROGRESS_SECONDS = 0.5
"""The least time between two progress notifications of one call."""

_PLUGIN_PREFIX = "plugin_"

T = TypeVar("T")


def make_application(
    make_served: "Callable[[], ServedPerson]", *, profile: "Profile" = "full"
) -> "Server[Any]":
    """Make the server.

    Args:
        make_served: called by the first request that needs it.
        profile: ``aios`` offers the AIOS folder alone.
    """
    from mcp.server.lowlevel import Server

    handlers = _Handlers(make_served, profile)
    full = profile == "full"
    return Server(
        SERVER_NAME if full else AIOS_SERVER_NAME,
        version=__version__,
        instructions=INSTRUCTIONS if full else AIOS_INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts if full else None,
        on_get_prompt=handlers.get_prompt if full else None,
        on_completion=handlers.complete if full else None,
    )


class _Handlers:
    """The request handlers of one server."""

    def __init__(self, make_served: "Callable[[], ServedPerson]", profile: "Profile") -> None:
        self._make_served = make_served
        self._profile: Profile = profile
        self._served: ServedPerson | None = None
        self._limiter: anyio.CapacityLimiter | None = None
        self._served_plugins: ServedPlugins | None = None

    @property
    def _full(self) -> bool:
        return self._profile == "full"

    def _serving(self) -> "ServedPerson":
        if self._served is None:
            self._served = self._make_served()
        return self._served

    async def _in_thread(self, work: Callable[[], T]) -> T:
        import anyio
        import anyio.to_thread

        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(MAX_THREADS)
        return await anyio.to_thread.run_sync(work, limiter=self._limiter, abandon_on_cancel=True)

    async def list_tools(
        self, _context: "Context", _params: "types.PaginatedRequestParams | None"
    ) -> "types.ListToolsResult":
        """List the tools of the profile."""
        import mcp_types as types

        from agentic_os.server.tools.calls import definitions

        annotations = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
        tools = [
            types.Tool(
                name=one.name,
                title=one.title,
                description=one.description,
                input_schema=one.input,
                output_schema=one.output,
                annotations=annotations,
            )
            for one in definitions(self._profile)
        ]
        if self._plugins_wanted():
            tools = await self._with_plugins(tools)
        return types.ListToolsResult(tools=tools)

    async def _with_plugins(self, own: "list[types.Tool]") -> "list[types.Tool]":
        """Add the operations of plugins, as many as the budget holds.

        The server's own tools give up the schemas of their answers for that: these are more than
        a third of the budget, and no client needs them to call a tool.
        """
        import mcp_types as types

        from agentic_os.server.tools.definitions import MAX_DEFINITIONS_CHARS

        def chars(tools: "list[types.Tool]") -> int:
            listed = [
                tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools
            ]
            return len(json.dumps(listed))

        bare = [tool.model_copy(update={"output_schema": None}) for tool in own]
        offered = await self._in_thread(self._plugins().offered)
        foreign = types.ToolAnnotations(read_only_hint=False, open_world_hint=True)
        taken = list(bare)
        for one in offered:
            tool = types.Tool(
                name=one.name,
                description=one.description,
                input_schema=one.input,
                annotations=foreign,
            )
            if chars([*taken, tool]) > MAX_DEFINITIONS_CHARS:
                break
            taken.append(tool)
        return taken if len(taken) > len(own) else own

    def _plugins_wanted(self) -> bool:
        """Whether the person has a policy of plugins; asked before anything of them is loaded."""
        from agentic_os.files.places import places_from

        config = places_from(self._serving().person.environ).config
        return self._full and (config / "plugins.toml").is_file()

    def _plugins(self) -> "ServedPlugins":
        if self._served_plugins is None:
            from agentic_os.server.tools.plugins import ServedPlugins

            self._served_plugins = ServedPlugins(self._serving())
        return self._served_plugins

    async def call_tool(
        self, context: "Context", params: "types.CallToolRequestParams"
    ) -> "types.CallToolResult":
        """Call a tool in a thread; what is wrong with the request is a JSON-RPC error."""
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        from agentic_os.server.tools.calls import ToolFailureError, call

        served = self._serving().telling(_reporter(context))
        work = partial(call, served, self._profile, params.name, params.arguments)
        if params.name.startswith(_PLUGIN_PREFIX) and self._plugins_wanted():
            work = partial(self._plugins().call, params.name, params.arguments)
        try:
            answer = await self._in_thread(work)
        except ToolFailureError as fault:
            raise MCPError(fault.code, fault.message, fault.data) from None
        return types.CallToolResult(
            content=[
                types.TextContent(type="text", text=answer.text),
                *(types.ResourceLink(uri=one.uri, name=one.name) for one in answer.links),
            ],
            structured_content=answer.document,
            is_error=answer.failed,
        )

    async def list_resources(
        self, _context: "Context", _params: "types.PaginatedRequestParams | None"
    ) -> "types.ListResourcesResult":
        """List the resources with a fixed URI."""
        import mcp_types as types

        from agentic_os.server.resources import STATIC

        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=uri, name=name, description=text, mime_type=mime)
                for uri, name, text, mime in STATIC
                if self._full or uri.startswith("aios://")
            ]
        )

    async def list_templates(
        self, _context: "Context", _params: "types.PaginatedRequestParams | None"
    ) -> "types.ListResourceTemplatesResult":
        """List the resources that are named by project and path."""
        import mcp_types as types

        from agentic_os.server.resources import TEMPLATES

        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=uri, name=name, description=text, mime_type=mime
                )
                for uri, name, text, mime in TEMPLATES
                if self._full
            ]
        )

    async def read_resource(
        self, _context: "Context", params: "types.ReadResourceRequestParams"
    ) -> "types.ReadResourceResult":
        """Read one resource in a thread."""
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        from agentic_os.server.resources import read_resource

        work = partial(read_resource, self._serving(), str(params.uri), fleet=self._full)
        try:
            found = await self._in_thread(work)
        except AgenticOSError as fault:
            raise MCPError(types.INVALID_PARAMS, fault.message) from None
        return types.ReadResourceResult(
            contents=[
                types.TextResourceContents(uri=found.uri, mime_type=found.mime, text=found.text)
            ]
        )

    async def complete(
        self, _context: "Context", params: "types.CompleteRequestParams"
    ) -> "types.CompleteResult":
        """Complete the name of a project or of a skill."""
        import mcp_types as types

        from agentic_os.server.completion import MAX_VALUES, complete

        said = params.argument
        chosen = dict((params.context and params.context.arguments) or {})
        work = partial(complete, self._serving(), said.name, said.value, chosen)
        try:
            found = await self._in_thread(work)
        except AgenticOSError:
            found = ()
        shown = list(found[:MAX_VALUES])
        return types.CompleteResult(
            completion=types.Completion(
                values=shown, total=len(found), has_more=len(found) > len(shown)
            )
        )

    async def list_prompts(
        self, _context: "Context", _params: "types.PaginatedRequestParams | None"
    ) -> "types.ListPromptsResult":
        """List the prompts."""
        import mcp_types as types

        from agentic_os.server.prompts import PROMPTS

        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=one.name,
                    title=one.title,
                    description=one.description,
                    arguments=[
                        types.PromptArgument(
                            name=argument.name,
                            description=argument.description,
                            required=argument.required,
                        )
                        for argument in one.arguments
                    ],
                )
                for one in PROMPTS
            ]
        )

    async def get_prompt(
        self, _context: "Context", params: "types.GetPromptRequestParams"
    ) -> "types.GetPromptResult":
        """Render one prompt."""
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        from agentic_os.server.prompts import render_prompt

        try:
            text = render_prompt(params.name, params.arguments)
        except UsageError as fault:
            raise MCPError(types.INVALID_PARAMS, fault.message) from None
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


def _reporter(context: "Context") -> Callable[[int, int], None]:
    """Progress of one call, told to the client that asked for it.

    Called in the thread of the call. Once the call is cancelled it raises there, and so ends work
    that nobody waits for.
    """
    last = time.monotonic()

    def report(done: int, total: int) -> None:
        import anyio.from_thread

        nonlocal last
        anyio.from_thread.check_cancelled()
        now = time.monotonic()
        if now - last >= PROGRESS_SECONDS:
            last = now
            anyio.from_thread.run(context.session.report_progress, done, total, "projects")

    return report
