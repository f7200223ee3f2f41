"""Where projects are checked out on this machine: a map outside the folder, verified.

The map is machine-local and never synced; a path in it counts only while the folder there
is the same one that was registered (device and inode). Reading it changes nothing
(DotAIOS convention, machine-local map).
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.allowance import Allowance, Amount, Charges
from agentic_os.aios.folder.faults import FOLDER_MISSING, STATE_INVALID, fault
from agentic_os.aios.folder.json_text import Json, JsonObject, parse_object
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.projects.values import ProjectIdentity
from agentic_os.errors import AiosError

MappingStatus = Literal["unmapped", "legacy", "invalid", "changed", "unavailable", "verified"]

STATE_BYTES: Final = 4 * 1024 * 1024
STATE_VERSION: Final = 1
WORKSPACES: Final = "workspaces"

_DECIMAL = re.compile(r"\d{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A project's folder on this machine.

    ``path`` is absolute and set only when the mapping is verified and the place is
    allowed: outside the AIOS folder, or exactly ``workspaces/<slug>`` in it.
    """

    identity: ProjectIdentity
    status: MappingStatus
    path: Path | None

    @property
    def verified(self) -> bool:
        """Whether the checkout can be used."""
        return self.path is not None


def default_state_path(data: Path) -> Path:
    """Return where the map is kept below the tool's data folder."""
    return data / "aios" / "projects.json"


def read_mappings(access: AiosAccess) -> JsonObject:
    """Read the map from project id to mapping; a missing map is empty.

    Raises:
        AiosError: DOTAIOS_PROJECT_STATE_INVALID when it lies inside the AIOS folder, is not
            the JSON of the convention or cannot be read safely.
    """
    state = access.state_path
    if state is None:
        return {}
    if state.is_relative_to(access.root):
        raise fault(STATE_INVALID)
    charges = Charges(Allowance(Amount(bytes=STATE_BYTES, files=1)))
    try:
        with FolderReader(state.parent, files=access.files) as reader:
            if reader.real_root.is_relative_to(access.files.real_path(access.root)):
                raise fault(STATE_INVALID)
            read = reader.read(state.name, limit_bytes=STATE_BYTES, charges=charges)
            document = {} if read is None else parse_object(read.text)
    except AiosError as error:
        if error.code == FOLDER_MISSING:
            return {}
        raise fault(STATE_INVALID) from error
    if document is None or document.get("version", STATE_VERSION) != STATE_VERSION:
        raise fault(STATE_INVALID)
    paths = document.get("paths", {})
    if not isinstance(paths, dict):
        raise fault(STATE_INVALID)
    return paths


def checkout_of(access: AiosAccess, identity: ProjectIdentity, mappings: JsonObject) -> Checkout:
    """Verify the mapping of one project."""
    mapping = None if identity.id is None else mappings.get(identity.id)
    status, path = _verified(access, mapping)
    if path is not None and not _allowed(access, path, identity.slug):
        status, path = "invalid", None
    return Checkout(identity=identity, status=status, path=path)


def checkouts_at(access: AiosAccess, checkouts: list[Checkout], place: Path) -> list[Checkout]:
    """Return the verified checkouts that contain ``place``, an absolute path."""
    try:
        real = access.files.real_path(place)
    except AiosError:
        return []
    return [
        checkout
        for checkout in checkouts
        if checkout.path is not None and real.is_relative_to(access.files.real_path(checkout.path))
    ]


def _verified(access: AiosAccess, mapping: Json) -> tuple[MappingStatus, Path | None]:
    if mapping is None or isinstance(mapping, str):
        return ("unmapped" if mapping is None else "legacy"), None
    registered = _registered(mapping)
    if registered is None:
        return "invalid", None
    path, device, inode = registered
    try:
        named = access.files.look_at(path)
        real = None if named is None else access.files.look_at(access.files.real_path(path))
    except AiosError:
        named = real = None
    if named is None or real is None or not named.is_folder or not real.is_folder:
        return "unavailable", None
    same = (str(real.device), str(real.inode)) == (device, inode)
    return ("verified", path) if same else ("changed", None)


def _registered(mapping: Json) -> tuple[Path, str, str] | None:
    """Take path, device and inode out of a mapping of the convention's form."""
    if not isinstance(mapping, dict):
        return None
    path, identity = mapping.get("path"), mapping.get("root_identity")
    if not isinstance(path, str) or not path.startswith("/") or "\0" in path:
        return None
    if not isinstance(identity, dict) or identity.get("type") != "directory":
        return None
    device, inode = identity.get("dev"), identity.get("ino")
    if not (isinstance(device, str) and isinstance(inode, str)):
        return None
    if not (_DECIMAL.fullmatch(device) and _DECIMAL.fullmatch(inode)):
        return None
    return Path(path), device, inode


def _allowed(access: AiosAccess, path: Path, slug: str) -> bool:
    root = access.files.real_path(access.root)
    real = access.files.real_path(path)
    if not real.is_relative_to(root):
        return True
    return real == root / WORKSPACES / slug
