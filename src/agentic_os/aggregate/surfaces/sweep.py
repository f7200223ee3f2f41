"""Which files of a project the store should hold, found by listing and not by reading.

One pass over the surfaces of one project yields a candidate for every file that counts, with
its fingerprint, and a problem for everything that exists and cannot be read. Opted-out projects
yield only their inventory: nothing else of them is opened (design section 5).

``sweep`` makes candidates of what it lists. ``outline`` lists the same folders and makes nothing
of them: it says whether a sweep would find what an earlier one found.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from agentic_os.aggregate.codes import CODES
from agentic_os.aggregate.surfaces.capabilities import CAPABILITIES_NAME
from agentic_os.aggregate.surfaces.conventional import (
    MAX_LISTED_ENTRIES,
    Spotted,
    linked_instruction,
    role_of,
    spotted,
    surfaces_of,
)
from agentic_os.aggregate.surfaces.documents import Role
from agentic_os.aggregate.surfaces.memory import (
    PLACE_HOLDERS,
    is_fact_name,
    is_index_name,
    is_memory_folder,
)
from agentic_os.aggregate.surfaces.vault import is_note_folder, is_note_name
from agentic_os.errors import FilesError
from agentic_os.files.reading import Entry, EntryKind, Fingerprint, Folder
from agentic_os.registry.conventions.tables import convention_of
from agentic_os.registry.project import PersonalFolder, Project
from agentic_os.results import Diagnostic
from agentic_os.text.fencing import one_line

FACT_LIMIT_BYTES = 262_144
INDEX_LIMIT_BYTES = 1_048_576
NOTE_LIMIT_BYTES = 1_048_576
CAPABILITIES_LIMIT_BYTES = 262_144
INSTRUCTIONS_LIMIT_BYTES = 1_048_576
TOOLING_LIMIT_BYTES = 1_048_576
SOURCE_LIMIT_BYTES = 524_288
DOCUMENT_LIMIT_BYTES = 1_048_576
MEMORY_LIMIT_ENTRIES = 10_000
MEMORY_DEPTH_FOLDERS = 8
VAULT_LIMIT_ENTRIES = 50_000
VAULT_DEPTH_FOLDERS = 24

LIMIT_BYTES: dict[Role, int] = {
    Role.FACT: FACT_LIMIT_BYTES,
    Role.INDEX: INDEX_LIMIT_BYTES,
    Role.NOTE: NOTE_LIMIT_BYTES,
    Role.CAPABILITIES: CAPABILITIES_LIMIT_BYTES,
    Role.INSTRUCTION: INSTRUCTIONS_LIMIT_BYTES,
    Role.BANK: NOTE_LIMIT_BYTES,
    Role.TOOLING: TOOLING_LIMIT_BYTES,
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
    """What exists and was not read; always reported.

    An answer is incomplete without it if its severity is ``error``.
    """

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
        yield from _memory(folder, memory, vault, note)
    taken: set[str] = set()
    for found in _conventional(project, folder, note):
        if isinstance(found, Candidate):
            taken.add(found.path)
        yield found
    if vault is not None:
        for found in _vault(folder, vault, note):
            # A repository that is a vault holds its instructions and memory too.
            if isinstance(found, Unread) or found.path not in taken:
                yield found
    for path, role in _single_files(project):
        yield from _single(folder, path, role, note)
    for place in project.personal:
        yield from _personal(project, place, note)


def outline(project: Project, folder: Folder, note: Note) -> bool:
    """Note what a sweep would look at, in its order; False where it is not the whole of it.

    Folders that cannot be listed, or hold more than is looked at, are for ``sweep`` to name.
    """
    memory, vault = _opened(project)
    try:
        _outline_surfaces(folder, memory, None, note)
        _outline_conventional(project, folder, note)
        _outline_surfaces(folder, None, vault, note)
    except FilesError:
        return False
    for path, _ in _single_files(project):
        _look(folder, path, note)
    try:
        for place in project.personal:
            _outline_personal(place, note)
    except FilesError:
        return False
    return True


def _opened(project: Project) -> tuple[str | None, str | None]:
    """Return the paths of memory and vault, each ``None`` unless it may be opened."""
    if not project.retrieval:
        return None, None
    surfaces = (project.surfaces.memory, project.surfaces.vault)
    memory, vault = (
        surface.path
        if surface is not None and surface.state == "present" and project.wants(name)
        else None
        for name, surface in zip(("memory", "vault"), surfaces, strict=True)
    )
    # Without a descriptor several folders may be memory: the conventions find them.
    return memory if project.described else None, vault


def _single_files(project: Project) -> tuple[tuple[str, Role], ...]:
    """Return the files outside memory and vault, where a project may have them."""
    if not project.wants("capabilities"):
        return ()
    return ((f"{project.layout}/{CAPABILITIES_NAME}", Role.CAPABILITIES),)


def _conventional(project: Project, folder: Folder, note: Note) -> Iterator[Candidate | Unread]:
    """Make candidates of the files that conventions name."""
    fingerprints: dict[str, Entry] = {}
    faults: list[Unread] = []

    def listed(folder: Folder, here: str, *, tools: bool) -> list[tuple[str, EntryKind]]:
        try:
            with folder.descend(here) as opened:
                entries, truncated = opened.entries(limit_entries=MAX_LISTED_ENTRIES, stat=True)
        except FilesError as fault:
            if not _is_absent(fault, tools=tools):
                faults.append(unread(here, fault.code, fault.message))
            note(here, fault.code)
            return []
        if truncated:
            faults.append(_truncated(here, MAX_LISTED_ENTRIES))
        else:
            note(here, entries)
        fingerprints.update((f"{here}/{entry.name}", entry) for entry in entries)
        return [(entry.name, entry.kind) for entry in entries]

    for found in spotted(project, folder, listed):
        entry = fingerprints.get(found.path)
        if entry is not None and entry.kind == "file":
            # Read from the project's own folder: the one that was listed is closed again.
            yield _candidate(folder, entry._replace(name=found.path), found.path, _role(found))
        else:
            yield from _spotted(folder, found, note)
    yield from faults


def _is_absent(fault: FilesError, *, tools: bool) -> bool:
    """Whether a folder of conventions is none; one of tools alone may be a link to another."""
    return fault.code in {"FILE_MISSING", "NOT_A_FOLDER"} or (
        tools and fault.code == "LINK_REFUSED"
    )


def _role(found: Spotted) -> Role:
    return role_of(found.row)


def _spotted(folder: Folder, found: Spotted, note: Note) -> Iterator[Candidate | Unread]:
    """Make a candidate of a file that no listing took the state of, or of a link."""
    seen = _look(folder, found.path, note)
    if isinstance(seen, FilesError) and seen.code == "LINK_REFUSED":
        if found.row.surface == "capabilities":
            return  # skills and agents are shared by links: they are read where they lie
        target = linked_instruction(folder, found.path)
        if target is not None:
            seen = _look(folder, target, note)
            if not isinstance(seen, FilesError):
                yield Candidate(_role(found), found.path, seen, folder, target)
                return
    if not isinstance(seen, FilesError):
        yield Candidate(_role(found), found.path, seen, folder, found.path)
    elif seen.code not in {"FILE_MISSING", "NOT_A_FOLDER"}:
        yield unread(found.path, seen.code, seen.message)


def _outline_conventional(project: Project, folder: Folder, note: Note) -> None:
    """Note what ``_conventional`` would, in its order."""

    def listed(folder: Folder, here: str, *, tools: bool) -> list[tuple[str, EntryKind]]:
        try:
            with folder.descend(here) as opened:
                rows = opened.outline(limit_entries=MAX_LISTED_ENTRIES)
        except FilesError as fault:
            if not _is_absent(fault, tools=tools):
                raise
            note(here, fault.code)
            return []
        note(here, rows)
        states.update((f"{here}/{name}", kind) for name, kind, _ in rows)
        return [(name, kind) for name, kind, _ in rows]

    states: dict[str, EntryKind] = {}
    for found in spotted(project, folder, listed):
        if states.get(found.path) != "file":
            for _ in _spotted(folder, found, note):
                pass


_Judge = Callable[[Folder, Entry, str, int], Candidate | Unread | str | None]
"""What one name of a walked folder is: a candidate, a fault, the path of a folder to walk, or
``None``; told the open folder, the entry, its path and how deep it lies."""


def _walk(
    folder: Folder, top: str, note: Note, judge: _Judge, *, limit_entries: int
) -> Iterator[Candidate | Unread]:
    """Walk a folder of a project and what ``judge`` says below it."""
    pending = [(top, 0)]
    seen = 0
    while pending:
        here, depth = pending.pop()
        try:
            walked = folder.descend(here)
        except FilesError as fault:
            yield unread(here, fault.code, fault.message)
            continue
        with walked:
            try:
                entries, truncated = walked.entries(limit_entries=limit_entries - seen, stat=True)
            except FilesError as fault:
                yield unread(here, fault.code, fault.message)
                continue
            seen += len(entries)
            if not truncated:
                note(here, entries)
            below = []
            for entry in entries:
                found = judge(walked, entry, _below(here, entry.name), depth)
                if isinstance(found, str):
                    below.append((found, depth + 1))
                elif found is not None:
                    yield found
            pending.extend(reversed(below))
        if truncated:
            yield _truncated(here, limit_entries)
            return


def _outline(
    folder: Folder,
    top: str,
    note: Note,
    is_walked: Callable[[str], bool],
    *,
    limit_entries: int,
    limit_depth: int,
) -> None:
    """Note what ``_walk`` would look at, in its order."""
    pending = [(top, 0)]
    seen = 0
    while pending:
        here, depth = pending.pop()
        with folder.descend(here) as walked:
            rows = walked.outline(limit_entries=limit_entries - seen)
        note(here, rows)
        seen += len(rows)
        if depth < limit_depth:
            below = [_below(here, name) for name, kind, _ in rows if kind == "folder"]
            pending.extend((path, depth + 1) for path in reversed(below) if is_walked(path))


def _below(here: str, name: str) -> str:
    """Return a path below a folder; ``.`` is the project's own."""
    return name if here == "." else f"{here}/{name}"


