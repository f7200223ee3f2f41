"""What a project's ``rag_endpoint`` asks for, worked out from its text alone.

The string comes from a project and is opaque until the person has granted it (design section 6).
Producers write three forms:

- a command such as ``ccc mcp``: split into words as a shell would, run without one;
- an address, ``http://`` or ``https://``: an MCP server that is asked over HTTP;
- a path of an index: one word with a ``/`` or a leading dot. It cannot be asked.

Nothing is looked up, run or reached here.
"""

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from agentic_os.files.processes import MAX_COMMAND_WORDS
from agentic_os.network.addresses import is_loopback
from agentic_os.registry.descriptor.memory_block import MAX_ENDPOINT_CHARS

_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_PRINTABLE = re.compile(r"[\x21-\x7e]+")

INDEX_PATH = "it is the path of an index, which cannot be asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program and its arguments; it is started in the project's folder."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """An MCP server over HTTP; ``loopback`` where it is on this machine."""

    url: str
    loopback: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Unaskable:
    """An endpoint that nobody can be asked at, and why: a stable code and a reason."""

    code: str
    reason: str


Endpoint: TypeAlias = Command | Address | Unaskable


def read_endpoint(text: str) -> Endpoint:
    """Work out what an endpoint is; total, nothing is raised."""
    if not text.strip() or len(text) > MAX_ENDPOINT_CHARS or not text.isprintable():
        return _invalid("it is empty, too long, or not printable")
    return _address(text) if _ADDRESS.match(text) else _words(text)


def _words(text: str) -> Endpoint:
    try:
        words = tuple(shlex.split(text))
    except ValueError:
        return _invalid("its quotes do not close")
    if not words or len(words) > MAX_COMMAND_WORDS or not words[0]:
        return _invalid("it has no words, or too many")
    program = words[0]
    if len(words) == 1 and ("/" in program or program.startswith(".")):
        return Unaskable(code="ENGINE_IS_A_PATH", reason=INDEX_PATH)
    if "/" in program and not program.startswith("/"):
        return _invalid("its program is a file of the project; name one that is installed")
    return Command(words=words)


def find_program(words: tuple[str, ...], environ: Mapping[str, str], folder: Path) -> Path | None:
    """Return the file that a command's first word means, or nothing.

    Only absolute entries of ``PATH`` count, and neither they nor the file may lie in the
    project: what a project holds is not run by its name (design section 6).

    Args:
        words: the command.
        environ: the surroundings whose ``PATH`` is searched.
        folder: the project's folder.
    """
    home = Path(os.path.realpath(folder))
    entries = [
        entry
        for entry in environ.get("PATH", "").split(os.pathsep)
        if Path(entry).is_absolute() and not _inside(entry, home)
    ]
    found = shutil.which(words[0], path=os.pathsep.join(entries))
    if found is None or not Path(found).is_absolute() or _inside(found, home):
        return None
    return Path(found)


def _inside(path: str, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(folder)


def _address(text: str) -> Endpoint:
    try:
        parts = urlsplit(text)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return _invalid("it is not an address")
    if host is None or not _PRINTABLE.fullmatch(text):
        return _invalid("it is not an address")
    if parts.username is not None or parts.fragment:
        return _invalid("its address holds a name, a password or a fragment")
    loopback = is_loopback(host)
    if parts.scheme.lower() == "http" and not loopback:
        return _invalid("it is neither https nor on this machine")
    return Address(url=text, loopback=loopback)


def _invalid(reason: str) -> Unaskable:
    return Unaskable(code="ENGINE_ENDPOINT_INVALID", reason=reason)
