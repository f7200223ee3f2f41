"""Completion of arguments of prompts and resource templates: projects by name and id, skills."""

from collections.abc import Mapping
from typing import Final

from agentic_os.aggregate import questions
from agentic_os.server.privacy import last_redaction
from agentic_os.server.served import ServedPerson

MAX_VALUES: Final = 100
"""What the protocol allows in one answer."""


def complete(
    served: ServedPerson, argument: str, begun: str, chosen: Mapping[str, str]
) -> tuple[str, ...]:
    """List what an argument may be, given how it begins; empty if nobody knows.

    Args:
        served: whose fleet is looked through.
        argument: its name.
        begun: what was typed of it.
        chosen: the arguments that are filled in already.
    """
    if argument not in {"project", "skill"}:
        return ()
    with served.workspace() as workspace:
        if argument == "project":
            names = [project.name for project in workspace.fleet.projects]
            names += [project.id for project in workspace.fleet.projects]
        else:
            projects = (chosen["project"],) if chosen.get("project") else ()
            answer = questions.capabilities(workspace, projects)
            names = [one.name for one in answer.data.capabilities if one.section == "skill"]
    redaction = last_redaction(served.person)
    wanted = begun.casefold()
    kept = (redaction.text(name) for name in names if name.casefold().startswith(wanted))
    return tuple(dict.fromkeys(kept))
