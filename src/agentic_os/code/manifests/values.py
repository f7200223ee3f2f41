"""What a manifest says: packages it declares, dependencies, where modules lie."""

import re
from itertools import chain
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
    """Finds the line of a manifest that names something where it is declared."""

    def __init__(self, text: str) -> None:
        """Keep the lines."""
        self._lines = text.split("\n")
        self._lowered = text.lower().split("\n")
        self._starts: dict[tuple[str, ...], int] = {(): 0}

    def line(self, needle: str, *heads: str, default: int = 1) -> int:
        r"""Return the first line below its heads that holds ``needle`` as a whole word.

        Comments are passed over. Where nothing below the heads holds it, the whole file is
        asked, then ``default`` is the answer.

        Args:
            needle: the name.
            heads: expressions of the lines that open its section, the outermost first.
            default: the line of what the file does not spell out.

        >>> finder = LineFinder('{"x": {"lib": 1},\n"dependencies": {\n"lib": "1"}}')
        >>> finder.line('"lib"', '"dependencies"')
        3
        """
        if not needle:
            return default
        word = re.compile(rf"(?<![\w@/.-]){re.escape(needle)}(?![\w/-])", re.IGNORECASE)
        lowered = needle.lower()
        start = self._start(heads)
        for at in chain(range(start, len(self._lines)), range(start)):
            line = self._lines[at]
            if (
                lowered in self._lowered[at]
                and not line.lstrip().startswith(("#", "//"))
                and word.search(line)
            ):
                return at + 1
        return default

    def _start(self, heads: tuple[str, ...]) -> int:
        """Return where a section begins; of a head that is nowhere, where the outer one does."""
        if heads not in self._starts:
            outer = self._start(heads[:-1])
            opens = re.compile(heads[-1])
            found = (at for at in range(outer, len(self._lines)) if opens.search(self._lines[at]))
            self._starts[heads] = next(found, outer)
        return self._starts[heads]
