"""``agentic-os aios capture``: conversations become searchable files, once each."""

from typing import Annotated

import typer

from agentic_os.cli.commands.person.options import (
    Apply,
    Fingerprint,
    Folder,
    Memory,
    OperationId,
    Selector,
)
from agentic_os.cli.options import Json

app = typer.Typer(
    help="Captured conversations: import, list, delete, hook.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
imports = typer.Typer(
    help="Store transcripts of agents, files or pasted text.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(imports, name="import")

All = Annotated[bool, typer.Option("--all", help="Every transcript, not just the newest.")]
Since = Annotated[
    str | None, typer.Option("--since", metavar="AGE", help="Those of the last 12h, 7d, 2w or 1m.")
]
Agent = Annotated[str | None, typer.Option("--agent", metavar="NAME", help="Only of this agent.")]


@imports.command("claude-code")
def claude_code(
    everything: All = False,
    since: Since = None,
    project: Selector = None,
    memory: Memory = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Store the newest conversation of Claude Code, or all of them.

    Example: agentic-os aios capture import claude-code --since 7d
    """
    from agentic_os.cli.actions.person import capturing

    capturing.import_agent(
        "claude-code", everything=everything, since=since, project=project, memory=memory,
        path=path, json=json,
    )  # fmt: skip


@imports.command("codex")
def codex(
    everything: All = False,
    since: Since = None,
    project: Selector = None,
    memory: Memory = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Store the newest conversation of Codex, or all of them.

    Example: agentic-os aios capture import codex --all
    """
    from agentic_os.cli.actions.person import capturing

    capturing.import_agent(
        "codex", everything=everything, since=since, project=project, memory=memory,
        path=path, json=json,
    )  # fmt: skip


@imports.command("gemini")
def gemini(
    everything: All = False,
    since: Since = None,
    project: Selector = None,
    memory: Memory = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Store the newest conversation of Gemini CLI, or all of them.

    Example: agentic-os aios capture import gemini
    """
    from agentic_os.cli.actions.person import capturing

    capturing.import_agent(
        "gemini", everything=everything, since=since, project=project, memory=memory,
        path=path, json=json,
    )  # fmt: skip


@imports.command("file")
def file(
    source: Annotated[str, typer.Argument(metavar="FILE", help="A transcript, or plain text.")],
    project: Selector = None,
    memory: Memory = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Store one file: a transcript of a known form, or text.

    Example: agentic-os aios capture import file notes.txt
    """
    from agentic_os.cli.actions.person import capturing

    capturing.import_file(source, project=project, memory=memory, path=path, json=json)


@imports.command("paste")
def paste(
    project: Selector = None, memory: Memory = None, path: Folder = None, json: Json = False
) -> None:
    """Store text from standard input; lines that start with # are dropped.

    Example: agentic-os aios capture import paste < talk.txt
    """
    from agentic_os.cli.actions.person import capturing

    capturing.import_paste(project=project, memory=memory, path=path, json=json)


@app.command("save-summary")
def save_summary(path: Folder = None) -> None:
    """Save a summary exactly once; the request is JSON on standard input.

    Example: agentic-os aios capture save-summary < request.json
    """
    from agentic_os.cli.actions.person import capturing

    capturing.save(path=path)


@app.command("list")
def list_sessions(
    agent: Agent = None,
    project: Selector = None,
    since: Since = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="How many.")] = 20,
    path: Folder = None,
    json: Json = False,
) -> None:
    """List captured sessions, newest first.

    Example: agentic-os aios capture list --agent codex
    """
    from agentic_os.cli.actions.person import capturing

    capturing.show_list(
        agent=agent, project=project, since=since, limit=limit, path=path, json=json
    )


@app.command("delete")
def delete(
    session: Annotated[str, typer.Argument(metavar="ID", help="A session, by id or its start.")],
    apply: Apply = False,
    operation_id: OperationId = None,
    plan_fingerprint: Fingerprint = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Show what deleting a session would remove; with --apply, remove it.

    Example: agentic-os aios capture delete a1b2c3d4
    """
    from agentic_os.cli.actions.person import capturing

    capturing.delete_session(
        session,
        apply=apply,
        operation_id=operation_id,
        plan_fingerprint=plan_fingerprint,
        path=path,
        json=json,
    )


@app.command("status")
def status(path: Folder = None, json: Json = False) -> None:
    """Say how full the store is, and what could not be captured.

    Example: agentic-os aios capture status
    """
    from agentic_os.cli.actions.person import capturing

    capturing.show_status(path=path, json=json)


@app.command("reconcile")
def reconcile(
    apply: Annotated[bool, typer.Option("--apply", help="Write the index anew.")] = False,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Compare the index with the files; with --apply, write it anew from them.

    Example: agentic-os aios capture reconcile
    """
    from agentic_os.cli.actions.person import capturing

    capturing.reconcile_store(apply=apply, path=path, json=json)


@app.command("enable")
def enable(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="claude-code.")] = "claude-code",
    apply: Apply = False,
    operation_id: OperationId = None,
    plan_fingerprint: Fingerprint = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Show the hook that captures every conversation of Claude Code; with --apply, add it.

    Example: agentic-os aios capture enable claude-code
    """
    from agentic_os.cli.actions.person import capturing

    capturing.change_capture(
        agent,
        enabled=True,
        apply=apply,
        operation_id=operation_id,
        plan_fingerprint=plan_fingerprint,
        path=path,
        json=json,
    )


@app.command("disable")
def disable(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="claude-code.")] = "claude-code",
    apply: Apply = False,
    operation_id: OperationId = None,
    plan_fingerprint: Fingerprint = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Show how the hook would be removed; with --apply, remove it.

    Example: agentic-os aios capture disable claude-code
    """
    from agentic_os.cli.actions.person import capturing

    capturing.change_capture(
        agent,
        enabled=False,
        apply=apply,
        operation_id=operation_id,
        plan_fingerprint=plan_fingerprint,
        path=path,
        json=json,
    )


@app.command("hook")
def hook(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="claude-code.")],
    path: Folder = None,
) -> None:
    """Capture the conversation that a hook names on standard input; always ends with 0.

    Example: agentic-os aios capture hook claude-code
    """
    from agentic_os.cli.actions.person import capturing

    capturing.run_hook(agent, path=path)
