"""Print what agents are told."""

import os
from collections.abc import Sequence
from pathlib import Path

from agentic_os.aggregate.instructions import instructions
from agentic_os.aggregate.workspace import Workspace
from agentic_os.cli.actions.asking import IdShown, asked, ids_shown
from agentic_os.cli.output import finish, finish_document, table
from agentic_os.results import InstructionFile, InstructionsData
from agentic_os.text.fencing import one_line


def print_instructions(
    *,
    root: Sequence[str],
    project: Sequence[str],
    target: str | None,
    private: bool,
    json: bool,
) -> None:
    """List what agents are told, and per harness what is loaded for a path."""
    with asked(root, document=json) as workspace:
        if target is not None:
            project, target = _placed(workspace, project, target)
        shown = ids_shown(workspace.fleet.projects)
        answer = instructions(workspace, project, target=target, private=private)
    if json:
        finish_document("instructions", answer)
        return
    if target is None:
        _files(answer.data, shown)
    else:
        _order(answer.data, shown)
    finish(answer)


def _placed(workspace: Workspace, project: Sequence[str], target: str) -> tuple[Sequence[str], str]:
    """Return the project that holds a path, if none was named, and the path below it."""
    whole = Path(os.path.abspath(workspace.current / target))  # noqa: PTH100 - a link stays one
    own = workspace.fleet.containing(whole)
    if project or own is None:
        return project, target.removeprefix("./")
    below = os.path.relpath(os.path.realpath(whole), os.path.realpath(own.folder))
    return (own.id,), "" if below == "." else below


def _scope(file: InstructionFile) -> str:
    if file.patterns:
        return " ".join(file.patterns)
    return f"{file.folder}/" if file.folder else "all"


def _files(data: InstructionsData, shown: IdShown) -> None:
    table(
        ("project", "file", "harness", "for", "loaded", "lines", "same text"),
        [
            (
                shown(file.project),
                file.path,
                file.harness,
                _scope(file),
                "points elsewhere" if file.pointer else file.activation,
                str(file.lines),
                " ".join(file.same_as),
            )
            for file in data.files
        ],
    )


def _order(data: InstructionsData, shown: IdShown) -> None:
    known = {(file.project, file.path): file for file in data.files}
    table(
        ("project", "harness", "order", "file", "for", "cut"),
        [
            (
                shown(told.project),
                told.harness,
                str(place),
                one_line(path),
                _scope(known[told.project, path]),
                "cut" if path in told.cut else "",
            )
            for told in data.harnesses
            for place, path in enumerate(told.files, 1)
        ],
    )
