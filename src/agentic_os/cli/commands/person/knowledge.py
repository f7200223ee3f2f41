"""``agentic-os aios memory`` and ``import``: from evidence to knowledge."""

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

memory = typer.Typer(
    help="Audit the hot memory, promote evidence.", no_args_is_help=True, rich_markup_mode=None
)
imports = typer.Typer(
    help="Take over what other agents remember.", no_args_is_help=True, rich_markup_mode=None
)

AllMemory = Annotated[
    bool, typer.Option("--all-memory", help="All of the log and the signals, not two days.")
]


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    app.add_typer(memory, name="memory")
    app.add_typer(imports, name="import")


@memory.command("audit")
def audit(
    all_memory: AllMemory = False,
    line_budget: Annotated[
        int, typer.Option(min=1, metavar="N", help="Lines that a hot file may have.")
    ] = 200,
    max_candidates: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many records are shown.")
    ] = 25,
    write_queue: Annotated[
        bool, typer.Option("--write-queue", help="Add what is shown to the queue of patches.")
    ] = False,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Measure what agents load, and find records that a skill could learn from.

    Example: agentic-os aios memory audit --all-memory
    """
    from agentic_os.cli.actions.person import keeping

    keeping.audit_memory(
        all_memory=all_memory,
        line_budget=line_budget,
        most=max_candidates,
        write_queue=write_queue,
        path=path,
        json=json,
    )


@memory.command("apply-skills")
def apply_skills(
    all_memory: AllMemory = False,
    apply: Apply = False,
    operation_id: OperationId = None,
    plan_fingerprint: Fingerprint = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Show the lessons that name a skill; with --apply, add them to its Field Notes.

    Example: agentic-os aios memory apply-skills
    """
    from agentic_os.cli.actions.person import keeping

    keeping.patch_skills(
        all_memory=all_memory,
        apply=apply,
        operation_id=operation_id,
        plan_fingerprint=plan_fingerprint,
        path=path,
        json=json,
    )


@memory.command("promote")
def promote(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="A captured session, by id or path.")
    ],
    to: Annotated[
        str,
        typer.Option(metavar="WHERE", help="signal, context, project, vault, skill, session-only."),
    ],
    summary: Annotated[str, typer.Option(metavar="TEXT", help="What is to be kept.")],
    destination: Annotated[
        str | None, typer.Option(metavar="REL.md", help="The file below it, or the skill.")
    ] = None,
    project: Selector = None,
    operation: Annotated[
        str, typer.Option(metavar="OP", help="add, replace, remove or supersede.")
    ] = "add",
    match: Annotated[
        str | None, typer.Option(metavar="HASH|TEXT", help="The block that is meant.")
    ] = None,
    apply: Apply = False,
    operation_id: OperationId = None,
    plan_fingerprint: Fingerprint = None,
    memory: Memory = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Show how evidence would become knowledge; with --apply, make it so.

    Example: agentic-os aios memory promote a1b2c3d4 --to session-only --summary "Ship on Friday"
    """
    from agentic_os.cli.actions.person import keeping

    keeping.promote_session(
        session,
        to=to,
        summary=summary,
        destination=destination,
        project=project,
        operation=operation,
        match=match,
        apply=apply,
        operation_id=operation_id,
        plan_fingerprint=plan_fingerprint,
        memory=memory,
        path=path,
        json=json,
    )


@imports.command("memories")
def memories(
    source: Annotated[
        str | None, typer.Option("--from", metavar="DIR", help="Markdown files of this folder.")
    ] = None,
    apply: Apply = False,
    operation_id: OperationId = None,
    plan_fingerprint: Fingerprint = None,
    memory: Memory = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Show which facts of Claude Code, Codex, Serena and CLAUDE.md would be taken over.

    Example: agentic-os aios import memories
    """
    from agentic_os.cli.actions.person import keeping

    keeping.import_facts(
        source=source,
        apply=apply,
        operation_id=operation_id,
        plan_fingerprint=plan_fingerprint,
        memory=memory,
        path=path,
        json=json,
    )
