"""Merge what changed into the store, and print or write the global view."""

from collections.abc import Sequence
from pathlib import Path

import typer

from agentic_os.aggregate.global_view import global_view, source_linker
from agentic_os.aggregate.questions import aggregate_fleet, capabilities, differences, memory
from agentic_os.aggregate.store.space import collect_spaces
from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.cli.output import finish, finish_document, progress, table, write
from agentic_os.errors import UsageError
from agentic_os.files.publishing import publish


def merge(*, root: Sequence[str], markdown: str | None, json: bool) -> None:
    """Merge memory, vaults and inventories of all projects into the store."""
    if markdown == "-" and json:
        raise typer.BadParameter("--markdown - and --json both want stdout")
    with (
        progress("Reading", "projects", document=json) as tick,
        open_workspace(
            Person.here(), root, freshness="wait", sources=True, progress=tick
        ) as workspace,
    ):
        collect_spaces(workspace.places.cache, keep=workspace.store.space)
        answer = aggregate_fleet(workspace)
        if markdown is not None:
            view = _global_view(workspace, None if markdown == "-" else Path(markdown))
            if markdown == "-":
                write(view)
    if json:
        finish_document("aggregate", answer)
        return
    data = answer.data
    if markdown != "-":
        table(
            ("what", "count"),
            [
                ("projects", str(data.projects)),
                ("facts", str(data.facts)),
                ("vault notes", str(data.notes)),
                ("capabilities", str(data.capabilities)),
                ("files", str(data.files)),
                ("files read now", str(data.files_read)),
                ("files gone", str(data.files_removed)),
                ("facts stated in several projects", str(data.equal_groups)),
                ("graph nodes", str(data.graph_nodes)),
                ("graph edges", str(data.graph_edges)),
                ("edges between projects", str(data.graph_links)),
                ("secrets replaced", str(data.redactions)),
            ],
        )
    finish(answer)


def _global_view(workspace: Workspace, output: Path | None) -> str:
    target = None if output is None else output.absolute()
    if target is not None:
        below = [root.path.resolve() for root in workspace.roots]
        below += [project.folder.resolve() for project in workspace.fleet.projects]
        real = target.parent.resolve() / target.name
        if any(real.is_relative_to(folder) for folder in below):
            raise UsageError(
                "the Markdown file lies below a root, and projects are never written",
                code="OUTPUT_BELOW_ROOT",
                hint="Name a file outside of every root.",
            )
        if not target.parent.is_dir():
            raise UsageError("the folder of the Markdown file does not exist")
    view = global_view(
        workspace.fleet,
        memory(workspace).data,
        differences(workspace).data,
        capabilities(workspace).data,
        source_linker(workspace.fleet, target),
    )
    if target is not None:
        publish(target, view.encode("utf-8", "backslashreplace"), mode=0o644)
    return view
