"""``agentic-os paths``."""

from agentic_os.cli.options import Json


def paths(json: Json = False) -> None:
    """Show where the tool keeps its files, and which variable moves each place.

    Example: agentic-os paths
    """
    from agentic_os.cli.actions.fleet.places import show_places

    show_places(json=json)
