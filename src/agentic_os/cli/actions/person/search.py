"""Search the AIOS folder, or follow a reference into it."""

from collections.abc import Sequence

import typer

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.faults import argument_fault
from agentic_os.aios.folder.json_text import compact
from agentic_os.aios.folder.withheld import hidden_characters
from agentic_os.aios.follow.pages import DEFAULT_PAGE_CHARS, SourcePage, SourceRefusal
from agentic_os.aios.follow.request import follow_source
from agentic_os.aios.policy import MemoryPolicy, resolve_policy
from agentic_os.aios.search.lines import answer_lines, warning_lines
from agentic_os.aios.search.request import search_aios
from agentic_os.aios.search.values import SessionFilters
from agentic_os.cli.actions.person.reach import folder_access, say_held_back
from agentic_os.cli.exit_codes import INCOMPLETE
from agentic_os.cli.output import say, write


def search(
    *,
    query: Sequence[str],
    scope: str | None,
    limit: int | None,
    path: str | None,
    memory: str | None,
    project: str | None,
    agent: str | None,
    session_project: str | None,
    since: str | None,
    follow: str | None,
    budget: int | None,
    json: bool,
) -> None:
    """Search the folder, or follow a reference from a brief or a search."""
    policy = resolve_policy(mode=memory, project=project)
    if follow is not None:
        if query or any(
            value is not None for value in (scope, limit, agent, session_project, since)
        ):
            raise argument_fault("--follow excludes a query, --scope, --limit and session filters")
        _follow(folder_access(policy, path), policy, follow, budget)
        return
    if json or budget is not None:
        raise argument_fault("--json and --budget go with --follow only")
    _search(
        folder_access(policy, path),
        policy,
        " ".join(query),
        scope or "all",
        20 if limit is None else limit,
        (agent, session_project, since),
    )


def _search(
    access: AiosAccess,
    policy: MemoryPolicy,
    query: str,
    scope: str,
    limit: int,
    filters: tuple[str | None, str | None, str | None],
) -> None:
    agent, tag, since = filters
    answer = search_aios(
        access,
        policy,
        query=query,
        scope=scope,
        limit=limit,
        filters=SessionFilters(agent=agent, project=tag, since=since),
    )
    for line in answer_lines(answer):
        write(line + "\n")
    for line in warning_lines(answer):
        say(line)
    if not answer.complete:
        raise typer.Exit(INCOMPLETE)


def _follow(access: AiosAccess, policy: MemoryPolicy, reference: str, budget: int | None) -> None:
    answer = follow_source(
        access,
        policy,
        reference=reference,
        budget=DEFAULT_PAGE_CHARS if budget is None else budget,
    )
    write(compact(answer.as_json()) + "\n")
    if isinstance(answer, SourcePage):
        say_held_back(0, hidden_characters(answer.text))
    if isinstance(answer, SourceRefusal):
        raise typer.Exit(INCOMPLETE)
