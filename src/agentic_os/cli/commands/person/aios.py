"""``agentic-os aios``: the AIOS folder, read and written.

Exit codes keep the convention's meanings (design decision 12): 0 complete, zero hits
included; 1 an error; 2 an incomplete search, a refused follow or a refused resolve. A wrong
command line is 64, as everywhere.
"""

from typing import Annotated

import typer

from agentic_os.cli.commands.person import capture, knowledge, notes, upkeep
from agentic_os.cli.commands.person.options import Folder, Memory, Selector, StatePath
from agentic_os.cli.options import OnceCommand

app = typer.Typer(
    help="The AIOS folder: the person's own context, read bounded; changes can be undone.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


notes.add_to(app)
upkeep.add_to(app)
app.add_typer(capture.app, name="capture")
knowledge.add_to(app)


@app.command("brief")
def brief(
    kind: Annotated[
        str | None, typer.Argument(metavar="[daily]", help="Write today's brief; the default.")
    ] = None,
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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be written, write nothing.")
    ] = False,
    state_path: StatePath = None,
) -> None:
    """Print what the folder knows about now (--compact, --lean), or write today's brief.

    Without --compact and --lean the Brief section of today's note is brought up to date.

    Examples: agentic-os aios brief --compact --project shop

    agentic-os aios brief --dry-run
    """
    from agentic_os.cli.actions.person import context

    context.brief(
        kind=kind,
        dry_run=dry_run,
        compact=compact,
        lean=lean,
        json=json,
        path=path,
        memory=memory,
        project=project,
        budget=budget,
        first_message=first_message,
        cwd=cwd,
        state_path=state_path,
    )


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
    from agentic_os.cli.actions.person import context

    context.context(project=project, json=json, path=path, memory=memory, budget=budget)


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
    from agentic_os.cli.actions.person import search

    search.search(
        query=query or (),
        scope=scope,
        limit=limit,
        path=path,
        memory=memory,
        project=project,
        agent=agent,
        session_project=session_project,
        since=since,
        follow=follow,
        budget=budget,
        json=json,
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
    del json  # taken, since other hosts of the convention pass it
    from agentic_os.cli.actions.person import resolve

    resolve.resolve(
        intent=intent,
        project=project,
        supports_conventions=supports_conventions,
        tool=tool,
        query=query,
        message_id=message_id,
        date_window=date_window,
        page_size=page_size,
        budget=budget,
        memory=memory,
        path=path,
        home=home,
        state_path=state_path,
    )


@app.command("grant-vault")
def grant_vault(
    folder: Annotated[
        str | None,
        typer.Argument(metavar="DIR", help="The vault that aios.json names, to grant it."),
    ] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Take the grant back.")] = False,
    path: Folder = None,
) -> None:
    """Show the external vault that aios.json names; named once more, let searches read it.

    The grant holds for exactly that folder and is kept in projects.toml.

    Example: agentic-os aios grant-vault ~/notes
    """
    from agentic_os.cli.actions.person import vault

    vault.grant(folder, revoke=revoke, path=path)
