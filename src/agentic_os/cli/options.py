"""Options that several commands share, worded once."""

from typing import Annotated

import typer

Roots = Annotated[
    list[str] | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="Folder to look for projects in; repeatable. Default: the roots of projects.toml,"
        " else the current folder.",
    ),
]
Projects = Annotated[
    list[str] | None,
    typer.Option(
        "--project",
        metavar="P",
        help="Only this project, by id, alias, name or path; repeatable.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
JsonLines = Annotated[
    bool, typer.Option("--jsonl", help="Print one JSON document a line, as they come.")
]
