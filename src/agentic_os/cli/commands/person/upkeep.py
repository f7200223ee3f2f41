"""``agentic-os aios init``, ``skills`` and ``undo``: the folder as a whole."""

from typing import Annotated

import typer

from agentic_os.cli.commands.person.options import (
    Apply,
    DryRun,
    Fingerprint,
    Folder,
    OperationId,
)
from agentic_os.cli.options import Json

skills = typer.Typer(
    help="The skills that come with the program.", no_args_is_help=True, rich_markup_mode=None
)


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    app.command("init")(init)
    app.command("undo")(undo)
    app.command("cleanup")(cleanup)
    app.command("migrate")(migrate)
    app.add_typer(skills, name="skills")


def init(
    path: Folder = None,
    vault_path: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Keep the vault in this folder outside."),
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A JSON object of answers; - is standard input."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Add what is missing, keep what is there.")
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Also write generated files anew; never what is yours."),
    ] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Make an AIOS folder that any agent can read.

    Example: agentic-os aios init --yes
    """
    from agentic_os.cli.actions.person import writing

    writing.make_folder(
        path=path,
        vault=vault_path,
        answers=answers,
        yes=yes,
        force=force,
        overwrite=overwrite,
        dry_run=dry_run,
        json=json,
    )


def undo(
    operation: Annotated[
        str | None, typer.Argument(metavar="OP", help="An operation id or its beginning.")
    ] = None,
    apply: Apply = False,
    operation_id: OperationId = None,
    plan_fingerprint: Fingerprint = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Show how the last change would be undone; with --apply, undo it.

    Example: agentic-os aios undo
    """
    from agentic_os.cli.actions.person import writing

    writing.undo_change(
        operation,
        apply=apply,
        operation_id=operation_id,
        plan_fingerprint=plan_fingerprint,
        path=path,
        json=json,
    )


def cleanup(dry_run: DryRun = False, path: Folder = None, json: Json = False) -> None:
    """Move old events and stale signals to their archives; no line is lost.

    Example: agentic-os aios cleanup --dry-run
    """
    from agentic_os.cli.actions.person import keeping

    keeping.clean_up(dry_run=dry_run, path=path, json=json)


def migrate(
    apply: Annotated[
        str | None, typer.Option("--apply", metavar="PLAN", help="Carry exactly this plan out.")
    ] = None,
    recover: Annotated[
        bool, typer.Option("--recover", help="Take an unfinished migration back.")
    ] = False,
    plan: Annotated[
        str | None, typer.Argument(metavar="PLAN", help="With --recover, which one.")
    ] = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Show what would bring an older folder to the newest schema; with --apply, do it.

    Example: agentic-os aios migrate
    """
    from agentic_os.cli.actions.person import keeping

    keeping.migrate_folder(apply=apply, recover=recover, plan=plan, path=path, json=json)


@skills.command("update")
def update_skills(
    apply: Apply = False,
    operation_id: OperationId = None,
    plan_fingerprint: Fingerprint = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Bring the bundled skills up to date; what you changed stays.

    Example: agentic-os aios skills update
    """
    from agentic_os.cli.actions.person import writing

    writing.skills_update(
        apply=apply,
        operation_id=operation_id,
        plan_fingerprint=plan_fingerprint,
        path=path,
        json=json,
    )
