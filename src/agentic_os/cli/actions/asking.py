"""Open the fleet for a question, and show how far the reading is once a person waits for it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from agentic_os.aggregate.workspace import Person, Workspace, open_workspace
from agentic_os.cli.output import PATIENCE_SECONDS, progress


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