def _is_memory_folder(memory: str, vault: str | None) -> Callable[[str], bool]:
    """Return what says of a folder below the memory that it is its own: not the vault.

    A memory that is the whole project is not walked: most of it would be no memory.
    """

    def is_own(path: str) -> bool:
        return memory != "." and path != vault and is_memory_folder(path.rpartition("/")[2])

    return is_own


def _memory(
    folder: Folder, path: str, vault: str | None, note: Note
) -> Iterator[Candidate | Unread]:
    """Walk the memory folder: every file in it is a candidate, or is named."""
    is_own = _is_memory_folder(path, vault)

    def judge(
        memory: Folder, entry: Entry, path: str, depth: int
    ) -> Candidate | Unread | str | None:
        if entry.kind != "folder" or is_fact_name(entry.name):
            return _memory_file(memory, entry, path, top=depth == 0)
        if not is_own(path):
            return None if path == vault else _passed_over(path, "is no folder of facts")
        if depth < MEMORY_DEPTH_FOLDERS:
            return path
        message = f"folders below level {MEMORY_DEPTH_FOLDERS} of the memory are not read"
        return unread(path, "MEMORY_TOO_DEEP", message)

    yield from _walk(folder, path, note, judge, limit_entries=MEMORY_LIMIT_ENTRIES)


