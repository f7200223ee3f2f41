"""``agentic-os memory``."""

from typing import Annotated

import typer

from agentic_os.cli.options import Json, Projects, Roots


def memory(
    root: Roots = None,
    project: Projects = None,
    differences: Annotated[
        bool,
        typer.Option(
            "--differences",
            help="List the keys that two or more projects state with different values.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Show what the projects remember: every fact, with its source.

    Facts of equal text know of each other; nothing is merged away.

    Example: agentic-os memory --project shop --json
    """
    from agentic_os.aggregate import answers
    from agentic_os.aggregate.workspace import Person, open_workspace
    from agentic_os.cli.output import finish, finish_document, table

    with open_workspace(Person.here(), root or ()) as workspace:
        if differences:
            stated = answers.differences(workspace, project or ())
            if json:
                finish_document("memory-differences", stated)
                return
            table(
                ("key", "value", "source"),
                [
                    (item.key, value.value, f"{source.project}:{source.path}:{source.lines[0]}")
                    for item in stated.data.differences
                    for value in item.values
                    for source in value.sources
                ],
            )
            finish(stated)
            return
        answer = answers.memory(workspace, project or ())
    if json:
        finish_document("memory", answer)
        return
    table(
        ("project", "type", "fact", "description", "source"),
        [
            (
                fact.provenance.project,
                fact.type,
                fact.title,
                _remarks(fact.description, fact.template, fact.listed, len(fact.equal_in)),
                f"{fact.provenance.path}:{fact.provenance.lines[0]}",
            )
            for fact in answer.data.facts
        ],
    )
    finish(answer)


def _remarks(description: str, template: bool, listed: bool, equal: int) -> str:
    remarks = [
        "unfilled template" if template else "",
        "" if listed else "not in MEMORY.md",
        f"same in {equal} more" if equal else "",
    ]
    said = ", ".join(remark for remark in remarks if remark)
    return f"{description} ({said})" if said else description
