"""``agentic-os capabilities``."""

from agentic_os.cli.options import Adopt, Json, Projects, Roots, chosen_roots


def capabilities(
    root: Roots = None, adopt: Adopt = False, project: Projects = None, json: Json = False
) -> None:
    """Show which projects have which skills, MCP servers and hooks.

    Read from CAPABILITIES.md and .mcp.json; nothing is started. Projects that opted out of
    retrieval are included.

    Example: agentic-os capabilities --json
    """
    from agentic_os.cli.actions.ask.inventory import print_capabilities

    print_capabilities(root=chosen_roots(root, adopt=adopt), project=project or (), json=json)
