"""Resolve an intent to a project of the AIOS folder and its skill."""

from pathlib import Path

import typer

from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.folder.withheld import hidden_characters
from agentic_os.aios.intent.request import resolve_intent
from agentic_os.aios.intent.tools import ToolRequest
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.projects.routing import parse_conventions
from agentic_os.cli.actions.person.reach import folder_access, say_held_back
from agentic_os.cli.exit_codes import INCOMPLETE
from agentic_os.cli.output import write


def resolve(
    *,
    intent: str,
    project: str | None,
    supports_conventions: str | None,
    tool: str | None,
    query: str | None,
    message_id: str | None,
    date_window: str | None,
    page_size: int | None,
    budget: int,
    memory: str | None,
    path: str | None,
    home: str | None,
    state_path: str | None,
) -> None:
    """Resolve an intent to one verified project, its context and its governing skill."""
    policy = resolve_policy(mode=memory or "project", project=project, deferred_project=True)
    answer = resolve_intent(
        folder_access(policy, path, state_path, home=home),
        policy,
        intent=intent,
        project=project,
        cwd=Path.cwd() if project is None and policy.mode != "off" else None,
        tool=_tool(tool, query, message_id, date_window, page_size),
        conventions=parse_conventions(supports_conventions),
        budget=budget,
    )
    write(answer.text() + "\n")
    say_held_back(0, hidden_characters(answer.memory.context))
    if answer.status == "refused":
        raise typer.Exit(INCOMPLETE)


def _tool(
    capability: str | None,
    query: str | None,
    message_id: str | None,
    date_window: str | None,
    page_size: int | None,
) -> ToolRequest | None:
    if capability is None:
        if any(value is not None for value in (query, message_id, date_window, page_size)):
            raise argument_fault("tool parameters go with --tool only")
        return None
    return ToolRequest(
        capability=capability,
        query=query,
        message_id=message_id,
        date_window=date_window,
        page_size=page_size,
    )
