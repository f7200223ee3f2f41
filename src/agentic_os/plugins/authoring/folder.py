"""A plugin's folder and the package that it makes: the hashes are filled in, nothing else changes.

A folder looks like a package without its top::

    manifest.json                    hashes may be left out
    interfaces/<id>.v<n>.schema.json
    variants/<variant>/plugin.wasm   what the build puts there
    README.md, provenance/, settings.json, ...
"""

import io
from pathlib import Path
from typing import Any, Final

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.texts import SHA256_PREFIX
from agentic_os.errors import CryptoError
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.declaration.manifest import read_manifest
from agentic_os.plugins.package.contents import TEXT_BYTES, hash_of_files
from agentic_os.plugins.package.layout import INSTALL_ROOT, MANIFEST_PATH, interface_file
from agentic_os.plugins.package.packing import Packed, sha256_of, write_package

_INSTALLED: Final = ("interfaces", "variants", "webhooks")
_INSTALLED_FILES: Final = ("settings.json", "subscriptions.json")
_BESIDE: Final = ("provenance",)
README_FILE: Final = "README.md"


def pack_folder(folder: Path) -> bytes:
    """Return the package of a plugin's folder; the same folder gives the same bytes.

    Raises:
        PackageRefusedError: what a package cannot hold, or a manifest that is none.
    """
    installed = _files(folder, _INSTALLED, _INSTALLED_FILES)
    manifest = _completed(
        _manifest(folder), {path: SHA256_PREFIX + sha256_of(one) for path, one in installed.items()}
    )
    read = read_manifest(encode(manifest)).manifest
    files = {
        MANIFEST_PATH: Packed(data=encode(manifest)),
        **{f"{INSTALL_ROOT}/{path}": packed for path, packed in installed.items()},
        **_files(folder, _BESIDE, (README_FILE,)),
    }
    sink = io.BytesIO()
    write_package(f"{read.id}-{read.version}", files, sink.write)
    return sink.getvalue()


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        with (folder / MANIFEST_PATH).open("rb") as file:
            data = file.read(TEXT_BYTES + 1)
    except OSError as fault:
        raise ERRORS.error(
            "PLUGIN_MANIFEST_SCHEMA_INVALID", f"{MANIFEST_PATH} cannot be read: {fault.strerror}"
        ) from None
    if len(data) > TEXT_BYTES:
        raise ERRORS.error("PLUGIN_CEILING_EXCEEDED", f"{MANIFEST_PATH} has more than 1 MiB")
    try:
        manifest = decode(data)
    except CryptoError as fault:
        raise ERRORS.error("PLUGIN_MANIFEST_SCHEMA_INVALID", fault.message) from None
    if not isinstance(manifest, dict):
        raise ERRORS.error("PLUGIN_MANIFEST_SCHEMA_INVALID", f"{MANIFEST_PATH} is no object")
    return dict(manifest)


def _completed(manifest: dict[str, Any], sums: dict[str, str]) -> dict[str, Any]:
    """Fill in the hashes; a hash that stands there is replaced, since the files decide."""
    for interface in _objects(manifest.get("interfaces"), "core"):
        path = interface_file(str(interface.get("id")), _number(interface.get("version")))
        if path in sums:
            interface["schema_hash"] = sums[path]
    for variant in _objects(manifest, "variants"):
        path = str(variant.get("entrypoint"))
        if path not in sums:
            raise ERRORS.error(
                "PLUGIN_ENVELOPE_MALFORMED",
                f"{path} is missing: build the plugin first",
            )
        variant["artifact_hash"] = sums[path]
    bare = {path: name.removeprefix(SHA256_PREFIX) for path, name in sums.items()}
    return {**manifest, "package_hash": hash_of_files(bare)}


def _objects(value: object, member: str) -> list[dict[str, Any]]:
    rows = value.get(member) if isinstance(value, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _files(folder: Path, folders: tuple[str, ...], names: tuple[str, ...]) -> dict[str, Packed]:
    found = [folder / name for name in names]
    for name in folders:
        found += sorted((folder / name).rglob("*"))
    return {
        path.relative_to(folder).as_posix(): Packed(path=path)
        for path in found
        if path.is_file() and not path.is_symlink()
    }
