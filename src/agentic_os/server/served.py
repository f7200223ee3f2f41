"""The person whom a server serves: whose fleet and whose AIOS folder it answers from.

A store is opened for each call and closed after it, so a rebuilt one is picked up without a
restart. Calls run in threads of their own; only the look for changes is made by one at a time, for
each call where the fleet is small, and else beside them (``StandingFleet``).
"""

from contextlib import AbstractContextManager
from typing import Self

from agentic_os.aggregate.refresh.surfaces import Progress, silent
from agentic_os.aggregate.standing import StandingFleet
from agentic_os.aggregate.workspace import Person, Workspace


class ServedPerson:
    """The person a server answers for, and the roots it was started with."""

    def __init__(
        self,
        *,
        person: Person,
        roots: tuple[str, ...] = (),
        fleet: StandingFleet | None = None,
        progress: Progress = silent,
    ) -> None:
        """``progress`` is told, in the thread of the call, how many projects were looked at."""
        self.person = person
        self.roots = roots
        self.fleet = fleet or StandingFleet(person, roots)
        self.progress = progress

    def telling(self, progress: Progress) -> Self:
        """Return the same person, for a call whose progress is told."""
        return type(self)(person=self.person, roots=self.roots, fleet=self.fleet, progress=progress)

    def workspace(self, *, sources: bool = False) -> AbstractContextManager[Workspace]:
        """Open the fleet for one call."""
        return self.fleet.kept(sources=sources, progress=self.progress)
