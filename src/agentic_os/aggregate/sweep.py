"""Which files of a project the store should hold, found by listing and not by reading.

One pass over the surfaces of one project yields a candidate for every file that counts, with
its fingerprint, and a problem for everything that exists and cannot be read. Opted-out projects
yield only their inventory: their memory and vault are not opened (design section 5).
"""

from collections.abc import Iterator
from dataclasses import dataclass

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
MEMORY_LIMIT_ENTRIES = 10_000
VAULT_LIMIT_ENTRIES = 50_000
VAULT_DEPTH_FOLDERS = 24

LIMIT_BYTES: dict[Role, int] = {
    Role.FACT: FACT_LIMIT_BYTES,
    Role.INDEX: INDEX_LIMIT_BYTES,
    Role.NOTE: NOTE_LIMIT_BYTES,
    Role.CAPABILITIES: CAPABILITIES_LIMIT_BYTES,
    Role.INVOCATIONS: INVOCATIONS_LIMIT_BYTES,
}

_HINTS = {
    "LINK_REFUSED": "Put the file itself there; links are never followed.",
    "NOT_REGULAR": "Only ordinary files are read.",
    "FILE_TOO_LARGE": "Split the file; long material belongs into the vault.",
    "NAME_NOT_UTF8": "Rename the file.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A file that the store should hold."""

    role: Role
    path: str
    fingerprint: Fingerprint


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
        with folder.descend(path) as memory:
            entries, truncated = memory.entries(limit_entries=MEMORY_LIMIT_ENTRIES, stat=True)
    except FilesError as fault:
        yield unread(path, fault.code, fault.message)
        return
    if truncated:
        yield _truncated(path, MEMORY_LIMIT_ENTRIES)
    for entry in entries:
        name = entry.name
        if name == INDEX_NAME:
            yield _candidate(entry, f"{path}/{name}", Role.INDEX)
        elif is_fact_name(name):
            yield _candidate(entry, f"{path}/{name}", Role.FACT)


def _vault(folder: Folder, path: str) -> Iterator[Candidate | Unread]:
    pending = [(path, 0)]
    seen = 0
    while pending:
        here, depth = pending.pop()
        try:
            with folder.descend(here) as vault:
                entries, truncated = vault.entries(
                    limit_entries=VAULT_LIMIT_ENTRIES - seen, stat=True
                )
        except FilesError as fault:
            yield unread(here, fault.code, fault.message)
            continue
        seen += len(entries)
        if truncated:
            yield _truncated(here, VAULT_LIMIT_ENTRIES)
            return
        below = []
        for entry in entries:
            if entry.kind == "folder":
                if not is_note_folder(entry.name):
                    continue
                if depth >= VAULT_DEPTH_FOLDERS:
                    yield unread(
                        f"{here}/{entry.name}",
                        "VAULT_TOO_DEEP",
                        f"folders below level {VAULT_DEPTH_FOLDERS} of the vault are not read",
                    )
                    continue
                below.append((f"{here}/{entry.name}", depth + 1))
            elif is_note_name(entry.name) or (
                entry.kind == "link" and is_note_folder(entry.name) and "." not in entry.name
            ):
                yield _candidate(entry, f"{here}/{entry.name}", Role.NOTE)
        pending.extend(reversed(below))


def _single(folder: Folder, path: str, role: Role) -> Iterator[Candidate | Unread]:
    try:
        yield Candidate(role=role, path=path, fingerprint=folder.stat(path))
    except FilesError as fault:
        # A layout folder that is itself a plain file simply has no inventory.
        if fault.code not in {"FILE_MISSING", "NOT_A_FOLDER"}:
            yield unread(path, fault.code, fault.message)


def _candidate(entry: Entry, path: str, role: Role) -> Candidate | Unread:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return unread(path, "NAME_NOT_UTF8", "the file name is not UTF-8; the file was not read")
    shown = one_line(path)
    if entry.kind == "link":
        return unread(path, "LINK_REFUSED", f"{shown} is a link")
    if entry.kind != "file":
        return unread(path, "NOT_REGULAR", f"{shown} is not a regular file")
    if entry.fingerprint is None:
        return unread(path, "FILE_UNREADABLE", f"{shown} cannot be looked at")
    if entry.fingerprint.size > LIMIT_BYTES[role]:
        return unread(
            path,
            "FILE_TOO_LARGE",
            f"{shown} has {entry.fingerprint.size} bytes, more than {LIMIT_BYTES[role]}",
        )
    return Candidate(role=role, path=path, fingerprint=entry.fingerprint)


def _truncated(path: str, limit: int) -> Unread:
    return unread(path, "TOO_MANY_ENTRIES", f"only the first {limit} entries were looked at")
