"""The fixtures that the conformance suite asks for, added to a server of the ordinary factory.

The application is made by ``make_application`` and keeps its own tools, resources and prompts; the
suite's are looked up first, in a server of the library's convenience layer that is never served by
itself. Test only: nothing below ``src`` knows of it.
"""

import base64
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types.jsonrpc import MISSING_REQUIRED_CLIENT_CAPABILITY
from pydantic import BaseModel, Field

from support.mcp.conformance_rounds import add_rounds

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
Handler = Callable[[ServerRequestContext[Any], Any], Awaitable[Any]]
EMPTY = types.EmptyResult()


class Answer(BaseModel):
    """What the elicitation fixture asks for."""

    username: str = Field(description="Your answer")
    email: str = Field(description="Your address")


def fixtures() -> MCPServer:  # noqa: C901, PLR0915 - a list of fixtures, nothing branches
    """The suite's tools, resources and prompts, by the names that it asks for."""
    made = MCPServer("fixtures")

    @made.tool(structured_output=False)
    def test_simple_text() -> str:
        """A text."""
        return "This is a simple text response for testing."

    @made.tool(structured_output=False)
    def test_image_content() -> list[types.ImageContent]:
        """An image."""
        return [types.ImageContent(type="image", data=PNG, mime_type="image/png")]

    @made.tool(structured_output=False)
    def test_audio_content() -> list[types.AudioContent]:
        """A sound."""
        return [types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")]

    def embedded(uri: str, text: str, mime: str) -> types.EmbeddedResource:
        return types.EmbeddedResource(
            type="resource",
            resource=types.TextResourceContents(uri=uri, mime_type=mime, text=text),
        )

    @made.tool(structured_output=False)
    def test_embedded_resource() -> list[types.EmbeddedResource]:
        """A resource."""
        return [embedded("test://embedded-resource", "An embedded resource.", "text/plain")]

    @made.tool(structured_output=False)
    def test_multiple_content_types() -> list[types.ContentBlock]:
        """A text, an image, a resource."""
        return [
            types.TextContent(type="text", text="Multiple content types test:"),
            types.ImageContent(type="image", data=PNG, mime_type="image/png"),
            embedded("test://mixed-content-resource", '{"test": "data"}', "application/json"),
        ]

    @made.tool(structured_output=False)
    async def test_tool_with_logging(ctx: Context) -> str:
        """Three log messages."""
        for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await ctx.info(text)
        return "done"

    @made.tool(structured_output=False)
    async def test_tool_with_progress(ctx: Context) -> str:
        """Three progress notifications."""
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100, f"Completed step {done} of 100")
        return "done"

    @made.tool(structured_output=False)
    def test_error_handling() -> str:
        """An error."""
        message = "This tool intentionally returns an error for testing"
        raise ValueError(message)

    @made.tool(structured_output=False)
    def test_missing_capability() -> str:
        """Needs a client that samples; answered before it is called."""
        return "the client samples"

    @made.tool(structured_output=False)
    def test_header_argument(
        note: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Note"})],
    ) -> str:
        """An argument that is sent as a header, too."""
        return note

    @made.tool(structured_output=False)
    async def test_sampling(prompt: str, ctx: Context) -> str:
        """Asks the client's model."""
        message = types.SamplingMessage(
            role="user", content=types.TextContent(type="text", text=prompt)
        )
        result = await ctx.session.create_message(messages=[message], max_tokens=100)
        return f"LLM response: {result.content}"

    @made.tool(structured_output=False)
    async def test_elicitation(message: str, ctx: Context) -> str:
        """Asks the person."""
        result = await ctx.elicit(message=message, schema=Answer)
        return f"User response: action={result.action}"

    @made.tool(structured_output=False)
    async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
        """Asks with defaults of every primitive type."""
        result = await ctx.session.elicit_form(
            "Review these values",
            {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "default": "John Doe"},
                    "age": {"type": "integer", "default": 30},
                    "score": {"type": "number", "default": 95.5},
                    "status": {
                        "type": "string",
                        "enum": ["active", "inactive", "pending"],
                        "default": "active",
                    },
                    "verified": {"type": "boolean", "default": True},
                },
            },
        )
        return f"Elicitation completed: action={result.action}"

    @made.tool(structured_output=False)
    async def test_elicitation_sep1330_enums(ctx: Context) -> str:
        """Asks with every form of enumeration."""
        names = ["option1", "option2", "option3"]
        titled = [{"const": name, "title": name.title()} for name in names]
        result = await ctx.session.elicit_form(
            "Choose",
            {
                "type": "object",
                "properties": {
                    "untitledSingle": {"type": "string", "enum": names},
                    "titledSingle": {"type": "string", "oneOf": titled},
                    "legacyEnum": {
                        "type": "string",
                        "enum": names,
                        "enumNames": [name.title() for name in names],
                    },
                    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": names}},
                    "titledMulti": {"type": "array", "items": {"anyOf": titled}},
                },
            },
        )
        return f"Elicitation completed: action={result.action}"

    @made.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        """A text."""
        return "This is the content of the static text resource."

    @made.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """An image."""
        return base64.b64decode(PNG)

    @made.resource("test://watched-resource", mime_type="text/plain")
    def watched() -> str:
        """A text to subscribe to."""
        return "Watched resource content"

    @made.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002 - the suite's name of the parameter
        """A resource by its id."""
        return f'{{"id": "{id}", "templateTest": true, "data": "Data for ID: {id}"}}'

    @made.prompt()
    def test_simple_prompt() -> str:
        """A text."""
        return "This is a simple prompt for testing."

    @made.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """A text with its arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @made.prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803 - the suite's name
        """A resource."""
        return [
            UserMessage(content=embedded(resourceUri, "Embedded for testing.", "text/plain")),
            UserMessage(content="Please process the embedded resource above."),
        ]

    @made.prompt()
    def test_prompt_with_image() -> list[UserMessage]:
        """An image."""
        image = types.ImageContent(type="image", data=PNG, mime_type="image/png")
        return [UserMessage(content=image), UserMessage(content="Please analyze the image above.")]

    add_rounds(made)
    return made


def need_sampling(context: ServerRequestContext[Any]) -> None:
    """Refuse a client that has not declared sampling, as the 2026-07-28 revision words it."""
    wanted = types.ClientCapabilities(sampling=types.SamplingCapability())
    if not context.session.check_client_capability(wanted):
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=wanted)
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "the client does not sample",
            data.model_dump(by_alias=True, exclude_none=True),
        )


def with_fixtures(application: Server[Any]) -> Server[Any]:
    """The application, with the suite's fixtures beside what it offers itself."""
    inner = fixtures()._lowlevel_server
    # A state that goes through the client is sealed, as the library's convenience layer does.
    application.middleware.append(
        RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="fixtures")
    )
    extra = [
        types.Tool(
            name="json_schema_2020_12_tool", description="A schema.", input_schema=SCHEMA_2020_12
        )
    ]

    def both(method: str) -> tuple[type[Any], Handler, Handler]:
        own, other = application.get_request_handler(method), inner.get_request_handler(method)
        assert own is not None
        assert other is not None
        return own.params_type, own.handler, other.handler

    def joined(method: str, member: str) -> None:
        params_type, own, other = both(method)

        async def handle(context: ServerRequestContext[Any], params: Any) -> Any:
            first, second = await own(context, params), await other(context, params)
            # The suite calls the first tool without arguments: that must be one without any.
            items = [*getattr(second, member), *getattr(first, member)]
            if member == "tools":
                items += extra
            return first.model_copy(update={member: items})

        application.add_request_handler(method, params_type, handle)

    def chosen(method: str, is_fixture: Callable[[Any], bool]) -> None:
        params_type, own, other = both(method)

        async def handle(context: ServerRequestContext[Any], params: Any) -> Any:
            if getattr(params, "name", "") == "test_missing_capability":
                need_sampling(context)
            return await (other if is_fixture(params) else own)(context, params)

        application.add_request_handler(method, params_type, handle)

    joined("tools/list", "tools")
    joined("resources/list", "resources")
    joined("resources/templates/list", "resource_templates")
    joined("prompts/list", "prompts")
    chosen("tools/call", lambda params: params.name.startswith("test_"))
    chosen("resources/read", lambda params: str(params.uri).startswith("test://"))
    chosen("prompts/get", lambda params: params.name.startswith("test_"))

    async def complete(_context: ServerRequestContext[Any], _params: Any) -> types.CompleteResult:
        return types.CompleteResult(completion=types.Completion(values=["paris", "park"]))

    async def nothing(_context: ServerRequestContext[Any], _params: Any) -> types.EmptyResult:
        return EMPTY

    application.add_request_handler("completion/complete", types.CompleteRequestParams, complete)
    application.add_request_handler("logging/setLevel", types.SetLevelRequestParams, nothing)
    application.add_request_handler("resources/subscribe", types.SubscribeRequestParams, nothing)
    application.add_request_handler(
        "resources/unsubscribe", types.UnsubscribeRequestParams, nothing
    )
    return application
