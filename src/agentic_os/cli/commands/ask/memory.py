"""``agentic-os memory``."""

from typing import TYPE_CHECKING, Annotated

import typer

from agentic_os.cli.options import Json, Projects, Roots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentic_os.results import FactView


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
    show: Annotated[
        str | None,
        typer.Option(
            "--show",
            metavar="FACT",
            help="Print the text of one fact, by its title, its file or its source as printed.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show what the projects remember: every fact, with its source.

    Facts of equal text know of each other; nothing is merged away.

    Example: agentic-os memory --project shop --show "Rate limits"
    """
    if differences and show is not None:
        raise typer.BadParameter("--differences and --show exclude each other")
    from agentic_os.aggregate import questions as answers
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
        answer = answers.memory(workspace, project or (), fact=show)
    if json:
        finish_document("memory", answer)
        return
    if show is not None:
        _print_texts(answer.data.facts)
        finish(answer)
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


def _print_texts(facts: "Sequence[FactView]") -> None:
    from agentic_os.cli.output import write
    from agentic_os.text.fencing import terminal_safe

    for number, fact in enumerate(facts):
        source = fact.provenance
        write("\n" if number else "")
        write(f"{source.project}:{source.path}:{source.lines[0]}\n\n")
        write(terminal_safe(fact.text).strip("\n") + "\n")


def _remarks(description: str, template: bool, listed: bool, equal: int) -> str:
    remarks = [
        "unfilled template" if template else "",
        "" if listed else "not in MEMORY.md",
        f"same in {equal} more" if equal else "",
    ]
    said = ", ".join(remark for remark in remarks if remark)
    return f"{description} ({said})" if said else description
