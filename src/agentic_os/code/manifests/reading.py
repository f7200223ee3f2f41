"""One door to all manifests: a path and its bytes in, a ``Manifest`` or ``None`` out."""

import fnmatch
from collections.abc import Callable

from agentic_os.code.manifests.node import read_package_json, read_tsconfig
from agentic_os.code.manifests.other import (
    read_cargo,
    read_gitmodules,
    read_go_mod,
    read_pom,
    read_workflow,
)
from agentic_os.code.manifests.python import (
    read_package_info,
    read_pyproject,
    read_requirements,
    read_setup_cfg,
    read_setup_py,
)
from agentic_os.code.manifests.values import MAX_MANIFEST_BYTES, Manifest

_READERS: dict[str, Callable[[str, str], Manifest]] = {
    "pyproject.toml": read_pyproject,
    "setup.cfg": read_setup_cfg,
    "setup.py": read_setup_py,
    "PKG-INFO": read_package_info,
    "METADATA": read_package_info,
    "package.json": read_package_json,
    "tsconfig.json": read_tsconfig,
    "jsconfig.json": read_tsconfig,
    "go.mod": read_go_mod,
    "Cargo.toml": read_cargo,
    "pom.xml": read_pom,
    ".gitmodules": read_gitmodules,
}
WORKFLOW_FOLDER = ".github/workflows"


def is_manifest(path: str) -> bool:
    """Whether a path is one that ``read_manifest`` understands."""
    return _reader(path) is not None


def read_manifest(path: str, data: bytes) -> Manifest | None:
    """Read one manifest.

    Args:
        path: relative to the project.
        data: the file's bytes, at most ``MAX_MANIFEST_BYTES``.

    Returns:
        What it says; ``MANIFEST_INVALID`` among its ``problems`` where it does not parse,
        ``MANIFEST_TOO_LARGE`` beyond the bound; ``None`` for any other file. Never raises.
    """
    reader = _reader(path)
    if reader is None:
        return None
    if len(data) > MAX_MANIFEST_BYTES:
        return Manifest(path, problems=("MANIFEST_TOO_LARGE",))
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    return reader(path, text)


def _reader(path: str) -> Callable[[str, str], Manifest] | None:
    folder, _, name = path.rpartition("/")
    if name in _READERS:
        return _READERS[name]
    if name.endswith(".txt") and (
        fnmatch.fnmatch(name, "*requirements*.txt") or folder.rpartition("/")[2] == "requirements"
    ):
        return read_requirements
    if folder.endswith(WORKFLOW_FOLDER) and name.endswith((".yml", ".yaml")):
        return read_workflow
    return None
