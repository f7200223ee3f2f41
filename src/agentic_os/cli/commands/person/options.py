"""Options that the commands of the AIOS folder share, worded once."""

from typing import Annotated

import typer

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
        help="shared, project or off. Off reads and writes nothing at all.",
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
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be written, write nothing.")
]
Apply = Annotated[bool, typer.Option("--apply", help="Do exactly what a preview showed.")]
OperationId = Annotated[
    str | None, typer.Option("--operation-id", metavar="ID", help="The preview's operation.")
]
Fingerprint = Annotated[
    str | None, typer.Option("--plan-fingerprint", metavar="HEX", help="The preview's plan.")
]
