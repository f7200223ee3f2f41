"""Which modules a project's files provide to others, per language.

Always derived from the layout, never from a package's name: the distribution ``PyYAML``
provides ``yaml``. A file counts only where it lies inside a package root that a manifest
declares or that convention gives (the manifest's folder, ``src``, ``lib``, ``python``), and
not in a folder for tests, examples, fixtures or vendored code.
"""

# ruff: noqa: SIM905 - long word lists read better as words

from collections.abc import Iterable
from typing import Literal

import msgspec

from agentic_os.code.manifests.values import Manifest
from agentic_os.code.roles import is_test_name

EXCLUDED_FOLDERS = frozenset(
    {
        "__tests__",
        "_vendor",
        "example",
        "examples",
        "fixtures",
        "node_modules",
        "site-packages",
        "test",
        "testdata",
        "tests",
        "third_party",
        "vendor",
        "vendored",
        "worked",
    }
)
CONVENTIONAL_ROOTS = ("", "src", "lib", "python")
GENERIC_NAMES = frozenset(
    (
        "api app apps backend base bin build cli client clients common conf config configs"
        " constants core data db demo dist docs domain env errors examples frontend handlers"
        " helpers internal lib libs logger logging main manage migrations models module modules"
        " plugins project run schemas scripts server service services settings setup shared src"
        " tasks test testing tests tool tools types ui util utils version views web worker"
    ).split()
)
"""Top-level names that any project may have: never linked without a declared dependency."""

ModuleForm = Literal["package", "module", "namespace"]


class Provided(msgspec.Struct, frozen=True):
    """One module that a file provides; ``package`` is the declaring manifest's package."""

    module: str
    path: str
    package: str
    form: ModuleForm


def is_excluded(path: str) -> bool:
    """Whether a file lies in a test, example, fixture or vendored place."""
    *folders, name = path.lower().split("/")
    return not EXCLUDED_FOLDERS.isdisjoint(folders) or is_test_name(name)


def python_modules(
    files: Iterable[str], manifests: Iterable[Manifest], *, folder_name: str = ""
) -> dict[str, Provided]:
    """Map dotted module names to the files that provide them.

    Args:
        files: every Python file of the project, relative paths.
        manifests: the project's manifests.
        folder_name: the name of the project's own folder, used where the project's root is
            itself a package (it holds ``__init__.py``).

    Returns:
        Modules by dotted name. A package wins over a module of the same name, ``.py`` over
        ``.pyi``; a name that two files of different roots provide is left out.
    """
    paths = sorted(path for path in files if path.endswith((".py", ".pyi")))
    packages = {path.rpartition("/")[0] for path in paths if _is_init(path)}
    declared = _declared_roots(manifests)
    found: dict[str, Provided] = {}
    doubtful: set[str] = set()
    for path in paths:
        if is_excluded(path):
            continue
        provided = _python_module(path, packages, declared, folder_name)
        if provided is None:
            continue
        other = found.get(provided.module)
        if other is None or _outranks(provided, other):
            found[provided.module] = provided
        elif not _outranks(other, provided):
            doubtful.add(provided.module)
    return {name: item for name, item in found.items() if name not in doubtful}


def _is_init(path: str) -> bool:
    return path.rpartition("/")[2] in {"__init__.py", "__init__.pyi"}


def _outranks(one: Provided, other: Provided) -> bool:
    def rank(item: Provided) -> tuple[bool, bool]:
        return (item.form == "package", item.path.endswith(".py"))

    return rank(one) > rank(other)


def _declared_roots(manifests: Iterable[Manifest]) -> dict[str, tuple[str, bool]]:
    """Map every folder that may hold top-level modules to its package and its authority."""
    roots: dict[str, tuple[str, bool]] = {}
    for root in CONVENTIONAL_ROOTS:
        roots[root] = ("", False)
    for manifest in sorted(manifests, key=lambda item: (item.folder.count("/"), item.path)):
        names = [item.name for item in manifest.packages if item.ecosystem == "python"]
        if not names and not manifest.source_roots:
            continue
        base = manifest.folder
        package = names[0] if names else roots.get(base, ("", False))[0]
        for root in (*CONVENTIONAL_ROOTS, *manifest.source_roots):
            folder = "/".join(part for part in (base, root.strip("/")) if part)
            roots[folder] = (package, root in manifest.source_roots)
    return roots


def _python_module(
    path: str, packages: set[str], roots: dict[str, tuple[str, bool]], folder_name: str
) -> Provided | None:
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0]
    top = folder
    while top in packages:
        if not top:
            return _in_root_package(path, stem, folder_name)
        top = top.rpartition("/")[0]
    form: ModuleForm = "package" if _is_init(path) else "module"
    root = top
    if root not in roots:
        above = _namespace_root(top, roots)
        if above is None:
            return None
        root = above
        form = "namespace" if form == "module" and folder not in packages else form
    package, _ = roots[root]
    inner = path[len(root) + 1 :] if root else path
    parts = inner.split("/")[:-1]
    if stem != "__init__":
        parts.append(stem)
    if not parts or not all(part.isidentifier() for part in parts):
        return None
    if form == "module" and len(parts) > 1:
        form = "package" if folder in packages else "namespace"
    return Provided(".".join(parts), path, package, form)


def _namespace_root(folder: str, roots: dict[str, tuple[str, bool]]) -> str | None:
    """Find the root above a folder without ``__init__.py``: only where it is unmistakable."""
    current = folder
    while current:
        current = current.rpartition("/")[0]
        if current in roots:
            package, authoritative = roots[current]
            marked = current.rpartition("/")[2] in {"src", "lib", "python"}
            return current if package and (marked or authoritative) else None
    return None


def _in_root_package(path: str, stem: str, folder_name: str) -> Provided | None:
    """Name a module of a project whose root folder is itself the package."""
    parts = [folder_name, *path.split("/")[:-1]]
    if stem != "__init__":
        parts.append(stem)
    if not all(part.isidentifier() for part in parts):
        return None
    return Provided(".".join(parts), path, "", "package")
