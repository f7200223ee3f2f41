"""The person whom a server serves: whose fleet and whose AIOS folder it answers from.

One workspace is opened for each call and closed after it, so an answer shows an edit of a moment
ago, and a rebuilt store is picked up without a restart. Calls run in threads of their own; only
the look for changes is made by one at a time.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from agentic_os.aggregate.refresh.surfaces import Progress, silent
from agentic_os.aggregate.workspace import Person, Workspace, open_workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedPerson:
    """The person a server answers for, and the roots it was started with.

    ``progress`` is told, in the thread of the call, how many projects were looked at.
    """

    person: Person
    roots: tuple[str, ...] = ()
    progress: Progress = silent
    opening: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @contextmanager
    def workspace(self, *, sources: bool = False) -> Iterator[Workspace]:
        """Open the fleet for one call."""
        with ExitStack() as stack:
            with self.opening:
                workspace = stack.enter_context(
                    open_workspace(self.person, self.roots, sources=sources, progress=self.progress)
                )
            yield workspace
