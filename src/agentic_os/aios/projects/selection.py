"""The identity-only catalog scan: which one project a selector names.

Search, follow and skill resolution accept a slug or a stable id, never an alias. The
folder that the slug names is read strictly; of every other project only bounded front
matter takes part, and one whose identity cannot be told is passed over. Bodies are never
read (DotAIOS convention, project sources).
"""

import re
from dataclasses import dataclass
from typing import Final

from agentic_os.aios.folder.allowance import Charges
from agentic_os.aios.folder.faults import (
    CATALOG_INVALID,
    EVIDENCE_FOLDER_TOO_LARGE,
    FRONT_MATTER_INVALID,
    INVALID_UTF8,
    SELECTOR_AMBIGUOUS,
    SELECTOR_INVALID,
    SELECTOR_UNKNOWN,
    SOURCE_TOO_LARGE,
    fault,
    fault_at,
)
from agentic_os.aios.folder.front_matter import FRONT_MATTER_BYTES, FrontMatter, read_front_matter
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.folder.tree import PROJECTS, README
from agentic_os.aios.projects.catalog import README_BYTES
from agentic_os.aios.projects.values import SELECTOR_CHARS, is_slug
from agentic_os.errors import AiosError

SCAN_FOLDER_ENTRIES: Final = 8192
"""Entries that ``projects/`` may hold for an identity scan."""

_UNFIT = re.compile(r"[\s\x00-\x1f\x7f-\x9f/\\\ud800-\udfff]")
_PASSED_OVER: Final = frozenset({SOURCE_TOO_LARGE, FRONT_MATTER_INVALID, INVALID_UTF8})


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableIdentity:
    """A project that was selected: its stable id and its folder."""

    id: str
    slug: str

    @property
    def prefix(self) -> str:
        """The folder of the project, relative to the AIOS folder, with its slash."""
        return f"{PROJECTS}/{self.slug}/"


def check_selector(selector: str | None) -> str:
    """Check a selector's form.

    Raises:
        AiosError: DOTAIOS_PROJECT_SELECTOR_INVALID.
    """
    if not selector or len(selector) > SELECTOR_CHARS or _UNFIT.search(selector):
        raise fault(SELECTOR_INVALID)
    return selector


def resolve_identity(
    reader: FolderReader, charges: Charges, selector: str | None
) -> PortableIdentity:
    """Find the one project whose slug or stable id is ``selector``.

    Raises:
        AiosError: DOTAIOS_PROJECT_SELECTOR_INVALID, _UNKNOWN or _AMBIGUOUS;
            DOTAIOS_PROJECT_CATALOG_INVALID when the named folder has no identity; a read
            fault.
    """
    wanted = check_selector(selector)
    direct = _direct(reader, charges, wanted) if is_slug(wanted) else None
    matches = [] if direct is None else [direct]
    entries = reader.entries(
        PROJECTS,
        limit_entries=SCAN_FOLDER_ENTRIES,
        too_many=EVIDENCE_FOLDER_TOO_LARGE,
        charges=charges,
        hold=True,
    )
    for entry in entries or ():
        if entry.kind != "folder" or not is_slug(entry.name):
            continue
        if direct is not None and entry.name == direct.slug:
            continue
        identity = _sibling(reader, charges, entry.name)
        if identity is not None and wanted in (identity.slug, identity.id):
            matches.append(identity)
    if not matches:
        raise fault(SELECTOR_UNKNOWN)
    if len(matches) > 1:
        raise fault(SELECTOR_AMBIGUOUS)
    return matches[0]


def _direct(reader: FolderReader, charges: Charges, slug: str) -> PortableIdentity | None:
    read = reader.read(
        f"{PROJECTS}/{slug}/{README}",
        limit_bytes=README_BYTES,
        prefix_bytes=FRONT_MATTER_BYTES,
        charges=charges,
        hold=True,
    )
    if read is None:
        return None
    try:
        front = read_front_matter(read.data)
    except AiosError as error:
        error.locate(f"{PROJECTS}/{slug}/{README}")
        raise fault(CATALOG_INVALID, cause=error) from None
    stable_id = _stable_id(front)
    if stable_id is None:
        raise fault_at(CATALOG_INVALID, f"{PROJECTS}/{slug}/{README}")
    return PortableIdentity(id=stable_id, slug=slug)


def _sibling(reader: FolderReader, charges: Charges, slug: str) -> PortableIdentity | None:
    relative = f"{PROJECTS}/{slug}/{README}"
    found = reader.inspect(relative, hold=True)
    if found is None or not found.is_file:
        return None
    try:
        read = reader.read_seen(
            relative,
            found,
            limit_bytes=README_BYTES,
            prefix_bytes=FRONT_MATTER_BYTES,
            charges=charges,
        )
        stable_id = _stable_id(read_front_matter(read.data))
    except AiosError as error:
        if error.code in _PASSED_OVER:
            return None
        raise
    return None if stable_id is None else PortableIdentity(id=stable_id, slug=slug)


def _stable_id(front: FrontMatter) -> str | None:
    """Return the id of a front matter when every id field is text and they agree."""
    fields = [front.fields[name] for name in ("id", "project_id") if name in front.fields]
    ids = {field.text for field in fields}
    if len(ids) != 1:
        return None
    only = ids.pop()
    return only if only and len(only) <= SELECTOR_CHARS and not _UNFIT.search(only) else None
