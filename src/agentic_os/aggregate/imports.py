"""Where the ``@path`` imports of an instruction file lead, followed as Claude Code follows them.

Only files inside the project are opened, through no link, and no file twice: what leads out, in a
circle, further than the harness goes, or nowhere is named. The person's own files (``~/``) are not
looked at.
"""

import posixpath
from collections.abc import Sequence

from agentic_os.aggregate.surfaces.documents import Import
from agentic_os.aggregate.surfaces.instructions import imports_of
from agentic_os.aggregate.surfaces.sweep import INSTRUCTIONS_LIMIT_BYTES
from agentic_os.errors import FilesError
from agentic_os.files.reading import Folder
from agentic_os.registry.conventions.instructions import IMPORT_HOPS, PRIVATE_FORMS
from agentic_os.registry.conventions.tables import convention_of
from agentic_os.results import ImportState, ImportView
from agentic_os.text.decoding import decode
from agentic_os.text.fencing import one_line

MAX_FOLLOWED = 200
"""Imports of one file that are followed, those of its imports included."""


def followed(folder: Folder, path: str, imports: Sequence[Import]) -> tuple[ImportView, ...]:
    """Follow the imports of one file.

    Args:
        folder: the project's open folder.
        path: the file that imports.
        imports: what stands in it.
    """
    found: list[ImportView] = []
    pending: list[tuple[str, Import, tuple[str, ...]]] = [
        (path, item, (path,)) for item in reversed(imports)
    ]
    while pending and len(found) < MAX_FOLLOWED:
        origin, item, chain = pending.pop()
        target = _target(origin, item.target)
        text, state = _opened(folder, target, chain) if target else (None, _outside(item.target))
        found.append(
            ImportView(
                path=one_line(origin),
                line=item.line,
                target=one_line(item.target),
                state=state,
            )
        )
        if text is not None and target:
            inner = (*chain, target)
            pending.extend((target, below, inner) for below in reversed(imports_of(text)))
    return tuple(found)


def _outside(target: str) -> ImportState:
    return "personal" if target.startswith("~") else "outside"


def _target(origin: str, target: str) -> str:
    """Return the path below the project that an import means; empty where it leads out."""
    if target.startswith(("/", "~")):
        return ""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
    return "" if path.startswith("..") else path


def _opened(folder: Folder, target: str, chain: tuple[str, ...]) -> tuple[str | None, ImportState]:
    if target in chain:
        return None, "circle"
    if len(chain) > IMPORT_HOPS:
        return None, "too far"
    try:
        read = folder.read(target, limit_bytes=INSTRUCTIONS_LIMIT_BYTES)
    except FilesError as fault:
        if fault.code not in {"FILE_MISSING", "NOT_A_FOLDER"}:
            return None, "unreadable"
        row = convention_of(target)
        # What is one person's own is not in the repository: most people have none.
        private = row is not None and row.form in PRIVATE_FORMS
        return None, "personal" if private else "missing"
    return decode(read.data).text, "found"
