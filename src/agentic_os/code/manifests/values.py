"""What a manifest says: packages it declares, dependencies, where modules lie."""

import re
from typing import Literal

import msgspec

Ecosystem = Literal["python", "npm", "go", "cargo", "maven"]
DependencyKind = Literal["name", "path", "git"]

MAX_MANIFEST_BYTES = 4 * 1024 * 1024
MAX_DEPENDENCIES_ENTRIES = 5_000

_RUNS = re.compile(r"[-_.]+")
_USERINFO = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*://)[^/@]*@")


class Package(msgspec.Struct, frozen=True, array_like=True):
    """A package that a manifest declares; ``name`` is normalised, ``display`` as written."""

    ecosystem: Ecosystem
    name: str
    display: str
    line: int


class Dependency(msgspec.Struct, frozen=True, array_like=True):
    """One dependency.

    ``kind`` ``path`` and ``git`` point somewhere (``target``: a path relative to the
    manifest's folder, or a URL). ``alias`` is the name that importers write where it
    differs from the package's (npm ``npm:`` aliases, Cargo ``package =``).
    """

    ecosystem: Ecosystem
    name: str
    line: int
    kind: DependencyKind = "name"
    target: str = ""
    alias: str = ""


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One npm entry point: sub-path (``.`` for the package itself) and target file."""

    subpath: str
    target: str


class Manifest(msgspec.Struct, frozen=True, array_like=True):
    """One manifest file, read.

    ``path`` is relative to the project. ``source_roots`` are folders, relative to the
    manifest's, that Python modules are found below. ``local_prefixes`` are import
    prefixes that a configuration keeps inside the project (TypeScript path mappings).
    """

    path: str
    packages: tuple[Package, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    source_roots: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    local_prefixes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The manifest's folder, relative to the project; empty for its root."""
        return self.path.rpartition("/")[0]


def python_name(name: str) -> str:
    """Normalise a Python distribution's name (PEP 503)."""
    return _RUNS.sub("-", name.strip()).lower()


def cargo_name(name: str) -> str:
    """Normalise a crate's name: Cargo treats ``-`` and ``_`` as one."""
    return name.strip().replace("_", "-")


def without_userinfo(url: str) -> str:
    """Drop user and password from an address: they are nobody's business here."""
    return _USERINFO.sub(r"\1", url)


class LineFinder:
    """Finds the line of a manifest that first names something."""

    def __init__(self, text: str) -> None:
        """Keep the lines."""
        self._lines = text.split("\n")

    def line(self, needle: str, default: int = 1) -> int:
        """Return the first line that holds ``needle`` as a whole word, else ``default``."""
        if not needle:
            return default
        word = re.compile(rf"(?<![\w@/.-]){re.escape(needle)}(?![\w/-])", re.IGNORECASE)
        for number, line in enumerate(self._lines, 1):
            if needle.lower() in line.lower() and word.search(line):
                return number
        return default
