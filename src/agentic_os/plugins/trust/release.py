"""The whole verification of a package, in the order of the format (section 12).

Stream and layout, manifest, shape, hashes, trust, artifacts: the first check that fails decides.
"""

from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import BinaryIO

from agentic_os.crypto.canonical.texts import SHA256_PREFIX
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.declaration.manifest import Manifest, ReadManifest, read_manifest
from agentic_os.plugins.declaration.operations import Operation, read_operations
from agentic_os.plugins.package.contents import PACKED_BYTES, Package, read_package
from agentic_os.plugins.trust.tiers import Authorities, Quartet, Tier, Verdict, judge

_LOWEST_TIER = {
    "wasm_sandbox": Tier.UNSIGNED,
    "standard": Tier.REVIEWED,
    "certified_native": Tier.REVIEWED,
    "platform_reserved": Tier.PLATFORM,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPackage:
    """A package whose hashes are right; who vouches for it is not asked yet."""

    package: Package
    manifest: Manifest
    quartet: Quartet
    operations: MappingProxyType[str, Operation]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedPackage:
    """A package that passed every check, and the tier that it has."""

    checked: CheckedPackage
    verdict: Verdict


def check_package(file: BinaryIO, *, limit_bytes: int = PACKED_BYTES) -> CheckedPackage:
    """Read a package and check all that needs no trust.

    Raises:
        PackageRefusedError: one of the package's codes.
    """
    package = read_package(file, limit_bytes=limit_bytes)
    read = read_manifest(package.manifest)
    manifest = read.manifest
    if package.top != f"{manifest.id}-{manifest.version}":
        raise ERRORS.error(
            "PLUGIN_ENVELOPE_MALFORMED",
            f"its folder is {package.top}, its manifest says {manifest.id}-{manifest.version}",
        )
    sums = {one.path: SHA256_PREFIX + one.sha256 for one in package.files}
    for variant in manifest.variants:
        if variant.entrypoint not in sums:
            raise ERRORS.error(
                "PLUGIN_ENVELOPE_MALFORMED", f"{variant.variant_id} has no {variant.entrypoint}"
            )
    if package.package_hash != manifest.package_hash:
        raise ERRORS.error("PLUGIN_PACKAGE_HASH_MISMATCH")
    operations = read_operations(manifest, package.texts, sums)
    return CheckedPackage(
        package=package,
        manifest=manifest,
        quartet=quartet_of(read),
        operations=MappingProxyType(operations),
    )


def verify_package(
    file: BinaryIO, authorities: Authorities, *, at: datetime, limit_bytes: int = PACKED_BYTES
) -> VerifiedPackage:
    """Read and verify a package; nothing of it was written anywhere.

    Raises:
        PackageRefusedError: any code of the package or of trust.
    """
    checked = check_package(file, limit_bytes=limit_bytes)
    verdict = judge(checked.package.trust, checked.quartet, authorities, at=at)
    check_artifacts(checked)
    _check_eligible(checked.manifest, verdict.tier)
    return VerifiedPackage(checked=checked, verdict=verdict)


def check_artifacts(checked: CheckedPackage) -> None:
    """Check that each variant's module is the one that the manifest names.

    Raises:
        PackageRefusedError: ``PLUGIN_VARIANT_INTEGRITY_INVALID``.
    """
    sums = {one.path: SHA256_PREFIX + one.sha256 for one in checked.package.files}
    for variant in checked.manifest.variants:
        if sums[variant.entrypoint] != variant.artifact_hash:
            raise ERRORS.error(
                "PLUGIN_VARIANT_INTEGRITY_INVALID", f"{variant.variant_id} is another module"
            )


def _check_eligible(manifest: Manifest, tier: Tier) -> None:
    """Refuse native variants that nobody reviewed, and a plugin without one to run."""
    for variant in manifest.variants:
        if tier < _LOWEST_TIER[variant.admission_profile]:
            raise ERRORS.error(
                "PLUGIN_NATIVE_TRUST_TIER_INELIGIBLE",
                f"{variant.variant_id} is {variant.admission_profile}, the release {tier.label}",
            )
    if (
        manifest.kind == "plugin"
        and tier < Tier.PLATFORM
        and not any(variant.is_webassembly for variant in manifest.variants)
    ):
        raise ERRORS.error("PLUGIN_WASM_BASELINE_MISSING")


def quartet_of(read: ReadManifest) -> Quartet:
    """Return what names a release exactly."""
    return Quartet(
        plugin_id=read.manifest.id,
        version=read.manifest.version,
        package_hash=read.manifest.package_hash,
        manifest_hash=read.manifest_hash,
    )
