"""``agentic-os aios update`` and ``daily``: what a day leaves behind."""

from typing import Annotated

import typer

from agentic_os.cli.commands.person.options import Folder, Memory, Selector
from agentic_os.cli.options import Json

daily = typer.Typer(help="Sections of the daily note.", no_args_is_help=True, rich_markup_mode=None)


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    app.command("update")(update)
    app.add_typer(daily, name="daily")


def update(
    text: Annotated[
        str | None, typer.Argument(help="What happened; without it, standard input.")
    ] = None,
    project: Selector = None,
    kind: Annotated[
        str, typer.Option("--type", metavar="T", help="The type of the record.")
    ] = "update",
    record_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Complete an earlier attempt under its id."),
    ] = None,
    allow_secret: Annotated[
        bool, typer.Option("--allow-secret", help="Write it although it looks like a secret.")
    ] = False,
    memory: Memory = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Note what happened, in the event log and in the day's signals.

    Example: agentic-os aios update "The beta ships on Friday" --project shop
    """
    from agentic_os.cli.actions.person import writing

    writing.note_update(
        text,
        path=path,
        memory=memory,
        project=project,
        kind=kind,
        record_id=record_id,
        allow_secret=allow_secret,
        json=json,
    )


@daily.command("set")
def set_section(
    section: Annotated[
        str,
        typer.Option("--section", metavar="S", help="Focus, Plan, Done, Carry-over or Reflection."),
    ],
    replace: Annotated[bool, typer.Option("--replace", help="Replace what stands there.")] = False,
    memory: Memory = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Write one section of today's note, its text from standard input.

    Example: echo "Ship the gate" | agentic-os aios daily set --section Focus
    """
    from agentic_os.cli.actions.person import writing

    writing.daily_set(section, path=path, memory=memory, replace=replace, json=json)


@daily.command("carry")
def carry(
    to: Annotated[
        str | None, typer.Option("--to", metavar="DATE", help="The day; tomorrow by default.")
    ] = None,
    memory: Memory = None,
    path: Folder = None,
    json: Json = False,
) -> None:
    """Put what today carries over into another day's plan.

    Example: agentic-os aios daily carry --to 2026-12-01
    """
    from agentic_os.cli.actions.person import writing

    writing.daily_carry(to=to, path=path, memory=memory, json=json)
