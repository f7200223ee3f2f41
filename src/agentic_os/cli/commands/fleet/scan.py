"""``agentic-os scan``."""

from agentic_os.cli.options import Adopt, Json, JsonLines, Roots, chosen_roots


def scan(
    root: Roots = None, adopt: Adopt = False, json: Json = False, jsonl: JsonLines = False
) -> None:
    """Find the projects below the roots and read their descriptors.

    Nothing is written and nothing is run. A project that cannot be read is listed with the
    reason; the others are not affected.

    Example: agentic-os scan --root ~/code --json
    """
    from agentic_os.cli.actions.fleet.discovery import print_projects

    print_projects(root=chosen_roots(root, adopt=adopt), json=json, jsonl=jsonl)
