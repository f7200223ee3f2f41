"""``agentic-os search``."""

from typing import Annotated

import typer

from agentic_os.cli.completion import kind_names, mode_names
from agentic_os.cli.options import Adopt, Json, Projects, Roots, chosen_roots


def search(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY...", help="What to look for; '\"quoted\"' for a phrase as it stands."
        ),
    ],
    root: Roots = None,
    adopt: Adopt = False,
    project: Projects = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="K",
            autocompletion=kind_names,
            help="Only this kind: memory, index, vault, capability, graph, code, document;"
            " repeatable.",
        ),
    ] = None,
    mode: Annotated[
        str,
        typer.Option(
            metavar="MODE",
            help="auto, lexical, semantic or hybrid.",
            autocompletion=mode_names,
        ),
    ] = "auto",
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many hits to show.")] = 5,
    changed_since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Only from files that changed since: a date such as 2026-11-30, or 7d, 12h.",
        ),
    ] = None,
    templates: Annotated[
        bool, typer.Option("--templates", help="Also search facts that nobody filled in yet.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what each surface of each project did.")
    ] = False,
    projects_only: Annotated[
        bool, typer.Option("--projects-only", help="Rank the projects instead of the passages.")
    ] = False,
    synthesize: Annotated[
        bool,
        typer.Option(
            "--synthesize",
            help="Let the language model of [synthesis] in projects.toml answer from the passages"
            " found, with citations.",
        ),
    ] = False,
    absolute: Annotated[
        bool, typer.Option("--absolute", help="Print absolute paths instead of PROJECT:PATH.")
    ] = False,
    json: Json = False,
) -> None:
    """Search what all projects remember, note and can do.

    Every hit is read again from its file before it is shown. Edits are seen at once.

    Example: agentic-os search "rate limit" --project shop --kind memory
    """
    from agentic_os.cli.actions.ask.searching import print_hits

    print_hits(
        words=words,
        root=chosen_roots(root, adopt=adopt),
        project=project or (),
        kind=kind or (),
        mode=mode,
        limit=limit,
        changed_since=changed_since,
        templates=templates,
        explain=explain,
        projects_only=projects_only,
        synthesize=synthesize,
        absolute=absolute,
        json=json,
    )
