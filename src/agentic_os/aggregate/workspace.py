"""A question's working set: the person's settings, the fleet as it is now, the store.

Every fleet command and every fleet tool opens one workspace, asks it, and closes it. Opening
walks the roots, sweeps the projects and takes in what changed, so that an answer reflects an
edit made a moment ago without a step of its own. If another process is writing, the store is
used as it is and the answer says ``stale`` (design section 4).
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from agentic_os.aggregate.codes import CODES
from agentic_os.aggregate.fleet import Person, enclosing_notice, roots_of
from agentic_os.aggregate.refresh.surfaces import Progress, Refreshed, refresh, silent
from agentic_os.aggregate.store.database import (
    STORE_FULL,
    STORE_UNWRITABLE,
    WRITER_WAIT_SECONDS,
    Store,
    discard,
    open_store,
    store_error,
    writing,
)
from agentic_os.aggregate.store.space import Space, space_for
from agentic_os.errors import StoreError, StoreLockedError
from agentic_os.files.places import Places, places_from
from agentic_os.registry.codes import SURFACE_UNREADABLE, WALK_BOUNDS
from agentic_os.registry.descriptor.known import KnownDescriptor, decode_known
from agentic_os.registry.fleet import Fleet, load_fleet, passed_over
from agentic_os.registry.project import Project
from agentic_os.results import Diagnostic, Omission
from agentic_os.settings.location import load_settings
from agentic_os.settings.values import Root, Settings
from agentic_os.text.secrets.redaction import Redactor
from agentic_os.text.secrets.values_of import redacted_value

__all__ = ["Freshness", "Look", "Person", "Unread", "Workspace", "look", "open_workspace"]

Freshness = Literal["wait", "if-free"]
"""``wait``: hold out for the writer lock. ``if-free``: refresh only if nobody writes now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Evidence in scope that exists and could not be read."""

    projects: frozenset[str]
    omissions: tuple[Omission, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What a look found, and every question that is answered from it needs."""

    places: Places
    settings: Settings
    roots: tuple[Root, ...]
    fleet: Fleet
    redactor: Redactor
    refreshed: Refreshed | None
    warnings: tuple[Diagnostic, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace(_Found):
    """The open working set of one question."""

    current: Path
    store: Store
    stale: bool
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)

    def unread(self, scope: set[str] | None = None) -> Unread:
        """Evidence that could not be read, of the given projects or of all."""
        projects = set()
        omissions = []
        for project, path, code, message in self.store.connection.execute(_UNREAD):
            if scope is None or project in scope:
                projects.add(project)
                omission = Omission(
                    code=code, scope=f"{project}:{path}" if path else project, reason=message
                )
                omissions.append(redacted_value(omission, self.redactor))
        for one in self.fleet.projects:
            closed = [item for item in one.diagnostics if item.code == SURFACE_UNREADABLE]
            if closed and (scope is None or one.id in scope):
                projects.add(one.id)
                omissions += [
                    Omission(code=item.code, scope=f"{one.id}:{item.path}", reason=item.message)
                    for item in closed
                ]
        return Unread(projects=frozenset(projects), omissions=tuple(omissions))

    def warnings_for(self, scope: frozenset[str] | None) -> tuple[Diagnostic, ...]:
        """Return what an answer says beside its data, unreadable projects included."""
        return (
            *self.warnings,
            *(
                replace(
                    item,
                    message=f"nothing of it was read: {item.message}",
                    path=f"{project.id}:{item.path}" if item.path else project.id,
                )
                for project, item in self._broken(scope)
            ),
        )

    def unanswerable(self, scope: frozenset[str] | None) -> tuple[Omission, ...]:
        """Return what was asked for and cannot be answered.

        That is a named project whose descriptor cannot be read and, when the whole fleet is
        asked, what lies beyond the bounds of the walk.
        """
        if scope is None:
            return tuple(
                Omission(code=item.code, scope=Path(root.path).name, reason=item.message)
                for root in self.fleet.roots
                for item in root.diagnostics
                if item.code in WALK_BOUNDS
            )
        return tuple(
            Omission(code=item.code, scope=project.id, reason=item.message)
            for project, item in self._broken(scope)
        )

    def _broken(self, scope: frozenset[str] | None) -> list[tuple[Project, Diagnostic]]:
        return [
            (project, item)
            for project in self.fleet.projects
            if scope is None or project.id in scope
            for item in project.diagnostics
            if item.severity == "error"
        ]

    def project_ids(self, names: Sequence[str], *, paths: bool = True) -> frozenset[str] | None:
        """Return the ids that ``--project`` values mean; ``None`` when there are none.

        Raises:
            UnknownProjectError: a name means no project, or several.
        """
        if not names:
            return None
        return frozenset(
            self.fleet.find(name, current=self.current, paths=paths).id for name in names
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Look(_Found):
    """The fleet as one look found it, and what of it was taken in; a store is opened for each use.

    ``refreshed`` is None where another process was writing and the store was left as it was.
    """

    person: Person
    space: Space

    @contextmanager
    def opened(self) -> Iterator[Workspace]:
        """Open the store for one question, in one state, whatever a writer commits meanwhile.

        Raises:
            StoreError: the store vanished or cannot be used.
        """
        store = open_store(self.space)
        if store is None:
            raise StoreError("the store vanished while it was used", hint="Try again.")
        try:
            store.connection.execute("BEGIN")
            yield Workspace(
                places=self.places,
                current=self.person.current,
                environ=self.person.environ,
                settings=self.settings,
                roots=self.roots,
                fleet=self.fleet,
                store=store,
                redactor=self.redactor,
                refreshed=self.refreshed,
                stale=self.refreshed is None,
                warnings=self.warnings,
            )
        except sqlite3.Error as fault:
            raise store_error(fault) from fault
        finally:
            store.close()


_UNREAD = """
SELECT project.id, problem.path, problem.code, problem.message FROM problem
JOIN project ON project.pk = problem.project WHERE problem.unread = 1
ORDER BY project.id, problem.path
"""


@contextmanager
def open_workspace(
    person: Person,
    command_line_roots: Sequence[str],
    *,
    freshness: Freshness = "if-free",
    sources: bool = False,
    progress: Progress = silent,
) -> Iterator[Workspace]:
    """Open the working set of one question.

    Args:
        person: the surroundings.
        command_line_roots: ``--root`` values; empty for the person's own roots.
        freshness: whether to hold out for the writer lock.
        sources: also look for changed sources behind unchanged code graphs.
        progress: told after each project that was looked at.

    Raises:
        SettingsError: projects.toml is wrong.
        RootMissingError: a root does not exist.
        StoreLockedError: another process writes and did not end in time, and there is no store
            yet or ``freshness`` is ``wait``.
        StoreError: the store cannot be used or has no room.
    """
    found = look(
        person, command_line_roots, freshness=freshness, sources=sources, progress=progress
    )
    with found.opened() as workspace:
        yield workspace


def look(
    person: Person,
    command_line_roots: Sequence[str],
    *,
    freshness: Freshness = "if-free",
    sources: bool = False,
    progress: Progress = silent,
) -> Look:
    """Find the fleet as it is now, and take in what changed; arguments as ``open_workspace``.

    Raises:
        As ``open_workspace``.
    """
    places = places_from(person.environ)
    settings = load_settings(places, home=person.home)
    roots = roots_of(person, settings, command_line_roots)
    space = space_for(
        places.cache,
        [root.path for root in roots] + [item.path for item in settings.projects],
        rules="\0".join(sorted(settings.redaction_allow)),
        adopted=[root.path for root in roots if root.adopt],
    )
    fleet = load_fleet(
        roots,
        settings,
        aios=places.aios,
        home=person.home,
        known=_known_descriptors(space),
        environ=person.environ,
    )
    redactor = Redactor(allow=settings.redaction_allow)

    def take_in(store: Store) -> Refreshed:
        return refresh(
            store,
            fleet,
            redactor,
            sources=sources,
            graph_bytes=settings.limits.graph_bytes,
            progress=progress,
        )

    refreshed, trouble = _refreshed(space, take_in, freshness)
    return Look(
        person=person,
        places=places,
        settings=settings,
        roots=roots,
        fleet=fleet,
        space=space,
        redactor=redactor,
        refreshed=refreshed,
        warnings=(
            *_nothing_found(fleet),
            *enclosing_notice(roots),
            *fleet.diagnostics,
            *(item for root in fleet.roots for item in root.diagnostics if item.severity != "info"),
            *trouble,
        ),
    )


def _nothing_found(fleet: Fleet) -> tuple[Diagnostic, ...]:
    if fleet.projects:
        return ()
    looked = sum(root.folders for root in fleet.roots)
    passed = passed_over(fleet)
    words = f"no project was found; {looked} folders were looked at"
    return (CODES.diagnostic("NO_PROJECTS", f"{words}; {passed}" if passed else words),)


def _known_descriptors(space: Space) -> dict[str, KnownDescriptor]:
    """Return the descriptors that an earlier run parsed; empty without a store."""
    store = open_store(space)
    if store is None:
        return {}
    try:
        rows = store.connection.execute("SELECT path, value FROM descriptor").fetchall()
    except sqlite3.Error:
        return {}
    finally:
        store.close()
    decoded = {path: decode_known(value) for path, value in rows}
    return {path: known for path, known in decoded.items() if known is not None}


_TakeIn = Callable[[Store], Refreshed]


def _refreshed(
    space: Space, take_in: _TakeIn, freshness: Freshness
) -> tuple[Refreshed | None, tuple[Diagnostic, ...]]:
    """Refresh, or say why the store is used as it is."""
    wait = WRITER_WAIT_SECONDS if freshness == "wait" else 0.0
    try:
        return _refreshed_once(space, take_in, wait), ()
    except StoreError as fault:
        locked = isinstance(fault, StoreLockedError)
        if freshness == "wait" or not (locked or fault.code in _NO_ROOM):
            raise
        if not _was_filled(space):
            if not locked:
                raise
            # Nothing can be answered yet: the first question of several sessions waits.
            awaited = CODES.diagnostic(
                "STORE_AWAITED", "another session was making the store; this question waited for it"
            )
            return _refreshed_once(space, take_in, WRITER_WAIT_SECONDS), (awaited,)
        return None, (
            CODES.diagnostic(
                "STORE_STALE",
                f"{fault.message}; the answer is from its last state. {fault.hint}".rstrip(". "),
            ),
        )


_NO_ROOM = frozenset({STORE_FULL, STORE_UNWRITABLE})


def _was_filled(space: Space) -> bool:
    """Whether a store exists that a run once finished; one that is being made says nothing."""
    store = open_store(space)
    if store is None:
        return False
    try:
        return store.generation > 0
    except sqlite3.Error:
        return False
    finally:
        store.close()


def _refreshed_once(space: Space, take_in: _TakeIn, wait: float) -> Refreshed:
    with writing(space, wait_seconds=wait) as store:
        try:
            return take_in(store)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            # The bytes are damaged: what is derived is derived again.
            store.connection.close()
            discard(space)
    with writing(space, wait_seconds=wait) as store:
        return take_in(store)
