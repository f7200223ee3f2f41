"""The check of the grants: does each project still name the engine that it was granted?"""

from collections.abc import Iterator

from agentic_os.aggregate.workspace import Workspace
from agentic_os.results import Check
from agentic_os.text.fencing import one_line

CHECK = "engine.grants"


def examine_grants(workspace: Workspace, scope: frozenset[str] | None) -> Iterator[Check]:
    """Whether grants hold; a void one asks nobody, and searches go on without the engine.

    Where the command line names the roots, projects outside them are not known, and a grant of
    one of them says nothing.
    """
    if not workspace.settings.grants:
        return
    # Not loaded where nothing was granted.
    from agentic_os.tiers.engines.grants import grant_views

    narrowed = any(root.origin == "command line" for root in workspace.roots)
    for view in grant_views(workspace.settings, workspace.fleet):
        if scope is not None and view.project not in scope:
            continue
        if view.state == "void":
            message = f"it names {one_line(view.named or 'no engine')} now, not what was granted"
            hint = f"Look at it, then: agentic-os roots grant {one_line(view.project)}"
        elif view.state == "unknown" and not narrowed:
            message = "no project has this id"
            hint = f"Take it back: agentic-os roots grant {one_line(view.project)} --revoke"
        else:
            continue
        yield Check(
            id=CHECK, status="warn", message=message, hint=hint, project=one_line(view.project)
        )
