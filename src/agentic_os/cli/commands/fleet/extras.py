"""``agentic-os extras``."""

from agentic_os.cli.options import Json


def extras(json: Json = False) -> None:
    """Show which extras are installed, and the command that adds each of the others.

    Example: agentic-os extras
    """
    from agentic_os.cli.actions.fleet import parts

    parts.show_extras(json=json)
