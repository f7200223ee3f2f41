"""``agentic-os vault``."""

from agentic_os.cli.options import Adopt, Json, Projects, Roots, chosen_roots


def vault(
    root: Roots = None, adopt: Adopt = False, project: Projects = None, json: Json = False
) -> None:
    """Show the vault notes: title, tags, and links resolved inside each project.

    Example: agentic-os vault --project shop
    """
    from agentic_os.cli.actions.ask.notes import print_notes

    print_notes(root=chosen_roots(root, adopt=adopt), project=project or (), json=json)
