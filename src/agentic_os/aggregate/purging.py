"""Deleting derived state on request."""

from collections.abc import Sequence
from contextlib import ExitStack

from agentic_os.aggregate.fleet import Person, roots_of
from agentic_os.aggregate.store.space import all_spaces, delete_space, space_for
from agentic_os.errors import StoreLockedError
from agentic_os.files.places import places_from
from agentic_os.files.publishing import ExclusiveLock
from agentic_os.results import Answer, PurgeData
from agentic_os.settings.location import load_settings


def purge_spaces(
    person: Person, command_line_roots: Sequence[str], *, everything: bool
) -> Answer[PurgeData]:
    """Delete the space of the given roots, or every space.

    Raises:
        StoreLockedError: another process is writing it; nothing is deleted.
    """
    places = places_from(person.environ)
    if everything:
        spaces = list(all_spaces(places.cache))
    else:
        settings = load_settings(places, home=person.home)
        roots = roots_of(person, settings, command_line_roots)
        own = space_for(
            places.cache,
            [root.path for root in roots] + [item.path for item in settings.projects],
            adopted=[root.path for root in roots if root.adopt],
        )
        spaces = [own] if own.folder.is_dir() else []
    freed = 0
    for space in spaces:
        with ExitStack() as held:
            for path in (space.lock, space.index_lock):
                lock = ExclusiveLock(path)
                if not lock.try_acquire():
                    raise StoreLockedError(
                        "another process is writing the store",
                        hint="Wait for it to end, or try again.",
                    )
                held.callback(lock.release)
            freed += delete_space(space)
    return Answer(data=PurgeData(spaces=tuple(space.folder.name for space in spaces), bytes=freed))
