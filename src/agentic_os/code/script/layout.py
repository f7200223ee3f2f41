"""Where a JavaScript or TypeScript specifier leads: relative files and package entries."""

import posixpath
from collections.abc import Collection, Iterable

import msgspec

from agentic_os.code.manifests.values import Entry

EXTENSIONS = (".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs")
_WRITTEN = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_BUILD_FOLDERS = ("dist", "lib", "build", "out", "esm", "cjs", "es", "types")
_SOURCE_FOLDERS = ("src", "source", "")


class Landing(msgspec.Struct, frozen=True):
    """A file that a specifier leads to.

    ``exact`` is false where an entry names a build product that is not there and the source
    it is made from was found by convention (``dist/index.js`` from ``src/index.ts``).
    """

    path: str
    exact: bool


def split_specifier(specifier: str) -> tuple[str, str] | None:
    """Split a bare specifier into package name and sub-path (``.`` for the package).

    ``None`` for relative and absolute paths, URLs, ``#`` imports and malformed scopes.
    """
    if not specifier or specifier.startswith((".", "/", "#")) or ":" in specifier:
        return None
    parts = specifier.split("/")
    count = 2 if specifier.startswith("@") else 1
    if len(parts) < count or not all(parts[:count]):
        return None
    rest = "/".join(parts[count:])
    return "/".join(parts[:count]), f"./{rest}" if rest else "."


def find_file(base: str, files: Collection[str]) -> str | None:
    """Find the file that a path without a certain extension stands for."""
    base = base.strip("/")
    if base in files and base.endswith(EXTENSIONS):
        return base
    stem, extension = posixpath.splitext(base)
    candidates = [stem + other for other in _WRITTEN.get(extension, ())]
    candidates += [base + other for other in EXTENSIONS]
    candidates += [f"{base}/index{other}".lstrip("/") for other in EXTENSIONS]
    return next((candidate for candidate in candidates if candidate in files), None)


def resolve_relative(origin: str, specifier: str, files: Collection[str]) -> str | None:
    """Resolve ``./x`` or ``../x`` as written in the file ``origin``."""
    folder = origin.rpartition("/")[0]
    joined = posixpath.normpath(posixpath.join(folder, specifier))
    if joined.startswith(".."):
        return None
    return find_file("" if joined == "." else joined, files)


def resolve_entry(
    folder: str, entries: Iterable[Entry], subpath: str, files: Collection[str]
) -> Landing | None:
    """Resolve a package's entry.

    Args:
        folder: the package's folder, relative to the project; empty for its root.
        entries: the entry points of its manifest.
        subpath: ``.`` or ``./rest``.
        files: the project's files.
    """
    listed = list(entries)
    closed = any(entry.subpath != "." for entry in listed)
    for target in _targets(listed, subpath):
        landing = _land(folder, target, files)
        if landing is not None:
            return landing
    if subpath == ".":
        if listed:
            return None
        path = find_file(_join(folder, "index"), files)
        if path is not None:
            return Landing(path, exact=True)
        path = find_file(_join(folder, "src/index"), files)
        return None if path is None else Landing(path, exact=False)
    if closed:
        return None
    return _land(folder, subpath, files)


def _targets(entries: list[Entry], subpath: str) -> list[str]:
    found = [entry.target for entry in entries if entry.subpath == subpath]
    for entry in entries:
        if "*" not in entry.subpath:
            continue
        before, _, after = entry.subpath.partition("*")
        if subpath.startswith(before) and subpath.endswith(after) and len(subpath) > len(before):
            middle = subpath[len(before) : len(subpath) - len(after)]
            found.append(entry.target.replace("*", middle))
    return found


def _land(folder: str, target: str, files: Collection[str]) -> Landing | None:
    inner = posixpath.normpath(target)
    if inner.startswith(("..", "/")):
        return None
    path = find_file(_join(folder, inner), files)
    if path is not None:
        return Landing(path, exact=True)
    first, _, rest = inner.partition("/")
    if first not in _BUILD_FOLDERS or not rest:
        return None
    if rest.partition("/")[0] in _BUILD_FOLDERS and "/" in rest:
        rest = rest.partition("/")[2]
    stem = rest
    for suffix in (".d.ts", *EXTENSIONS):
        if rest.endswith(suffix):
            stem = rest[: -len(suffix)]
            break
    for source in _SOURCE_FOLDERS:
        path = find_file(_join(folder, _join(source, stem)), files)
        if path is not None:
            return Landing(path, exact=False)
    return None


def _join(folder: str, inner: str) -> str:
    return f"{folder}/{inner}" if folder else inner
