"""``agentic-os aios``: read the AIOS folder. These commands write nothing.

Exit codes keep the convention's meanings (design decision 12): 0 complete, zero hits
included; 1 an error; 2 an incomplete search, a refused follow or a refused resolve. A wrong
command line is 64, as everywhere.
"""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from pathlib import Path

    from agentic_os.aios.context.brief import Brief
    from agentic_os.aios.folder.access import AiosAccess
    from agentic_os.aios.intent.tools import ToolRequest
    from agentic_os.aios.policy import MemoryPolicy

INCOMPLETE = 2
"""Exit code of an answer that is incomplete or a refusal."""
VAULT_GRANT = "aios-vault"
"""The name under which projects.toml grants an external vault: its endpoint is the path."""

app = typer.Typer(
    help="The AIOS folder: the person's own context, read bounded and never written.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Folder = Annotated[
    str | None,
    typer.Option(
        "--path", metavar="DIR", help="The AIOS folder. Default: DOTAIOS_PATH, else ~/aios."
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="MODE",
        help="shared, project or off. Off reads nothing at all.",
    ),
]
Selector = Annotated[
    str | None,
    typer.Option("--project", metavar="P", help="A project of the folder, by slug or stable id."),
]
StatePath = Annotated[
    str | None,
    typer.Option(
        "--state-path", metavar="FILE", help="The machine-local map of project checkouts."
    ),
]


class OnceCommand(TyperCommand):
    """A command whose options may each be given once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse a repeated option, then parse as usual."""
        order = self.make_parser(ctx).parse_args(args=list(args))[2]
        names = [param.name for param in order if param.param_type_name == "option"]
        for name in names:
            if names.count(name) > 1:
                ctx.fail(f"option --{(name or '').replace('_', '-')} may be given once")
        return super().parse_args(ctx, args)


@app.command("brief")
def brief(
    compact: Annotated[
        bool, typer.Option("--compact", help="The bounded working-context projection.")
    ] = False,
    lean: Annotated[
        bool, typer.Option("--lean", help="Five whole texts instead, without a budget.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="One line of hook JSON (compact), or a document (lean).")
    ] = False,
    path: Folder = None,
    memory: Memory = None,
    project: Selector = None,
    budget: Annotated[
        int, typer.Option(min=0, metavar="N", help="Characters of the projection.")
    ] = 6000,
    first_message: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The session's first message; it may choose the memory."),
    ] = None,
    cwd: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Choose the project whose checkout contains this folder."),
    ] = None,
    state_path: StatePath = None,
) -> None:
    """Print what the folder knows about now: identity, priorities, work, days, projects.

    Example: agentic-os aios brief --compact --project shop
    """
    from agentic_os.aios.policy import resolve_policy
    from agentic_os.cli.output import write

    asked = project is not None or memory is not None
    policy = resolve_policy(
        mode=memory,
        project=project,
        first_message=first_message,
        deferred_project=cwd is not None,
    )
    if policy.mode != "off":
        _check_brief(compact=compact, lean=lean, asked=asked or bool(first_message or cwd))
    access = _access(policy, path, state_path)
    if lean and policy.mode != "off":
        _print_lean(access, json=json)
        return
    if cwd is not None and not asked and policy.mode != "off":
        policy = _attached(access, cwd, first_message)
    found = _read_brief(access, policy, budget)
    if json:
        write(found.hook_json() + "\n")
    else:
        _print_text(found.text())
    _say_held_back(found.context.withheld, found.context.hidden_characters)


