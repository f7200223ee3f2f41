"""The tier of a package, from the evidence beside it (section 14).

::

    T0  nothing was signed: the person's policy decides
    T1  the publisher's certificate, and the publisher's signature over this very release
    T2  T1 and a reviewer's attestation of this very release
    T3  the platform's signature over this very release, and nothing beside it

Evidence that is there must be valid: a broken, empty, lonely or revoked object refuses the
package. It is never taken for a lower tier, and never passed over.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import TypeVar

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.errors import CryptoError
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.package.layout import (
    ATTESTATION,
    PLATFORM_SIGNATURE,
    PUBLISHER_CERTIFICATE,
    PUBLISHER_SIGNATURE,
)
from agentic_os.plugins.trust import objects
from agentic_os.plugins.trust.objects import Attestation, Certificate, Release, Revoked
from agentic_os.plugins.trust.revocation import EpochMemory, usable_status

_Payload = TypeVar("_Payload", Certificate, Release, Attestation)


class Tier(IntEnum):
    """How much stands behind a package; higher is more."""

    UNSIGNED = 0
    PUBLISHED = 1
    REVIEWED = 2
    PLATFORM = 3

    @property
    def label(self) -> str:
        """How people write it: ``T0`` to ``T3``."""
        return f"T{self.value}"


_SHAPES = {
    frozenset[str](): Tier.UNSIGNED,
    frozenset({PUBLISHER_CERTIFICATE, PUBLISHER_SIGNATURE}): Tier.PUBLISHED,
    frozenset({PUBLISHER_CERTIFICATE, PUBLISHER_SIGNATURE, ATTESTATION}): Tier.REVIEWED,
    frozenset({PLATFORM_SIGNATURE}): Tier.PLATFORM,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quartet:
    """What names one release exactly."""

    plugin_id: str
    version: str
    package_hash: str
    manifest_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the evidence came to.

    ``reviewed`` are the capabilities that a reviewer looked at; ``None`` where nobody did.
    """

    tier: Tier
    publisher: str = ""
    roots: tuple[str, ...] = ()
    reviewed: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorities:
    """Whom the person trusts, and what they have revoked.

    Attributes:
        roots: the pinned public keys.
        status: gives the bytes of a root's revocation status, by the root's name.
        epochs: what was accepted before.
    """

    roots: tuple[PublicKeyEnvelope, ...]
    status: Callable[[str], bytes | None]
    epochs: EpochMemory


