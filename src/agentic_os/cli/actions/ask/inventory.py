"""Print which projects have which capabilities."""

from collections.abc import Iterator, Sequence
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
    rows = [row for item in answer.data.capabilities for row in _rows(item, shown)]
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


def _rows(item: CapabilityView, shown: IdShown) -> Iterator[tuple[str, ...]]:
    """Yield a row for each command or wording, with the projects that have it so.

    What CAPABILITIES.md says of a project is left out where a harness's own file says it.
    """
    started = {source.project for one in item.invocations for source in one.sources}
    left = set(item.projects)
    for variant in (*item.invocations, *item.variants):
        projects = {source.project for source in variant.sources}
        if variant not in item.invocations:
            projects -= started
        if projects:
            left -= projects
            yield _row(item, projects, variant.detail, shown)
    if left:
        yield _row(item, left, "", shown)


def _row(item: CapabilityView, projects: set[str], detail: str, shown: IdShown) -> tuple[str, ...]:
    return (
        item.section,
        item.name,
        str(len(projects)),
        " ".join(map(shown, sorted(projects))),
        "yes" if item.differs else "",
        detail,
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
