"""JavaScript manifests: package.json with workspaces and exports, tsconfig.json paths."""

import msgspec

from agentic_os.code.manifests.tables import items, table, text, text_pairs, texts
from agentic_os.code.manifests.values import (
    MAX_DEPENDENCIES_ENTRIES,
    Dependency,
    Entry,
    LineFinder,
    Manifest,
    Package,
    without_userinfo,
)
from agentic_os.text.jsonc import plain_json

_SECTIONS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_PATHS = ("file:", "link:", "portal:", "workspace:./", "workspace:../")
_CONDITIONS = ("source", "types", "import", "module", "require", "node", "default", "browser")
_MAX_ENTRIES_ENTRIES = 500
_MAX_LEVELS = 8


def read_package_json(path: str, source: str) -> Manifest:
    """Read a ``package.json``; a file that is no JSON object gives ``MANIFEST_INVALID``."""
    document = _json(source)
    if document is None:
        return Manifest(path, problems=("MANIFEST_INVALID",))
    find = LineFinder(source)
    name = text(document.get("name")).strip()
    dependencies = [
        _dependency(key, value, find.line(f'"{key}"', f'"{section}"\\s*:'))
        for section in _SECTIONS
        for key, value in text_pairs(document.get(section))
    ]
    return Manifest(
        path,
        packages=(Package("npm", name, name, find.line(f'"{name}"', '"name"\\s*:')),)
        if name
        else (),
        dependencies=tuple(dependencies[:MAX_DEPENDENCIES_ENTRIES]),
        entries=tuple(_entries(document)),
    )


def workspace_globs(source: str) -> tuple[str, ...]:
    """Return the workspace patterns of a ``package.json``; both forms are understood."""
    document = _json(source) or {}
    declared = document.get("workspaces")
    return tuple(texts(declared) or texts(table(declared).get("packages")))


def read_tsconfig(path: str, source: str) -> Manifest:
    """Read the path mappings of a ``tsconfig.json`` or ``jsconfig.json``.

    The file is JSON with comments and trailing commas. The result's ``local_prefixes``
    are the patterns' parts before ``*``: imports that begin so stay inside the project.
    """
    document = _json(plain_json(source))
    if document is None:
        return Manifest(path, problems=("MANIFEST_INVALID",))
    paths = table(document, "compilerOptions", "paths")
    prefixes = {key.partition("*")[0] for key in paths}
    return Manifest(path, local_prefixes=tuple(sorted(prefix for prefix in prefixes if prefix)))


def _json(source: str) -> dict[str, object] | None:
    try:
        document = msgspec.json.decode(source.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _dependency(name: str, value: str, line: int) -> Dependency:
    value = value.strip()
    if value.startswith(_PATHS):
        target = value.partition(":")[2]
        return Dependency("npm", name, line, "path", target)
    if value.startswith("npm:"):
        real = value[len("npm:") :]
        at = real.find("@", 1)
        real = real if at < 0 else real[:at]
        return Dependency("npm", real, line, alias=name)
    if value.startswith(("git+", "git:", "git@", "ssh:", "github:", "gitlab:", "bitbucket:")) or (
        value.startswith("http") and ".git" in value
    ):
        return Dependency("npm", name, line, "git", _git_url(value))
    if value.count("/") == 1 and not value.startswith((".", "/", "@")) and " " not in value:
        return Dependency("npm", name, line, "git", _git_url(f"github:{value}"))
    return Dependency("npm", name, line)


def _git_url(value: str) -> str:
    value = without_userinfo(value.partition("#")[0].removeprefix("git+"))
    for short, host in (
        ("github:", "github.com"),
        ("gitlab:", "gitlab.com"),
        ("bitbucket:", "bitbucket.org"),
    ):
        if value.startswith(short):
            return f"https://{host}/{value[len(short) :]}"
    return value


def _entries(document: dict[str, object]) -> list[Entry]:
    """List the entry points: ``exports`` where present, else ``main`` and its relatives."""
    exports = document.get("exports")
    found: list[Entry] = []
    if exports is not None:
        declared = table(exports)
        if declared and all(key.startswith(".") for key in declared):
            for key, value in declared.items():
                found += [Entry(key, target) for target in _targets(value)]
        else:
            found += [Entry(".", target) for target in _targets(exports)]
        return found[:_MAX_ENTRIES_ENTRIES]
    for key in ("source", "types", "typings", "module", "main"):
        target = text(document.get(key))
        if target:
            found.append(Entry(".", target))
    return found


def _targets(value: object) -> list[str]:
    found: list[str] = []
    pending: list[tuple[object, int]] = [(value, 0)]
    while pending and len(found) < _MAX_ENTRIES_ENTRIES:
        item, depth = pending.pop(0)
        if isinstance(item, str):
            found.append(item)
        elif depth < _MAX_LEVELS:
            pending.extend((each, depth + 1) for each in items(item))
            conditions = table(item)
            known = [key for key in _CONDITIONS if key in conditions]
            others = [key for key in conditions if key not in _CONDITIONS]
            pending.extend((conditions[key], depth + 1) for key in (*known, *others))
    return found