def _memory_file(
    memory: Folder, entry: Entry, path: str, *, top: bool
) -> Candidate | Unread | None:
    if top and is_index_name(entry.name):
        return _candidate(memory, entry, path, Role.INDEX)
    if is_fact_name(entry.name):
        return _candidate(memory, entry, path, Role.FACT)
    if entry.kind == "link" and "." not in entry.name:
        return _refused(entry, path, Role.FACT)
    if entry.name.lower() in PLACE_HOLDERS:
        return None
    return _passed_over(path, "is no Markdown file")


def _passed_over(path: str, why: str) -> Unread:
    return unread(path, "MEMORY_FILE_NOT_READ", f"{one_line(path)} {why}; nothing of it was read")


def _vault(folder: Folder, path: str, note: Note) -> Iterator[Candidate | Unread]:
    yield from _walk(folder, path, note, _vault_entry, limit_entries=VAULT_LIMIT_ENTRIES)


def vault_files(folder: Folder, path: str) -> tuple[str, ...]:
    """List the paths of every file of a vault; what cannot be listed is passed over."""
    found: list[str] = []

    def judge(vault: Folder, entry: Entry, path: str, depth: int) -> str | None:
        if entry.kind == "file":
            found.append(path)
        judged = _vault_entry(vault, entry, path, depth)
        return judged if isinstance(judged, str) else None

    for _ in _walk(folder, path, unnoted, judge, limit_entries=VAULT_LIMIT_ENTRIES):
        pass
    return tuple(found)


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


