"""Print which projects have which capabilities."""

from collections.abc import Sequence
from typing import get_args

from agentic_os.aggregate import questions as answers
from agentic_os.cli.actions.asking import IdShown, asked, ids_shown
from agentic_os.cli.output import finish, finish_document, on_terminal, say, table, write
from agentic_os.results import CapabilitySection, CapabilityView

COLUMNS = ("section", "name", "in", "projects", "differs", "wording")
_TITLES: dict[CapabilitySection, str] = {
    "skill": "Skills",
    "mcp": "MCP servers",
    "hook": "Hooks",
    "agent": "Agents",
    "command": "Commands",
    "plugin": "Plugins",
}


def print_capabilities(
    *, root: Sequence[str], project: Sequence[str], matrix: bool, json: bool
) -> None:
    """Show which projects have which skills, servers, hooks, agents, commands and plugins."""
    if matrix:
        _print_matrix(root, project, json=json)
        return
    with asked(root, document=json) as workspace:
        shown = ids_shown(workspace.fleet.projects)
        answer = answers.capabilities(workspace, project)
    if json:
        finish_document("capabilities", answer)
        return
    rows = [_row(item, shown) for item in answer.data.capabilities]
    if not on_terminal():
        table(COLUMNS, rows)
    for section, title in _TITLES.items() if on_terminal() else ():
        own = [row[1:] for row in rows if row[0] == section]
        if own:
            write(f"{title}\n")
            table(COLUMNS[1:], own)
            write("\n")
    if not rows:
        say("No project lists a skill, an MCP server or a hook.")
    finish(answer)


def _row(item: CapabilityView, shown: IdShown) -> tuple[str, ...]:
    details = (variant.detail for variant in (*item.invocations, *item.variants))
    return (
        item.section,
        item.name,
        str(len(item.projects)),
        " ".join(map(shown, item.projects)),
        "yes" if item.differs else "",
        next((detail for detail in details if detail), ""),
    )


def _print_matrix(root: Sequence[str], project: Sequence[str], *, json: bool) -> None:
    with asked(root, document=json) as workspace:
        shown = ids_shown(workspace.fleet.projects)
        answer = answers.capability_matrix(workspace, project)
    if json:
        finish_document("capabilities-matrix", answer)
        return
    sections = get_args(CapabilitySection)
    table(
        ("project", *sections),
        [
            (shown(row.project), *(str(row.counts[section] or "-") for section in sections))
            for row in answer.data.projects
        ],
    )
    finish(answer)
