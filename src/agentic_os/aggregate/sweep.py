"""Which files of a project the store should hold, found by listing and not by reading.

One pass over the surfaces of one project yields a candidate for every file that counts, with
its fingerprint, and a problem for everything that exists and cannot be read. Opted-out projects
yield only their inventory: their memory and vault are not opened (design section 5).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from agentic_os.aggregate.capabilities import CAPABILITIES_NAME, INVOCATIONS_NAME
from agentic_os.aggregate.documents import Role
from agentic_os.aggregate.memory import INDEX_NAME, is_fact_name
from agentic_os.aggregate.vault import is_note_folder, is_note_name
from agentic_os.errors import FilesError
from agentic_os.files.reading import Entry, Fingerprint, Folder
from agentic_os.registry import Project
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

_HINTS = {
    "LINK_REFUSED": "Put the file itself there; links are never followed.",
    "NOT_REGULAR": "Only ordinary files are read.",
    "FILE_TOO_LARGE": "Split the file; long material belongs into the vault.",
    "NAME_NOT_UTF8": "Rename the file.",
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
    return Unread(
        diagnostic=Diagnostic(
            code=code,
            severity="error",
            message=message,
            hint=_HINTS.get(code, ""),
            path=one_line(path),
        )
    )


def sweep(project: Project, folder: Folder) -> Iterator[Candidate | Unread]:
    """List one project.

    Args:
        project: the project, its surfaces already checked for containment.
        folder: its open folder.
    """
    if project.retrieval:
        memory = project.surfaces.memory
        if memory is not None and memory.state == "present":
            yield from _memory(folder, memory.path)
        vault = project.surfaces.vault
        if vault is not None and vault.state == "present":
            yield from _vault(folder, vault.path)
    yield from _single(folder, f"{project.layout}/{CAPABILITIES_NAME}", Role.CAPABILITIES)
    yield from _single(folder, INVOCATIONS_NAME, Role.INVOCATIONS)


def _memory(folder: Folder, path: str) -> Iterator[Candidate | Unread]:
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
        for entry in entries:
            if entry.name == INDEX_NAME:
                yield _candidate(memory, entry, f"{path}/{entry.name}", Role.INDEX)
            elif is_fact_name(entry.name):
                yield _candidate(memory, entry, f"{path}/{entry.name}", Role.FACT)


def _vault(folder: Folder, path: str) -> Iterator[Candidate | Unread]:
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
    """What one name of a vault is: a note, a fault, a folder to walk (its path), or nothing."""
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


def _single(folder: Folder, path: str, role: Role) -> Iterator[Candidate | Unread]:
    try:
        yield Candidate(role, path, folder.stat(path), folder, path)
    except FilesError as fault:
        # A layout folder that is itself a plain file simply has no inventory.
        if fault.code not in {"FILE_MISSING", "NOT_A_FOLDER"}:
            yield unread(path, fault.code, fault.message)


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
