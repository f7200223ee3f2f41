"""Open the file of a hit in the person's editor."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from agentic_os.aggregate.fleet import Person, find_fleet
from agentic_os.cli.output import write
from agentic_os.errors import FilesError, UsageError
from agentic_os.files.reading import Folder
from agentic_os.registry.project import located
from agentic_os.text.fencing import one_line

_HIT = re.compile(r"(?P<project>[^:]+):(?P<path>.+?)(?::(?P<line>[0-9]{1,9})(?:-[0-9]{1,9})?)?")
MOST_BYTES: Final = 64 * 1_048_576
_GOTO: Final = {"code", "code-insiders", "codium", "cursor", "windsurf"}
"""Editors that take ``--goto FILE:LINE``; others take ``+LINE FILE``."""


def open_hit(*, hit: str, root: Sequence[str], show: bool) -> None:
    """Open it, or print where it is."""
    found = _HIT.fullmatch(hit.strip())
    if found is None:
        raise UsageError(
            "this is no place of a hit",
            code="HIT_INVALID",
            hint="A place is PROJECT:PATH:LINE, as search prints it.",
        )
    file = _file(found["project"], found["path"], root)
    if show:
        write(f"{one_line(str(file))}\n")
        return
    subprocess.run(_command(file, found["line"] or "1"), check=False)


def _file(project: str, path: str, root: Sequence[str]) -> Path:
    """Return the file; a link, or a path that leaves the project, is refused."""
    person = Person.here()
    own = find_fleet(person, root).fleet.find(project, current=person.current)
    where, below = located(own.folder, own.personal, path)
    try:
        with Folder.open(where) as folder:
            folder.read(below, limit_bytes=MOST_BYTES)
    except FilesError as fault:
        fault.hint = fault.hint or "Search again: the file may have moved."
        raise
    return where / below


def _command(file: Path, line: str) -> list[str]:
    environ = os.environ
    words = shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "")
    if not words or shutil.which(words[0]) is None:
        raise UsageError(
            "there is no editor" if not words else f"the editor {words[0]!r} is not there",
            code="EDITOR_MISSING",
            hint="Set VISUAL or EDITOR, or add --print for the path alone.",
        )
    if Path(words[0]).name in _GOTO:
        return [*words, "--goto", f"{file}:{line}"]
    return [*words, f"+{line}", str(file)]
