"""Print the vault notes."""

from collections.abc import Sequence

from agentic_os.aggregate import questions as answers
from agentic_os.cli.actions.asking import asked, ids_shown
from agentic_os.cli.output import finish, finish_document, table


def print_notes(*, root: Sequence[str], project: Sequence[str], json: bool) -> None:
    """Show the vault notes: title, tags, and links resolved inside each project."""
    with asked(root, document=json) as workspace:
        shown = ids_shown(workspace.fleet.projects)
        answer = answers.vault(workspace, project)
    if json:
        finish_document("vault", answer)
        return
    table(
        ("project", "note", "tags", "links", "source"),
        [
            (
                shown(note.provenance.project),
                note.title,
                " ".join(note.tags),
                f"{sum(link.path is not None for link in note.links)}/{len(note.links)}",
                note.provenance.path,
            )
            for note in answer.data.notes
        ],
    )
    finish(answer)
