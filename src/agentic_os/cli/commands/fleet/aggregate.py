"""``agentic-os aggregate``."""

from typing import Annotated

import typer

from agentic_os.cli.options import Adopt, Json, Roots, chosen_roots


def aggregate(
    root: Roots = None,
    adopt: Adopt = False,
    markdown: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Also write the global view as Markdown to FILE, outside of every root;"
            " - for stdout.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Merge memory, vaults and inventories of all projects into the store.

    Only files that changed are read. The store lives in the cache folder and can be deleted at
    any time (`agentic-os purge`).

    Example: agentic-os aggregate --root ~/code --markdown ~/global.md
    """
    from agentic_os.cli.actions.fleet.merging import merge

    merge(root=chosen_roots(root, adopt=adopt), markdown=markdown, json=json)