def judge(
    trust: Mapping[str, bytes], quartet: Quartet, authorities: Authorities, *, at: datetime
) -> Verdict:
    """Return the tier of a release, or refuse it.

    Raises:
        PackageRefusedError: one of the trust codes; the first check that fails.
    """
    tier = _SHAPES.get(frozenset(trust))
    if tier is None:
        raise ERRORS.error(
            "PLUGIN_TRUST_OBJECT_SHAPE_INVALID",
            f"{', '.join(sorted(trust))} cannot stand together, or alone",
        )
    bench = _Bench(trust=trust, quartet=quartet, authorities=authorities, at=at)
    match tier:
        case Tier.UNSIGNED:
            return Verdict(tier=tier)
        case Tier.PLATFORM:
            root = bench.root(PLATFORM_SIGNATURE, objects.PLATFORM, "PLUGIN_PLATFORM_SIG_INVALID")
            bench.release(
                PLATFORM_SIGNATURE,
                objects.PLATFORM_KIND,
                "PLUGIN_PLATFORM_SIG_INVALID",
                key=root,
                root=root,
            )
            return Verdict(tier=tier, roots=(root.key_id,))
        case _:
            return bench.published(tier)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    trust: Mapping[str, bytes]
    quartet: Quartet
    authorities: Authorities
    at: datetime

    def published(self, tier: Tier) -> Verdict:
        certifier = self.root(
            PUBLISHER_CERTIFICATE, objects.CERTIFIER, "PLUGIN_PUBLISHER_CERT_INVALID"
        )
        certificate = self.opened(
            PUBLISHER_CERTIFICATE,
            objects.CERTIFICATE_KIND,
            Certificate,
            "PLUGIN_PUBLISHER_CERT_INVALID",
            key=certifier,
            root=certifier,
        )
        try:
            publisher = objects.publisher_key(certificate)
        except (CryptoError, ValueError) as fault:
            raise ERRORS.error("PLUGIN_PUBLISHER_CERT_INVALID", str(fault)) from None
        self.release(
            PUBLISHER_SIGNATURE,
            objects.RELEASE_KIND,
            "PLUGIN_PUBLISHER_SIG_INVALID",
            key=publisher,
            root=certifier,
        )
        roots = [certifier.key_id]
        reviewed = None
        if tier is Tier.REVIEWED:
            reviewer = self.root(ATTESTATION, objects.REVIEWER, "PLUGIN_ATTESTATION_INVALID")
            reviewed = self._attested(reviewer)
            roots.append(reviewer.key_id)
        return Verdict(
            tier=tier,
            publisher=certificate.publisher_id,
            roots=tuple(roots),
            reviewed=reviewed,
        )

    def root(self, name: str, key_type: str, code: str) -> PublicKeyEnvelope:
        """Return the pinned root that an object names."""
        ours = tuple(key for key in self.authorities.roots if key.key_type == key_type)
        try:
            found = objects.signed_by(self.trust[name], ours)
        except CryptoError as fault:
            raise ERRORS.error(code, f"{name}: {fault.message}") from None
        if found is None:
            raise ERRORS.error(
                "PLUGIN_TRUST_ROOT_UNAVAILABLE", f"{name} was signed by no root that is pinned"
            )
        return found

    def release(
        self, name: str, kind: str, code: str, *, key: PublicKeyEnvelope, root: PublicKeyEnvelope
    ) -> None:
        """Check a signature over this very release."""
        release = self.opened(name, kind, Release, code, key=key, root=root)
        ours = (self.quartet.package_hash, self.quartet.manifest_hash)
        if (release.package_hash, release.manifest_hash) != ours:
            raise ERRORS.error("PLUGIN_QUARTET_MISMATCH", f"{name} speaks of another release")

    def _attested(self, reviewer: PublicKeyEnvelope) -> frozenset[str]:
        attested = self.opened(
            ATTESTATION,
            objects.ATTESTATION_KIND,
            Attestation,
            "PLUGIN_ATTESTATION_INVALID",
            key=reviewer,
            root=reviewer,
        )
        spoken = Quartet(
            plugin_id=attested.plugin_id,
            version=attested.version,
            package_hash=attested.package_hash,
            manifest_hash=attested.manifest_hash,
        )
        if spoken != self.quartet:
            raise ERRORS.error(
                "PLUGIN_QUARTET_MISMATCH", f"{ATTESTATION} speaks of another release"
            )
        return frozenset(attested.reviewed_capabilities)

    def opened(
        self,
        name: str,
        kind: str,
        shape: type[_Payload],
        code: str,
        *,
        key: PublicKeyEnvelope,
        root: PublicKeyEnvelope,
    ) -> _Payload:
        """Verify one object under ``key``, then ask ``root`` whether it still stands by it."""
        try:
            envelope, payload = objects.opened(self.trust[name], kind, shape, key=key, at=self.at)
        except (CryptoError, ValueError) as fault:
            raise ERRORS.error(code, f"{name}: {fault}") from None
        revoked = usable_status(
            self.authorities.status(root.sha256),
            root=root,
            memory=self.authorities.epochs,
            at=self.at,
        )
        if Revoked(artifact_kind=kind, payload_sha256=envelope.payload_sha256) in revoked:
            raise ERRORS.error("PLUGIN_TRUST_PAYLOAD_REVOKED", f"{root.key_id} has revoked {name}")
        return payload
