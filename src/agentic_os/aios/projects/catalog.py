"""The project catalog: ``projects/<slug>/README.md``, by whole records or identity alone.

Rules (DotAIOS convention, projects):

- A project is a folder whose name is a slug, with a README. One id used twice makes the
  catalog invalid.
- The shared projection reads whole READMEs. A project's projection reads bounded front
  matter of every README, then the body of the selected one alone; a sibling's size and
  body do not matter.
- A linked project folder, an invalid slug or a broken front matter fails closed.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from sys import maxsize
from typing import TYPE_CHECKING, Final

from agentic_os.aios.folder.allowance import Charges
from agentic_os.aios.folder.faults import (
    CATALOG_INVALID,
    PROJECT_FOLDER_LIMIT,
    UNSAFE_PATH,
    fault_at,
)
from agentic_os.aios.folder.front_matter import FRONT_MATTER_BYTES, read_front_matter
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.tree import PROJECTS, README
from agentic_os.aios.projects.values import (
    ProjectIdentity,
    ProjectRecord,
    ProjectScope,
    identity_of,
    is_slug,
    record_of,
    select_project,
)
from agentic_os.errors import AiosError

if TYPE_CHECKING:
    from agentic_os.aios.folder.layer import Stamp

PROJECTS_FOLDER_ENTRIES: Final = 256
"""Entries that ``projects/`` may hold for a projection."""
README_BYTES: Final = 1024 * 1024
"""Size of a README whose body is read."""


def read_catalog(reader: FolderReader, charges: Charges) -> tuple[ProjectRecord, ...]:
    """Read every README whole, for a shared projection, in slug order.

    Raises:
        AiosError: DOTAIOS_PROJECT_CATALOG_INVALID, DOTAIOS_FRONTMATTER_INVALID or a read
            fault.
    """
    records = []
    for slug in _slugs(reader, charges):
        read = reader.read(_readme(slug), limit_bytes=README_BYTES, charges=charges, hold=True)
        if read is not None:
            with _at(slug):
                records.append(record_of(slug, read, read_front_matter(read.data)))
    _require_unique_ids(record.identity for record in records)
    return tuple(records)


def read_identities(reader: FolderReader, charges: Charges) -> tuple[ProjectIdentity, ...]:
    """Read the identity of every project by bounded front matter, in slug order.

    Raises:
        AiosError: as ``read_catalog``.
    """
    return tuple(_identities(reader, charges))


def read_selected(
    reader: FolderReader, charges: Charges, selector: str
) -> tuple[ProjectScope, ProjectRecord]:
    """Resolve ``selector`` by bounded front matter, then read that project's README.

    Raises:
        AiosError: DOTAIOS_AMBIGUOUS_PROJECT, DOTAIOS_PROJECT_SELECTOR_UNKNOWN, or as
            ``read_catalog``.
    """
    observed = _identities(reader, charges)
    scope = select_project(selector, list(observed))
    slug = scope.identity.slug
    read = reader.read_seen(
        _readme(slug), observed[scope.identity], limit_bytes=README_BYTES, charges=charges
    )
    with _at(slug):
        return scope, record_of(slug, read, read_front_matter(read.data))


def _slugs(reader: FolderReader, charges: Charges) -> list[str]:
    entries = reader.entries(
        PROJECTS,
        limit_entries=PROJECTS_FOLDER_ENTRIES,
        too_many=PROJECT_FOLDER_LIMIT,
        charges=charges,
        hold=True,
    )
    slugs = []
    for entry in entries or ():
        if entry.kind == "link":
            raise fault_at(UNSAFE_PATH, f"{PROJECTS}/{entry.name}")
        if entry.kind != "folder" or entry.name.startswith("."):
            continue
        if not is_slug(entry.name):
            raise fault_at(CATALOG_INVALID, f"{PROJECTS}/{entry.name}")
        slugs.append(entry.name)
    return slugs


def _identities(reader: FolderReader, charges: Charges) -> "dict[ProjectIdentity, Stamp]":
    found: dict[ProjectIdentity, Stamp] = {}
    for slug in _slugs(reader, charges):
        start = reader.read(
            _readme(slug),
            limit_bytes=maxsize,
            prefix_bytes=FRONT_MATTER_BYTES,
            charges=charges,
            hold=True,
        )
        if start is not None:
            with _at(slug):
                found[identity_of(slug, read_front_matter(start.data))] = start.stamp
    _require_unique_ids(found)
    return found


def _readme(slug: str) -> str:
    return f"{PROJECTS}/{slug}/{README}"


def _require_unique_ids(identities: Iterable[ProjectIdentity]) -> None:
    ids: set[str] = set()
    for identity in identities:
        if identity.id in ids:
            raise fault_at(CATALOG_INVALID, _readme(identity.slug))
        if identity.id:
            ids.add(identity.id)


@contextmanager
def _at(slug: str) -> Iterator[None]:
    """Name the README of ``slug`` in what goes wrong with its text."""
    try:
        yield
    except AiosError as error:
        error.locate(_readme(slug))
        raise
