"""Bring the picture's layout up to date under the writer's lock."""

from typing import Final

from agentic_os.aggregate.graph.layout.store import update_layout
from agentic_os.aggregate.store.database import transaction, writing
from agentic_os.aggregate.store.space import Space
from agentic_os.errors import StoreError

WAIT_SECONDS: Final = 5.0


def lay_out(space: Space) -> int:
    """Lay out what changed in a space; return how many projects that were.

    A store that somebody else writes for long, or that has no room, keeps its last layout: the
    picture is then a moment old, and the next look brings it up to date.
    """
    try:
        with writing(space, wait_seconds=WAIT_SECONDS) as store, transaction(store.connection):
            return update_layout(store.connection)
    except StoreError:
        return 0
