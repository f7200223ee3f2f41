"""``agentic-os vault``."""

from agentic_os.cli.options import Json, Projects, Roots


def vault(root: Roots = None, project: Projects = None, json: Json = False) -> None:
    """Show the vault notes: title, tags, and links resolved inside each project.

    Example: agentic-os vault --project shop
    """
    from agentic_os.cli.actions.ask.notes import print_notes

    print_notes(root=root or (), project=project or (), json=json)
