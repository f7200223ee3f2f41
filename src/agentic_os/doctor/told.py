"""Are agents told the same, and all of it? Checks of instruction files and of what tools are there.

Imports that lead nowhere, files that a harness cuts, one rule that several repositories state
differently, and inventories that disagree with the harnesses' own files.
"""

from collections.abc import Iterator

from agentic_os.aggregate.instructions import (
    imports,
    instruction_files,
    loaded_files,
    rule_differences,
)
from agentic_os.aggregate.workspace import Workspace
from agentic_os.results import Check, ImportState, StatedValue
from agentic_os.text.fencing import one_line

_SAID: dict[ImportState, str] = {
    "missing": "leads nowhere",
    "outside": "leads out of the project; it was not followed",
    "circle": "leads back to a file that imports it",
    "too far": "lies further than the harness follows",
    "unreadable": "cannot be read",
}
_DECLARED = """
SELECT project.id, capability.section, capability.name, capability.declared, file.path
FROM capability JOIN file ON file.pk = capability.file
JOIN project ON project.pk = capability.project
WHERE capability.section IN ('mcp', 'skill')
ORDER BY project.id, capability.section, capability.name
"""


def examine_instructions(
    workspace: Workspace, scope: frozenset[str] | None = None
) -> Iterator[Check]:
    """Make the checks; with a scope, those of its projects."""
    for project, view in imports(workspace, scope):
        if view.state in _SAID:
            yield Check(
                id="instructions.imports",
                status="warn",
                message=f"the import @{view.target} {_SAID[view.state]}",
                hint="Correct the path, or take the import out.",
                project=project.id,
                path=view.path,
                line=view.line,
            )
    for told in loaded_files(instruction_files(workspace, scope), ""):
        for path in told.cut:
            yield Check(
                id="instructions.length",
                status="warn",
                message=f"{told.harness} does not read {path} to its end",
                hint="Shorten it, or move parts into rules that are scoped.",
                project=told.project,
                path=path,
            )
    if scope is None:
        yield from _rules(workspace)
    yield from _inventories(workspace, scope)


def _rules(workspace: Workspace) -> Iterator[Check]:
    """Name a rule that repositories state with different values."""
    for difference in rule_differences(workspace).data.differences:
        said = "; ".join(
            f"{one_line(stated.value)} ({', '.join(sorted(_projects(stated)))})"
            for stated in difference.values
        )
        yield Check(
            id="instructions.rules",
            status="warn",
            message=f"instructions differ about {one_line(difference.key)}: {said}",
            hint="Let them agree, or say why they differ.",
        )


def _projects(stated: StatedValue) -> set[str]:
    return {source.project for source in stated.sources}


def _inventories(workspace: Workspace, scope: frozenset[str] | None) -> Iterator[Check]:
    """Compare what CAPABILITIES.md declares with what the harnesses' own files hold.

    A skill that is only declared may come from a plugin; a server must be wired somewhere.
    """
    declared: dict[str, set[tuple[str, str]]] = {}
    wired: dict[str, dict[tuple[str, str], str]] = {}
    for project, section, name, is_declared, path in workspace.store.connection.execute(_DECLARED):
        if scope is not None and project not in scope:
            continue
        if is_declared:
            declared.setdefault(project, set()).add((section, name))
        else:
            wired.setdefault(project, {})[section, name] = path
    for project, rows in declared.items():
        own = wired.get(project, {})
        # Without a file that wires any server, it is wired where the person keeps all of theirs.
        wires = any(section == "mcp" for section, _ in own)
        for section, name in sorted(rows - own.keys()):
            if section == "mcp" and wires:
                yield _disagrees(project, f"the server {name} is declared and nowhere wired", None)
        for section, name in sorted(own.keys() - rows):
            what = "server" if section == "mcp" else "skill"
            message = f"the {what} {name} is there and not declared"
            yield _disagrees(project, message, own[section, name])


def _disagrees(project: str, message: str, path: str | None) -> Check:
    return Check(
        id="capabilities.agree",
        status="warn",
        message=one_line(message),
        hint="Bring CAPABILITIES.md up to date.",
        project=project,
        path=None if path is None else one_line(path),
    )
