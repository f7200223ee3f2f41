"""Which files of a project the store should hold, found by listing and not by reading.

One pass over the surfaces of one project yields a candidate for every file that counts, with
its fingerprint, and a problem for everything that exists and cannot be read. Opted-out projects
yield only their inventory: their memory and vault are not opened (design section 5).

``sweep`` makes candidates of what it lists. ``outline`` lists the same folders and makes nothing
of them: it says whether a sweep would find what an earlier one found.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from agentic_os.aggregate.codes import CODES
from agentic_os.aggregate.surfaces.capabilities import CAPABILITIES_NAME, INVOCATIONS_NAME
from agentic_os.aggregate.surfaces.documents import Role
from agentic_os.aggregate.surfaces.memory import INDEX_NAME, is_fact_name
from agentic_os.aggregate.surfaces.vault import is_note_folder, is_note_name
from agentic_os.errors import FilesError
from agentic_os.files.reading import Entry, Fingerprint, Folder
from agentic_os.registry.project import Project
from agentic_os.results import Diagnostic
from agentic_os.text.fencing import one_line

FACT_LIMIT_BYTES = 262_144
INDEX_LIMIT_BYTES = 1_048_576
NOTE_LIMIT_BYTES = 1_048_576
CAPABILITIES_LIMIT_BYTES = 262_144
INVOCATIONS_LIMIT_BYTES = 262_144
SOURCE_LIMIT_BYTES = 524_288
DOCUMENT_LIMIT_BYTES = 1_048_576
MEMORY_LIMIT_ENTRIES = 10_000
VAULT_LIMIT_ENTRIES = 50_000
VAULT_DEPTH_FOLDERS = 24

LIMIT_BYTES: dict[Role, int] = {
    Role.FACT: FACT_LIMIT_BYTES,
    Role.INDEX: INDEX_LIMIT_BYTES,
    Role.NOTE: NOTE_LIMIT_BYTES,
    Role.CAPABILITIES: CAPABILITIES_LIMIT_BYTES,
    Role.INVOCATIONS: INVOCATIONS_LIMIT_BYTES,
    Role.SOURCE: SOURCE_LIMIT_BYTES,
    Role.DOCUMENT: DOCUMENT_LIMIT_BYTES,
}


class Candidate(NamedTuple):
    """A file that the store should hold; a tuple, for there is one of each file in the fleet."""

    role: Role
    path: str
    fingerprint: Fingerprint
    folder: Folder
    name: str
    """The name in ``folder``, which is open only until the next candidate is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Evidence that exists and could not be read; always reported."""

    diagnostic: Diagnostic


def unread(path: str, code: str, message: str) -> Unread:
    """Evidence at ``path`` that could not be read, with the hint that belongs to its code."""
    return Unread(diagnostic=CODES.diagnostic(code, message, path=one_line(path)))


Note = Callable[[str, object], None]
"""Told of each folder and file that is looked at: its path, and what was seen there."""


def unnoted(_path: str, _seen: object) -> None:
    """Nobody keeps what a sweep sees."""


def sweep(project: Project, folder: Folder, note: Note = unnoted) -> Iterator[Candidate | Unread]:
    """List one project.

    Args:
        project: the project, its surfaces already checked for containment.
        folder: its open folder.
        note: told what ``outline`` would say: the entries of a folder listed whole, the
            fingerprint of a file, the code of what cannot be looked at.
    """
    memory, vault = _opened(project)
    if memory is not None:
        yield from _memory(folder, memory, note)
    if vault is not None:
        yield from _vault(folder, vault, note)
    for path, role in _single_files(project):
        yield from _single(folder, path, role, note)


def outline(project: Project, folder: Folder, note: Note) -> bool:
    """Note what a sweep would look at, in its order; False where it is not the whole of it.

    Folders that cannot be listed, or hold more than is looked at, are for ``sweep`` to name.
    """
    memory, vault = _opened(project)
    try:
        if memory is not None:
            with folder.descend(memory) as listed:
                note(memory, listed.outline(limit_entries=MEMORY_LIMIT_ENTRIES))
        if vault is not None:
            _outline_vault(folder, vault, note)
    except FilesError:
        return False
    for path, _ in _single_files(project):
        _look(folder, path, note)
    return True


def _opened(project: Project) -> tuple[str | None, str | None]:
    """Return the paths of memory and vault, each ``None`` unless it may be opened."""
    if not project.retrieval:
        return None, None
    surfaces = (project.surfaces.memory, project.surfaces.vault)
    memory, vault = (
        surface.path if surface is not None and surface.state == "present" else None
        for surface in surfaces
    )
    return memory, vault


def _single_files(project: Project) -> tuple[tuple[str, Role], ...]:
    """Return the files outside memory and vault, where a project may have them."""
    return (
        (f"{project.layout}/{CAPABILITIES_NAME}", Role.CAPABILITIES),
        (INVOCATIONS_NAME, Role.INVOCATIONS),
    )


def _memory(folder: Folder, path: str, note: Note) -> Iterator[Candidate | Unread]:
    try:
        memory = folder.descend(path)
    except FilesError as fault:
        yield unread(path, fault.code, fault.message)
        return
    with memory:
        try:
            entries, truncated = memory.entries(limit_entries=MEMORY_LIMIT_ENTRIES, stat=True)
        except FilesError as fault:
            yield unread(path, fault.code, fault.message)
            return
        if truncated:
            yield _truncated(path, MEMORY_LIMIT_ENTRIES)
        else:
            note(path, entries)
        for entry in entries:
            if entry.name == INDEX_NAME:
                yield _candidate(memory, entry, f"{path}/{entry.name}", Role.INDEX)
            elif is_fact_name(entry.name):
                yield _candidate(memory, entry, f"{path}/{entry.name}", Role.FACT)


def _vault(folder: Folder, path: str, note: Note) -> Iterator[Candidate | Unread]:
    pending = [(path, 0)]
    seen = 0
    while pending:
        here, depth = pending.pop()
        try:
            vault = folder.descend(here)
        except FilesError as fault:
            yield unread(here, fault.code, fault.message)
            continue
        with vault:
            try:
                entries, truncated = vault.entries(
                    limit_entries=VAULT_LIMIT_ENTRIES - seen, stat=True
                )
            except FilesError as fault:
                yield unread(here, fault.code, fault.message)
                continue
            seen += len(entries)
            if not truncated:
                note(here, entries)
            below = []
            for entry in entries:
                found = _vault_entry(vault, entry, f"{here}/{entry.name}", depth)
                if isinstance(found, str):
                    below.append((found, depth + 1))
                elif found is not None:
                    yield found
            pending.extend(reversed(below))
        if truncated:
            yield _truncated(here, VAULT_LIMIT_ENTRIES)
            return


def _vault_entry(
    vault: Folder, entry: Entry, path: str, depth: int
) -> Candidate | Unread | str | None:
    """Judge one name of a vault: a note, a fault, the path of a folder to walk, or ``None``."""
    if entry.kind == "folder":
        if not is_note_folder(entry.name):
            return None
        if depth < VAULT_DEPTH_FOLDERS:
            return path
        return unread(
            path,
            "VAULT_TOO_DEEP",
            f"folders below level {VAULT_DEPTH_FOLDERS} of the vault are not read",
        )
    is_linked_folder = entry.kind == "link" and "." not in entry.name and is_note_folder(entry.name)
    if is_note_name(entry.name) or is_linked_folder:
        return _candidate(vault, entry, path, Role.NOTE)
    return None


def _outline_vault(folder: Folder, path: str, note: Note) -> None:
    pending = [(path, 0)]
    seen = 0
    while pending:
        here, depth = pending.pop()
        with folder.descend(here) as vault:
            rows = vault.outline(limit_entries=VAULT_LIMIT_ENTRIES - seen)
        note(here, rows)
        seen += len(rows)
        if depth < VAULT_DEPTH_FOLDERS:
            below = [
                (f"{here}/{name}", depth + 1)
                for name, kind, _ in rows
                if kind == "folder" and is_note_folder(name)
            ]
            pending.extend(reversed(below))


def _single(folder: Folder, path: str, role: Role, note: Note) -> Iterator[Candidate | Unread]:
    found = _look(folder, path, note)
    if not isinstance(found, FilesError):
        yield Candidate(role, path, found, folder, path)
    # A layout folder that is itself a plain file simply has no inventory.
    elif found.code not in {"FILE_MISSING", "NOT_A_FOLDER"}:
        yield unread(path, found.code, found.message)


def _look(folder: Folder, path: str, note: Note) -> Fingerprint | FilesError:
    try:
        found = folder.stat(path)
    except FilesError as fault:
        note(path, fault.code)
        return fault
    note(path, found)
    return found


def _candidate(folder: Folder, entry: Entry, path: str, role: Role) -> Candidate | Unread:
    fingerprint = entry.fingerprint
    if (
        entry.kind == "file"
        and fingerprint is not None
        and fingerprint.size <= LIMIT_BYTES[role]
        and (path.isascii() or _is_utf8(path))
    ):
        return Candidate(role, path, fingerprint, folder, entry.name)
    return _refused(entry, path, role)


def _refused(entry: Entry, path: str, role: Role) -> Unread:
    shown = one_line(path)
    if not _is_utf8(path):
        return unread(path, "NAME_NOT_UTF8", "the file name is not UTF-8; the file was not read")
    if entry.kind == "link":
        return unread(path, "LINK_REFUSED", f"{shown} is a link")
    if entry.kind != "file":
        return unread(path, "NOT_REGULAR", f"{shown} is not a regular file")
    if entry.fingerprint is None:
        return unread(path, "FILE_UNREADABLE", f"{shown} cannot be looked at")
    return unread(
        path,
        "FILE_TOO_LARGE",
        f"{shown} has {entry.fingerprint.size} bytes, more than {LIMIT_BYTES[role]}",
    )


def _is_utf8(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _truncated(path: str, limit: int) -> Unread:
    return unread(path, "TOO_MANY_ENTRIES", f"only the first {limit} entries were looked at")
