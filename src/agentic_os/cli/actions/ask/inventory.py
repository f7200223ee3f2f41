"""Print which projects have which capabilities."""

from collections.abc import Sequence

from agentic_os.aggregate import questions as answers
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.cli.output import finish, finish_document, table


def print_capabilities(*, root: Sequence[str], project: Sequence[str], json: bool) -> None:
    """Show which projects have which skills, MCP servers and hooks."""
    with open_workspace(Person.here(), root) as workspace:
        answer = answers.capabilities(workspace, project)
    if json:
        finish_document("capabilities", answer)
        return
    table(
        ("section", "name", "in", "projects", "differs", "wording"),
        [
            (
                item.section,
                item.name,
                str(len(item.projects)),
                " ".join(item.projects),
                "yes" if item.differs else "",
                next((v.detail for v in (*item.invocations, *item.variants) if v.detail), ""),
            )
            for item in answer.data.capabilities
        ],
    )
    finish(answer)
