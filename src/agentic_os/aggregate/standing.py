"""The fleet as the last look left it, for a process that answers many questions.

Looking walks the roots and sweeps the projects, which costs far more than one answer. So one
thread looks, again and again or when it is told to, and every question is answered from the last
look: its store is opened anew for each, and a hit is read again from its file before it is shown,
so an answer may miss an edit of a moment ago and never misquotes one.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from agentic_os.aggregate.workspace import Look, Person, Workspace, look


class StandingFleet:
    """Hold the last look at the fleet, and answer from it."""

    def __init__(
        self,
        person: Person,
        command_line_roots: Sequence[str] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Look at nothing yet; the first question waits for the first look."""
        self._person = person
        self._roots = tuple(command_line_roots)
        self._clock = clock
        self._looking = threading.RLock()
        self._last: Look | None = None
        self._looked_at = 0.0

    def look(self) -> Look:
        """Look for changes and take them in; one thread at a time.

        Raises:
            As ``open_workspace``; the last look stands.
        """
        with self._looking:
            # Sources behind unchanged graphs are looked at, too: nobody waits for this thread.
            found = look(self._person, self._roots, sources=True)
            self._last, self._looked_at = found, self._clock()
            return found

    def age(self) -> float | None:
        """Return how many seconds ago the last look ended; None before the first."""
        return None if self._last is None else self._clock() - self._looked_at

    @contextmanager
    def workspace(self) -> Iterator[Workspace]:
        """Open the working set of one question, as the last look left it.

        Raises:
            As ``open_workspace``.
        """
        with (self._last or self._first()).opened() as workspace:
            yield workspace

    def _first(self) -> Look:
        """Return the first look; whoever comes while it is made waits for it."""
        with self._looking:
            return self._last or self.look()
