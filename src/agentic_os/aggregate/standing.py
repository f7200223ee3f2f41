"""The fleet as the last look left it, for a process that answers many questions.

Looking walks the roots and sweeps the projects, which costs far more than one answer. So one
thread looks, again and again or when it is told to, and every question is answered from the last
look: its store is opened anew for each, and a hit is read again from its file before it is shown,
so an answer may miss an edit of a moment ago and never misquotes one.

Looking at a small fleet costs no more than an answer: there a question may look for itself
(``kept``), and of a larger one it says how long ago the last look ended.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Final

from agentic_os.aggregate.codes import CODES
from agentic_os.aggregate.refresh.surfaces import Progress, silent
from agentic_os.aggregate.workspace import Look, Person, Workspace, look
from agentic_os.errors import AgenticOSError, StoreError

SMALL_FLEET_PROJECTS: Final = 100
"""So many projects, or fewer, are looked at for each question."""
WANTED_SECONDS: Final = 60.0
"""So long after the last question a larger fleet is still looked at, by a thread of its own."""
PAUSE_SHARE: Final = 19
"""That thread takes one part in twenty of a processor at the most."""
LEAST_PAUSE_SECONDS: Final = 1.0
MOST_PAUSE_SECONDS: Final = 30.0
TOLD_SECONDS: Final = 1.0
"""A look that ended less long ago is as good as now."""


class StandingFleet:
    """Hold the last look at the fleet, and answer from it."""

    def __init__(
        self,
        person: Person,
        command_line_roots: Sequence[str] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
        rest: Callable[[float], None] = time.sleep,
    ) -> None:
        """Look at nothing yet; the first question waits for the first look."""
        self._person = person
        self._roots = tuple(command_line_roots)
        self._clock = clock
        self._rest = rest
        self.looking = threading.RLock()
        self._last: Look | None = None
        self._looked_at = 0.0
        self._asked_at = 0.0
        self._keeper: threading.Thread | None = None

    def look(self, *, sources: bool = True, progress: Progress = silent) -> Look:
        """Look for changes and take them in; one thread at a time.

        Args:
            sources: also look for changed sources behind unchanged code graphs.
            progress: told after each project that was looked at.

        Raises:
            As ``open_workspace``; the last look stands.
        """
        with self.looking:
            found = look(self._person, self._roots, sources=sources, progress=progress)
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

    @contextmanager
    def kept(self, *, sources: bool = False, progress: Progress = silent) -> Iterator[Workspace]:
        """Open the working set of one question, and have a large fleet looked at meanwhile.

        A question that finds nobody looking looks itself; arguments as ``look``.

        Raises:
            As ``open_workspace``.
        """
        self._asked_at = self._clock()
        standing = self._last if self._is_kept() else None
        found = standing or self._looked(sources=sources, progress=progress)
        age = self.age() or 0.0
        if standing is not None and age >= TOLD_SECONDS:
            words = f"the fleet was looked at {age:.0f} s ago; what changed since is not in this"
            told = CODES.diagnostic("FLEET_AGE", words)
            found = replace(found, warnings=(*found.warnings, told))
        with ExitStack() as stack:
            try:
                workspace = stack.enter_context(found.opened())
            except StoreError:
                if standing is None:
                    raise
                # Somebody deleted the store since.
                workspace = stack.enter_context(self.look(progress=progress).opened())
            yield workspace

    def _is_kept(self) -> bool:
        return self._keeper is not None and self._keeper.is_alive()

    def _looked(self, *, sources: bool, progress: Progress) -> Look:
        with self.looking:
            if self._is_kept() and self._last is not None:
                return self._last  # another question has just looked
            found = self.look(sources=sources, progress=progress)
            if len(found.fleet.projects) > SMALL_FLEET_PROJECTS:
                self._keeper = threading.Thread(target=self._keep, name="fleet-look", daemon=True)
                self._keeper.start()
            return found

    def _keep(self) -> None:
        """Look while somebody asks; a look that fails ends it, and the next question meets why."""
        took = 0.0  # what the first look took says nothing of those that follow
        while self._clock() - self._asked_at < WANTED_SECONDS:
            self._rest(min(max(PAUSE_SHARE * took, LEAST_PAUSE_SECONDS), MOST_PAUSE_SECONDS))
            started = time.thread_time()
            try:
                self.look()
            except AgenticOSError:
                return
            took = time.thread_time() - started

    def _first(self) -> Look:
        """Return the first look; whoever comes while it is made waits for it."""
        with self.looking:
            return self._last or self.look()
