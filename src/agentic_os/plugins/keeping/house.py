"""Where plugins live: the places of policy, packages, roots, statuses, state and compiled code."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agentic_os.crypto.canonical.texts import bare_hash
from agentic_os.crypto.envelope.profiles import ROOT_PROFILE
from agentic_os.crypto.envelope.public_keys import (
    ENVELOPE_BYTES,
    PublicKeyEnvelope,
    read_public_key_envelope,
)
from agentic_os.errors import AgenticOSError
from agentic_os.files.places import Places
from agentic_os.files.publishing import private_folder, publish
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.keeping.policy import PluginPolicy
from agentic_os.plugins.trust.objects import STATUS_FILES

FOLDER: Final = "plugins"
PACKAGE_SUFFIX: Final = ".aiiospkg"


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginPlaces:
    """The folders of plugins; none of them need exist."""

    config: Path
    data: Path
    cache: Path

    def package(self, package_hash: str) -> Path:
        """Return where an installed package is kept, packed as it came."""
        return self.packages / f"{bare_hash(package_hash)}{PACKAGE_SUFFIX}"

    @property
    def packages(self) -> Path:
        """The folder of installed packages."""
        return self.data / "packages"

    @property
    def roots(self) -> Path:
        """The folder of pinned public keys."""
        return self.data / "roots"

    @property
    def keys(self) -> Path:
        """The folder of the person's own keys, for those who publish plugins."""
        return self.data / "keys"

    def status(self, root: PublicKeyEnvelope) -> Path:
        """Return where a root's revocation status is kept."""
        return self.data / "status" / bare_hash(root.sha256) / STATUS_FILES[root.key_type]


def plugin_places(places: Places) -> PluginPlaces:
    """Return the places of plugins among those of the program."""
    return PluginPlaces(
        config=places.config, data=places.data / FOLDER, cache=places.cache / FOLDER
    )


def keep_file(path: Path, data: bytes) -> None:
    """Publish a file in a private folder of its own.

    Raises:
        FilesError: it cannot be written.
    """
    private_folder(path.parent)
    publish(path, data)


def read_bounded(path: Path, limit_bytes: int) -> bytes | None:
    """Return a file of ours, or ``None`` where there is none.

    Raises:
        PluginError: ``PLUGIN_STATE_UNUSABLE``; it cannot be read, or is too large.
    """
    try:
        with path.open("rb") as file:
            data = file.read(limit_bytes + 1)
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise ERRORS.error(
            "PLUGIN_STATE_UNUSABLE", f"{path.name} cannot be read: {os.strerror(fault.errno or 0)}"
        ) from None
    if len(data) > limit_bytes:
        raise ERRORS.error("PLUGIN_STATE_UNUSABLE", f"{path.name} is too large")
    return data


def pinned_roots(places: PluginPlaces, policy: PluginPolicy) -> tuple[PublicKeyEnvelope, ...]:
    """Return the public keys that the policy pins, read anew.

    A key that the policy names and nobody kept is not there: what it signed has no root. A root
    must have the ROOT profile unless the policy says FAST of this very key.

    Raises:
        PluginError: ``PLUGIN_STATE_UNUSABLE``; a kept key is none, or another than its name.
    """
    found = []
    for pinned in policy.root:
        key = read_pinned(places, pinned.key)
        if key is not None and (key.profile == ROOT_PROFILE or pinned.profile == "FAST"):
            found.append(key)
    return tuple(found)


def read_pinned(places: PluginPlaces, name: str) -> PublicKeyEnvelope | None:
    """Return the key that is kept under a hash; ``None`` where there is none.

    Raises:
        PluginError: ``PLUGIN_STATE_UNUSABLE``; it is no key, or another than its name.
    """
    data = read_bounded(places.roots / f"{bare_hash(name)}.json", ENVELOPE_BYTES)
    if data is None:
        return None
    try:
        key = read_public_key_envelope(data)
    except AgenticOSError as fault:
        raise ERRORS.error("PLUGIN_STATE_UNUSABLE", f"a pinned key: {fault.message}") from None
    if key.sha256 != name:
        raise ERRORS.error("PLUGIN_STATE_UNUSABLE", "a pinned key is another than its name says")
    return key
