"""Print what the projects remember."""

from collections.abc import Sequence

import typer

from agentic_os.aggregate import questions as answers
from agentic_os.cli.actions.asking import IdShown, asked, ids_shown
from agentic_os.cli.output import finish, finish_document, table, write
from agentic_os.results import FactView
from agentic_os.text.fencing import terminal_safe


def print_facts(
    *, root: Sequence[str], project: Sequence[str], differences: bool, show: str | None, json: bool
) -> None:
    """Show what the projects remember: every fact, with its source."""
    if differences and show is not None:
        raise typer.BadParameter("--differences and --show exclude each other")

    with asked(root, document=json) as workspace:
        shown = ids_shown(workspace.fleet.projects)
        if differences:
            stated = answers.differences(workspace, project)
            if json:
                finish_document("memory-differences", stated)
                return
            table(
                ("key", "value", "source"),
                [
                    (
                        item.key,
                        value.value,
                        f"{shown(source.project)}:{source.path}:{source.lines[0]}",
                    )
                    for item in stated.data.differences
                    for value in item.values
                    for source in value.sources
                ],
            )
            finish(stated)
            return
        answer = answers.memory(workspace, project, fact=show)
    if json:
        finish_document("memory", answer)
        return
    if show is not None:
        _print_texts(answer.data.facts, shown)
        finish(answer)
        return
    table(
        ("project", "type", "fact", "description", "source"),
        [
            (
                shown(fact.provenance.project),
                fact.type,
                fact.title,
                _remarks(fact.description, fact.template, fact.listed, len(fact.equal_in)),
                f"{fact.provenance.path}:{fact.provenance.lines[0]}",
            )
            for fact in answer.data.facts
        ],
    )
    finish(answer)


def _print_texts(facts: Sequence[FactView], shown: IdShown) -> None:
    for number, fact in enumerate(facts):
        source = fact.provenance
        write("\n" if number else "")
        write(f"{shown(source.project)}:{source.path}:{source.lines[0]}\n\n")
        write(terminal_safe(fact.text).strip("\n") + "\n")


def _remarks(description: str, template: bool, listed: bool, equal: int) -> str:
    remarks = [
        "unfilled template" if template else "",
        "" if listed else "not in MEMORY.md",
        f"same in {equal} more" if equal else "",
    ]
    said = ", ".join(remark for remark in remarks if remark)
    return f"{description} ({said})" if said else description
