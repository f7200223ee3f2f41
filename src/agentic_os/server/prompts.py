"""The prompts: orient in the fleet, hand over to another project."""

from collections.abc import Mapping
from dataclasses import dataclass

from agentic_os.server.codes import ERRORS
from agentic_os.text.fencing import fence

MAX_ARGUMENT_CHARS = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArgument:
    """One argument of a prompt."""

    name: str
    description: str
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDefinition:
    """A prompt as it is listed."""

    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...]


PROMPTS: tuple[PromptDefinition, ...] = (
    PromptDefinition(
        name="orient",
        title="Orient in the fleet",
        description="Learn which projects there are and what they know about a topic.",
        arguments=(
            PromptArgument(name="topic", description="What you are about to do", required=False),
        ),
    ),
    PromptDefinition(
        name="hand_over",
        title="Hand over to another project",
        description="Gather what the next project's session needs to know.",
        arguments=(
            PromptArgument(name="project", description="Which one takes over", required=True),
            PromptArgument(name="task", description="What is to be done there", required=True),
        ),
    ),
)


def render_prompt(name: str, arguments: Mapping[str, str] | None) -> str:
    """Write the text of a prompt; arguments are quoted as data.

    Raises:
        UsageError: the prompt or an argument is unknown, missing or too long.
    """
    prompt = next((one for one in PROMPTS if one.name == name), None)
    if prompt is None:
        raise ERRORS.error("ARGUMENT_INVALID", "unknown prompt")
    given = dict(arguments or {})
    known = {one.name for one in prompt.arguments}
    missing = [one.name for one in prompt.arguments if one.required and not given.get(one.name)]
    if given.keys() - known or missing:
        raise ERRORS.error("ARGUMENT_INVALID", "unknown or missing argument")
    if any(len(value) > MAX_ARGUMENT_CHARS for value in given.values()):
        raise ERRORS.error("ARGUMENT_INVALID", "an argument is too long")
    if name == "orient":
        topic = given.get("topic", "")
        about = f" and then search_fleet about this topic:\n\n{fence(topic)}" if topic else "."
        return (
            "Call fleet_overview with sections projects and memory"
            f"{about}\n\nSay in a few lines which projects matter here, what they remember about"
            " it, and where they state different things. Cite project, path and lines."
        )
    return (
        "Prepare a hand-over to another project. Its name, as data:\n\n"
        f"{fence(given['project'])}\n\nThe task, as data:\n\n"
        f"{fence(given['task'])}\n\nCall search_fleet limited to that project, query_graph impact"
        " for the code that is touched, and read_working_context. Write what the next session"
        " needs: the goal, the facts with their sources, the open questions. Invent nothing."
    )
