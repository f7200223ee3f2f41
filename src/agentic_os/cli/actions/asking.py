"""Open the fleet for a question, and show how far the reading is once a person waits for it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.cli.output import PATIENCE_SECONDS, on_terminal, progress
from agentic_os.registry.lookup import short_ids
from agentic_os.registry.project import Project

IdShown = Callable[[str], str]
"""How the id of a project is shown."""


def ids_shown(projects: Sequence[Project]) -> IdShown:
    """Show ids short on a terminal, where each is unique; whole elsewhere, where programs read."""
    if not on_terminal():
        return str
    short = short_ids(projects)
    return lambda project: short.get(project, project)


@contextmanager
def asked(
    root: Sequence[str], *, document: bool = False, sources: bool = False
) -> Iterator[Workspace]:
    """Open the workspace of one question; the bar is gone before anything is answered.

    Raises:
        As ``open_workspace``.
    """
    with ExitStack() as stack:
        with progress("Reading", "projects", document=document, after=PATIENCE_SECONDS) as tick:
            workspace = stack.enter_context(
                open_workspace(Person.here(), root, sources=sources, progress=tick)
            )
        yield workspace
