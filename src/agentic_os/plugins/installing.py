"""Install, replace and remove packages: the packed file is kept, nothing is unpacked on disk."""

import io
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_os.files.publishing import remove_leftovers
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.keeping.house import (
    PluginPlaces,
    keep_file,
    pinned_roots,
    read_bounded,
)
from agentic_os.plugins.keeping.policy import PolicyFile
from agentic_os.plugins.keeping.state import Installed, PluginState
from agentic_os.plugins.package.contents import PACKED_BYTES
from agentic_os.plugins.trust.objects import STATUS_FILES
from agentic_os.plugins.trust.release import VerifiedPackage, verify_package
from agentic_os.plugins.trust.revocation import EpochMemory
from agentic_os.plugins.trust.tiers import Authorities, Tier

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

STATUS_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginHouse:
    """Everything that is kept of plugins, open."""

    places: PluginPlaces
    policy: PolicyFile
    state: PluginState
    epochs: EpochMemory

    def authorities(self) -> Authorities:
        """Return whom the person trusts now."""
        roots = pinned_roots(self.places, self.policy.read())
        by_name = {root.sha256: root for root in roots}

        def status(name: str) -> bytes | None:
            return read_bounded(self.places.status(by_name[name]), STATUS_BYTES)

        return Authorities(roots=roots, status=status, epochs=self.epochs)

    def stamp(self) -> object:
        """Return what changes when the policy, a root or a status does."""
        folders = (self.places.roots, *self.places.data.glob("status/*"))
        names = (*STATUS_FILES.values(), "")
        return (
            self.policy.stamp(),
            tuple(_stamp(folder / name) for folder in sorted(folders) for name in names),
        )

    def verify(self, data: bytes) -> VerifiedPackage:
        """Verify a package by whom the person trusts now; the policy for unsigned ones included.

        Raises:
            PackageRefusedError: any code of packages and trust.
        """
        verified = verify_package(io.BytesIO(data), self.authorities(), at=datetime.now(UTC))
        quartet = verified.checked.quartet
        if verified.verdict.tier is Tier.UNSIGNED and not self.policy.read().allows_unsigned(
            quartet.plugin_id, quartet.package_hash
        ):
            raise ERRORS.error(
                "PLUGIN_T0_REFUSED", f"{quartet.plugin_id} {quartet.version} is unsigned"
            )
        return verified


def install(house: PluginHouse, data: bytes) -> VerifiedPackage:
    """Install a package in place of another release of the same plugin.

    Grants follow where the new release asks for no more than the old one; otherwise it has none.

    Raises:
        PackageRefusedError: it does not verify; nothing of it was written.
        FilesError, PluginError: it cannot be kept.
    """
    if len(data) > PACKED_BYTES:
        raise ERRORS.error("PLUGIN_CEILING_EXCEEDED", "the package is too large")
    verified = house.verify(data)
    manifest, quartet = verified.checked.manifest, verified.checked.quartet
    if manifest.kind != "plugin":
        raise ERRORS.error("PLUGIN_MANIFEST_SCHEMA_INVALID", "assets are read, not installed")
    manifest.variant_for("linux", "x86_64")
    keep_file(house.places.package(quartet.package_hash), data)
    envelope = frozenset(manifest.capability_envelope)
    before = next((one for one in house.state.installed() if one.plugin == quartet.plugin_id), None)
    house.state.put(
        Installed(
            plugin=quartet.plugin_id,
            version=quartet.version,
            package=quartet.package_hash,
            envelope=envelope,
            at_ns=time.time_ns(),
        )
    )
    if before is not None and before.package != quartet.package_hash:
        if envelope <= before.envelope:
            _move_grants(house, before, quartet.package_hash)
        house.state.enable(quartet.plugin_id)
    tidy(house)
    return verified


def remove(house: PluginHouse, plugin: str) -> Installed:
    """Remove a plugin with its package, values, proposals and grants.

    Raises:
        PluginError: ``PLUGIN_UNKNOWN``.
    """
    gone = house.state.find(plugin)
    house.state.forget(plugin)

    def edit(document: "TOMLDocument") -> None:
        for table in ("grant", "allow"):
            rows = document.get(table, [])
            for at in reversed(range(len(rows))):
                if rows[at].get("plugin") == plugin:
                    del rows[at]

    if house.policy.stamp() is not None:
        house.policy.change(edit)
    tidy(house)
    return gone


def tidy(house: PluginHouse) -> int:
    """Delete packages that nothing names, which a killed installation left; return how many."""
    kept = {house.places.package(one.package) for one in house.state.installed()}
    if not house.places.packages.is_dir():
        return 0
    removed = remove_leftovers(house.places.packages)
    for path in house.places.packages.glob("*"):
        if path not in kept:
            with suppress(OSError):
                path.unlink()
                removed += 1
    return removed


def installed_bytes(house: PluginHouse, plugin: str) -> bytes:
    """Return the packed file of an installed plugin.

    Raises:
        PluginError: ``PLUGIN_UNKNOWN``, ``PLUGIN_STATE_UNUSABLE``.
    """
    data = read_bounded(house.places.package(house.state.find(plugin).package), PACKED_BYTES)
    if data is None:
        raise ERRORS.error("PLUGIN_STATE_UNUSABLE", f"the package of {plugin} is gone")
    return data


def _move_grants(house: PluginHouse, before: Installed, package: str) -> None:
    def edit(document: "TOMLDocument") -> None:
        for row in document.get("grant", []):
            if (row.get("plugin"), row.get("package")) == (before.plugin, before.package):
                row["package"] = package

    if house.policy.read().grant:
        house.policy.change(edit)


def _stamp(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
