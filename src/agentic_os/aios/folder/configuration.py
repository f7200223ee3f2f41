"""``aios.json``: what makes a folder an AIOS, and where its vault lies.

A folder is an AIOS if and only if ``aios.json`` exists in it (DotAIOS convention). A
vault outside the folder is read only after a grant for that exact path.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentic_os.aios.folder.faults import (
    EVIDENCE_CONFIG,
    FOLDER_MISSING,
    NOT_REGULAR,
    UNSAFE_PATH,
    fault,
    fault_at,
)
from agentic_os.aios.folder.json_text import parse_object

if TYPE_CHECKING:
    from agentic_os.aios.folder.access import AiosAccess
    from agentic_os.aios.folder.allowance import Charges
    from agentic_os.aios.folder.layer import Stamp
    from agentic_os.aios.folder.reader import FolderReader

CONFIGURATION: Final = "aios.json"
CONFIGURATION_BYTES: Final = 1024 * 1024
SCHEMA_VERSION: Final = "1.2.0"
"""The folder compatibility that this reader supports."""
DEFAULT_VAULT: Final = "vault"


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What this reader uses of ``aios.json``; unknown keys are left alone.

    ``schema_version`` is ``None`` when it is missing or not text.
    """

    schema_version: str | None
    vault_path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultPlace:
    """Where the vault is: a relative path inside the folder, or an absolute one outside."""

    inside: str | None
    outside: Path | None


def require_folder(reader: "FolderReader", *, hold: bool = False) -> "Stamp":
    """Make sure that the folder is an AIOS; reads nothing of ``aios.json``.

    Raises:
        AiosError: DOTAIOS_FOLDER_MISSING, or a read fault for a link or special file.
    """
    found = reader.inspect(CONFIGURATION, hold=hold)
    if found is None:
        raise fault(FOLDER_MISSING)
    if not found.is_file:
        raise fault(UNSAFE_PATH if found.is_link else NOT_REGULAR)
    return found


def read_configuration(
    reader: "FolderReader", charges: "Charges", *, hold: bool = False
) -> Configuration:
    """Read ``aios.json``.

    Raises:
        AiosError: DOTAIOS_FOLDER_MISSING, DOTAIOS_EVIDENCE_CONFIG_INVALID or a read fault.
    """
    read = reader.read(CONFIGURATION, limit_bytes=CONFIGURATION_BYTES, charges=charges, hold=hold)
    if read is None:
        raise fault(FOLDER_MISSING)
    document = parse_object(read.text)
    if document is None:
        raise fault_at(EVIDENCE_CONFIG, CONFIGURATION)
    version, vault = document.get("schema_version"), document.get("vault_path")
    if vault is not None and (not isinstance(vault, str) or "\0" in vault):
        raise fault_at(EVIDENCE_CONFIG, CONFIGURATION)
    return Configuration(
        schema_version=version if isinstance(version, str) else None,
        vault_path=vault or None,
    )


def vault_place(
    access: "AiosAccess", reader: "FolderReader", configuration: Configuration
) -> VaultPlace:
    """Work out where the vault is; an external one is not touched, granted or not.

    Raises:
        AiosError: DOTAIOS_EVIDENCE_CONFIG_INVALID for the folder itself as vault.
    """
    if configuration.vault_path is None:
        return VaultPlace(inside=DEFAULT_VAULT, outside=None)
    stated = configuration.vault_path
    if access.home is not None and (stated == "~" or stated.startswith("~/")):
        stated = str(access.home) + stated[1:]
    place = Path(os.path.normpath(access.root / stated))
    for root in (Path(os.path.normpath(access.root)), reader.real_root):
        if place.is_relative_to(root):
            inside = place.relative_to(root).as_posix()
            if inside == ".":
                raise fault(EVIDENCE_CONFIG)
            return VaultPlace(inside=inside, outside=None)
    return VaultPlace(inside=None, outside=place)
