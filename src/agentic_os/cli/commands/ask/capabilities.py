"""``agentic-os capabilities``."""

from agentic_os.cli.options import Json, Projects, Roots


def capabilities(root: Roots = None, project: Projects = None, json: Json = False) -> None:
    """Show which projects have which skills, MCP servers and hooks.

    Read from CAPABILITIES.md and .mcp.json; nothing is started. Projects that opted out of
    retrieval are included.

    Example: agentic-os capabilities --json
    """
    from agentic_os.aggregate import questions as answers
    from agentic_os.aggregate.workspace import Person, open_workspace
    from agentic_os.cli.output import finish, finish_document, table

    with open_workspace(Person.here(), root or ()) as workspace:
        answer = answers.capabilities(workspace, project or ())
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