@app.command("context")
def context(
    project: Annotated[str, typer.Argument(metavar="P", help="The project, by slug or stable id.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    path: Folder = None,
    memory: Memory = None,
    budget: Annotated[
        int, typer.Option(min=1, metavar="N", help="Characters of the projection.")
    ] = 6000,
) -> None:
    """Print the continuity of one project: its README, sessions, signals, events.

    Example: agentic-os aios context shop --json
    """
    from agentic_os.aios.policy import resolve_policy
    from agentic_os.cli.output import write

    policy = resolve_policy(mode=memory, project=project)
    found = _read_brief(_access(policy, path, None), policy, budget)
    if json:
        write(found.project_json() + "\n")
    else:
        _print_text(found.text())
    _say_held_back(found.context.withheld, found.context.hidden_characters)


@app.command("search")
def search(
    query: Annotated[
        list[str] | None, typer.Argument(help="What to look for; several words are one query.")
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="SCOPE",
            help="memory, vault, context, projects, decisions, skills, references, plugins,"
            " sessions or all (the default).",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Results per scope; 20 by default.")
    ] = None,
    path: Folder = None,
    memory: Memory = None,
    project: Selector = None,
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only sessions of this agent.")
    ] = None,
    session_project: Annotated[
        str | None, typer.Option(metavar="TAG", help="Only sessions with this project tag.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="Only sessions since 12h, 7d, 2w, 1m or a date."),
    ] = None,
    follow: Annotated[
        str | None,
        typer.Option(metavar="REF", help="Read the source behind an excerpt instead."),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(metavar="N", help="Characters of a followed page; 6000.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="With --follow, which prints JSON anyway.")
    ] = False,
) -> None:
    """Search the folder, or follow a reference from a brief or a search.

    Examples: agentic-os aios search "release policy" --scope context

    agentic-os aios search --follow ds1.eyJ2Ijox... --memory shared
    """
    from agentic_os.aios.folder.faults import argument_fault
    from agentic_os.aios.policy import resolve_policy

    policy = resolve_policy(mode=memory, project=project)
    if follow is not None:
        if query or any(
            value is not None for value in (scope, limit, agent, session_project, since)
        ):
            raise argument_fault("--follow excludes a query, --scope, --limit and session filters")
        _follow(_access(policy, path, None), policy, follow, budget)
        return
    if json or budget is not None:
        raise argument_fault("--json and --budget go with --follow only")
    _search(
        _access(policy, path, None),
        policy,
        " ".join(query or ()),
        scope or "all",
        20 if limit is None else limit,
        (agent, session_project, since),
    )


@app.command("resolve", cls=OnceCommand)
def resolve(
    intent: Annotated[str, typer.Argument(help="What is to be done, in words.")],
    project: Selector = None,
    supports_conventions: Annotated[
        str | None,
        typer.Option(
            metavar="KINDS",
            help="What the host supports: agents-md,claude-md,repository-skill.",
        ),
    ] = None,
    tool: Annotated[
        str | None, typer.Option(metavar="CAP", help="A read-only capability to look up.")
    ] = None,
    query: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The capability's query.")
    ] = None,
    message_id: Annotated[
        str | None, typer.Option(metavar="ID", help="The capability's message id.")
    ] = None,
    date_window: Annotated[
        str | None, typer.Option(metavar="WHEN", help="today, tomorrow or week.")
    ] = None,
    page_size: Annotated[
        int | None, typer.Option(metavar="N", help="The capability's page size, 1 to 100.")
    ] = None,
    budget: Annotated[
        int, typer.Option(metavar="N", help="Characters of the whole document, 1024 to 32000.")
    ] = 8000,
    memory: Memory = None,
    path: Folder = None,
    home: Annotated[
        str | None, typer.Option(metavar="DIR", help="Another home folder, for ~/aios.")
    ] = None,
    state_path: StatePath = None,
    json: Annotated[
        bool, typer.Option("--json", help="Accepted; the answer is JSON anyway.")
    ] = False,
) -> None:
    """Resolve an intent to one verified project, its context and its governing skill.

    Nothing is run and nothing is approved. Without --project the current folder must lie
    in exactly one verified checkout.

    Example: agentic-os aios resolve "cut a release" --project shop
    """
    from pathlib import Path

    from agentic_os.aios.folder.withheld import hidden_characters
    from agentic_os.aios.intent.request import resolve_intent
    from agentic_os.aios.policy import resolve_policy
    from agentic_os.aios.projects.routing import parse_conventions
    from agentic_os.cli.output import write

    del json
    policy = resolve_policy(mode=memory or "project", project=project, deferred_project=True)
    answer = resolve_intent(
        _access(policy, path, state_path, home=home),
        policy,
        intent=intent,
        project=project,
        cwd=Path.cwd() if project is None and policy.mode != "off" else None,
        tool=_tool(tool, query, message_id, date_window, page_size),
        conventions=parse_conventions(supports_conventions),
        budget=budget,
    )
    write(answer.text() + "\n")
    _say_held_back(0, hidden_characters(answer.memory.context))
    if answer.status == "refused":
        raise typer.Exit(INCOMPLETE)


def _check_brief(*, compact: bool, lean: bool, asked: bool) -> None:
    from agentic_os.aios.folder.faults import argument_fault

    if compact == lean:
        raise argument_fault("choose either --compact or --lean")
    if lean and asked:
        raise argument_fault(
            "--memory, --project, --first-message and --cwd go with --compact only"
        )


def _access(
    policy: "MemoryPolicy", path: str | None, state_path: str | None, *, home: str | None = None
) -> "AiosAccess":
    """Put together how the folder is reached; with memory off, nothing is looked at."""
    import os
    from pathlib import Path

    from agentic_os.aios.folder.access import AiosAccess

    if policy.mode == "off":
        return AiosAccess(root=Path())
    from agentic_os.aios.folder.withheld import SecretGuard
    from agentic_os.aios.projects.placement import default_state_path
    from agentic_os.files.places import places_from
    from agentic_os.settings.location import load_settings
    from agentic_os.text.secrets.redaction import Redactor

    own = Path(home).expanduser() if home is not None else Path.home()
    places = places_from(os.environ)
    settings = load_settings(places, home=own)
    folder = places.aios if home is None else own / "aios"
    return AiosAccess(
        root=_absolute(path, folder),
        vault_granted=lambda place: settings.granted(VAULT_GRANT, str(place)),
        guard=SecretGuard(Redactor(settings.redaction_allow)),
        state_path=_absolute(state_path, default_state_path(places.data)),
        home=own,
    )


def _absolute(given: str | None, default: "Path") -> "Path":
    from pathlib import Path

    return default if given is None else Path(given).expanduser().absolute()


def _attached(access: "AiosAccess", cwd: str, first_message: str | None) -> "MemoryPolicy":
    """Choose project memory when ``cwd`` lies in a verified checkout."""
    from pathlib import Path

    from agentic_os.aios.context.brief import attached_project
    from agentic_os.aios.policy import resolve_policy

    found = attached_project(access, Path(cwd))
    return resolve_policy(project=found, first_message=first_message)


def _read_brief(access: "AiosAccess", policy: "MemoryPolicy", budget: int) -> "Brief":
    from agentic_os.aios.context.brief import read_brief

    return read_brief(access, policy, budget=budget)


def _print_lean(access: "AiosAccess", *, json: bool) -> None:
    from agentic_os.aios.context.lean import read_lean
    from agentic_os.cli.output import schema_name, write_json

    found = read_lean(access)
    if json:
        write_json({"schema": schema_name("aios-brief-lean"), "data": found.as_json()})
    else:
        _print_text(found.text())
    _say_held_back(found.withheld, 0)


def _print_text(text: str) -> None:
    """Print text of the folder, byte for byte unless it goes to a terminal."""
    from agentic_os.cli.output import on_terminal, write
    from agentic_os.text.fencing import terminal_safe

    write((terminal_safe(text) if on_terminal() else text) + "\n")


def _say_held_back(withheld: int, hidden: int) -> None:
    from agentic_os.cli.output import say

    if withheld:
        say(f"Left out because they look like secrets: {withheld}.")
    if hidden:
        say(f"Hidden or controlling characters in what is shown: {hidden}.")


def _search(
    access: "AiosAccess",
    policy: "MemoryPolicy",
    query: str,
    scope: str,
    limit: int,
    filters: tuple[str | None, str | None, str | None],
) -> None:
    from agentic_os.aios.search.lines import answer_lines, warning_lines
    from agentic_os.aios.search.request import search_aios
    from agentic_os.aios.search.values import SessionFilters
    from agentic_os.cli.output import say, write

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


def _follow(
    access: "AiosAccess", policy: "MemoryPolicy", reference: str, budget: int | None
) -> None:
    from agentic_os.aios.folder.json_text import compact
    from agentic_os.aios.folder.withheld import hidden_characters
    from agentic_os.aios.follow.pages import DEFAULT_BUDGET_CHARS, SourcePage, SourceRefusal
    from agentic_os.aios.follow.request import follow_source
    from agentic_os.cli.output import write

    answer = follow_source(
        access,
        policy,
        reference=reference,
        budget=DEFAULT_BUDGET_CHARS if budget is None else budget,
    )
    write(compact(answer.as_json()) + "\n")
    if isinstance(answer, SourcePage):
        _say_held_back(0, hidden_characters(answer.text))
    if isinstance(answer, SourceRefusal):
        raise typer.Exit(INCOMPLETE)


def _tool(
    capability: str | None,
    query: str | None,
    message_id: str | None,
    date_window: str | None,
    page_size: int | None,
) -> "ToolRequest | None":
    from agentic_os.aios.folder.faults import argument_fault
    from agentic_os.aios.intent.tools import ToolRequest

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