def _outline_surfaces(folder: Folder, memory: str | None, vault: str | None, note: Note) -> None:
    if memory is not None:
        _outline(
            folder,
            memory,
            note,
            _is_memory_folder(memory, vault),
            limit_entries=MEMORY_LIMIT_ENTRIES,
            limit_depth=MEMORY_DEPTH_FOLDERS,
        )
    if vault is not None:
        _outline(
            folder,
            vault,
            note,
            lambda path: is_note_folder(path.rpartition("/")[2]),
            limit_entries=VAULT_LIMIT_ENTRIES,
            limit_depth=VAULT_DEPTH_FOLDERS,
        )


def _personal(project: Project, place: PersonalFolder, note: Note) -> Iterator[Candidate | Unread]:
    """Make candidates of what a harness keeps in a folder of the person's."""
    surfaces = surfaces_of(project)

    def role_in(path: str) -> Role | None:
        row = convention_of(path)
        return role_of(row) if row is not None and row.surface in surfaces else None

    def judge(
        walked: Folder, entry: Entry, path: str, depth: int
    ) -> Candidate | Unread | str | None:
        if entry.kind == "folder":
            return path if depth < MEMORY_DEPTH_FOLDERS and is_memory_folder(entry.name) else None
        shown = f"{place.prefix}/{path}"
        role = role_in(shown) if is_fact_name(entry.name) else None
        return None if role is None else _candidate(walked, entry, shown, role)

    try:
        folder = Folder.open(place.folder)
    except FilesError as fault:
        note(place.prefix, fault.code)
        yield unread(place.prefix, fault.code, fault.message)
        return
    with folder:
        for top in place.tops or (".",):
            if not is_fact_name(top):
                yield from _walk(folder, top, note, judge, limit_entries=MEMORY_LIMIT_ENTRIES)
                continue
            role = role_in(f"{place.prefix}/{top}")
            for found in _single(folder, top, role or Role.INSTRUCTION, note):
                if isinstance(found, Candidate):
                    found = found._replace(path=f"{place.prefix}/{top}")  # noqa: PLW2901 - as shown
                if role is not None:
                    yield found


def _outline_personal(place: PersonalFolder, note: Note) -> None:
    """Note what ``_personal`` would, in its order."""
    with Folder.open(place.folder) as folder:
        for top in place.tops or (".",):
            if is_fact_name(top):
                _look(folder, top, note)
                continue
            _outline(
                folder,
                top,
                note,
                lambda path: is_memory_folder(path.rpartition("/")[2]),
                limit_entries=MEMORY_LIMIT_ENTRIES,
                limit_depth=MEMORY_DEPTH_FOLDERS,
            )


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
