"""``agentic-os doctor``."""

from agentic_os.cli.options import Adopt, Json, JsonLines, Projects, Roots, chosen_roots


def doctor(
    root: Roots = None,
    adopt: Adopt = False,
    project: Projects = None,
    json: Json = False,
    jsonl: JsonLines = False,
) -> None:
    """Check the health of the fleet, the tool, the AIOS folder and an identity that lives here.

    Nothing is changed and no witness is asked. With --project only its checks and those of the
    tool are made. Exits with 3 where something was found.

    Example: agentic-os doctor --root ~/code
    """
    from agentic_os.cli.actions.fleet import health

    health.examine_all(
        root=chosen_roots(root, adopt=adopt), project=project or (), json=json, jsonl=jsonl
    )
