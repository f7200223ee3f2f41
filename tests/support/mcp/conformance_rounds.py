"""The fixtures of the conformance suite that answer by asking the client for input first.

At 2026-07-28 a server that needs something of the client (a person's word, its model, its roots)
says so in its result, and the client asks again with the responses. Test only: nothing that the
package offers asks for anything.
"""

from typing import TypeVar

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage

Asked = types.InputRequiredResult
R = TypeVar("R")


def form(message: str, **properties: str) -> types.ElicitRequest:
    """Ask the person for some values, each of a JSON type; all are needed."""
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def sample(text: str) -> types.CreateMessageRequest:
    """Ask the client's model."""
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    )


def response(context: Context, name: str, kind: type[R]) -> R | None:
    """The client's response of one name, if it is there and of the kind that was asked for."""
    found = (context.input_responses or {}).get(name)
    return found if isinstance(found, kind) else None


def value(context: Context, name: str, member: str) -> str | None:
    """What the person entered; ``None`` if they did not, or entered something else."""
    found = response(context, name, types.ElicitResult)
    content = {} if found is None or found.action != "accept" else found.content or {}
    return str(content[member]) if member in content else None


def add_rounds(made: MCPServer) -> None:  # noqa: C901 - a list of fixtures
    """Add them, by the names that the suite asks for."""

    @made.tool(structured_output=False)
    def test_input_required_result_elicitation(ctx: Context) -> str | Asked:
        """Asks for a name."""
        name = value(ctx, "user_name", "name")
        if name is None:
            return Asked(input_requests={"user_name": form("What is your name?", name="string")})
        return f"Hello, {name}!"

    @made.tool(structured_output=False)
    def test_input_required_result_sampling(ctx: Context) -> str | Asked:
        """Asks the model."""
        said = response(ctx, "capital_question", types.CreateMessageResult)
        if said is None:
            question = sample("What is the capital of France?")
            return Asked(input_requests={"capital_question": question})
        return f"The model said: {said.content}"

    @made.tool(structured_output=False)
    def test_input_required_result_list_roots(ctx: Context) -> str | Asked:
        """Asks for the roots."""
        found = response(ctx, "client_roots", types.ListRootsResult)
        if found is None:
            return Asked(input_requests={"client_roots": types.ListRootsRequest()})
        return ", ".join(str(root.uri) for root in found.roots)

    @made.tool(structured_output=False)
    def test_input_required_result_request_state(ctx: Context) -> str | Asked:
        """Asks, and wants its state back."""
        if value(ctx, "confirm", "ok") is None:
            asked = form("Please confirm", ok="boolean")
            return Asked(input_requests={"confirm": asked}, request_state="waits for the word")
        return "state-ok" if ctx.request_state == "waits for the word" else "state-lost"

    @made.tool(structured_output=False)
    def test_input_required_result_multiple_inputs(ctx: Context) -> str | Asked:
        """Asks the person, the model and the client at once."""
        name = value(ctx, "user_name", "name")
        said = response(ctx, "greeting", types.CreateMessageResult)
        roots = response(ctx, "client_roots", types.ListRootsResult)
        if name is None or said is None or roots is None:
            return Asked(
                input_requests={
                    "user_name": form("What is your name?", name="string"),
                    "greeting": sample("Generate a greeting"),
                    "client_roots": types.ListRootsRequest(),
                },
                request_state="waits for three",
            )
        return f"{said.content} {name}: {len(roots.roots)} roots"

    @made.tool(structured_output=False)
    def test_input_required_result_multi_round(ctx: Context) -> str | Asked:
        """Asks twice; the state says what was answered before."""
        name, color = value(ctx, "step1", "name"), value(ctx, "step2", "color")
        if ctx.request_state is not None and color is not None:
            return f"{ctx.request_state} likes {color}"
        if name is not None:
            asked = form("Step 2: What is your favorite color?", color="string")
            return Asked(input_requests={"step2": asked}, request_state=name)
        asked = form("Step 1: What is your name?", name="string")
        return Asked(input_requests={"step1": asked}, request_state="first")

    @made.tool(structured_output=False)
    def test_input_required_result_tampered_state(ctx: Context) -> str | Asked:
        """Asks; a state that was changed is refused before it comes here."""
        if ctx.request_state is None or value(ctx, "confirm", "ok") is None:
            asked = form("Please confirm", ok="boolean")
            return Asked(input_requests={"confirm": asked}, request_state="sealed")
        return f"state is {ctx.request_state}"

    @made.tool(structured_output=False)
    def test_input_required_result_capabilities(ctx: Context) -> str | Asked:
        """Asks only for what the client has declared."""
        declared = ctx.client_capabilities or types.ClientCapabilities()
        requests: types.InputRequests = {}
        if declared.elicitation is not None:
            requests["user_name"] = form("What is your name?", name="string")
        if declared.sampling is not None:
            requests["greeting"] = sample("Generate a greeting")
        if declared.roots is not None:
            requests["client_roots"] = types.ListRootsRequest()
        return Asked(input_requests=requests) if requests else "the client can do nothing"

    @made.prompt()
    def test_input_required_result_prompt(ctx: Context) -> list[UserMessage] | Asked:
        """Asks what the prompt shall be about."""
        about = value(ctx, "user_context", "context")
        if about is None:
            asked = form("What context should the prompt use?", context="string")
            return Asked(input_requests={"user_context": asked})
        return [UserMessage(content=f"The context is {about}.")]
