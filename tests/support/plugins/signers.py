"""Roots, publishers and reviewers for tests; of the FAST profile, ROOT signs in ten seconds."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope, make_named_envelope
from agentic_os.crypto.envelope.signed import seal
from agentic_os.crypto.keys.pairs import ML_DSA_87, generate_key
from agentic_os.plugins.trust import objects
from support.plugins.packages import Recipe

BORN = datetime(2026, 1, 1, tzinfo=UTC)


class Signer:
    """A key with its public envelope."""

    def __init__(self, key_type: str) -> None:
        self.key = generate_key(ML_DSA_87)
        self.envelope: PublicKeyEnvelope = make_named_envelope(
            self.key.public, key_type=key_type, created_at=BORN
        )

    def sign(self, kind: str, payload: Mapping[str, Any]) -> bytes:
        """Sign a payload."""
        return encode(seal(kind, dict(payload), key=self.key, envelope=self.envelope).to_json())

    def status(self, epoch: int = 1, revoked: Sequence[tuple[str, str]] = ()) -> bytes:
        """Sign a revocation status."""
        return self.sign(
            objects.REVOCATION_KIND,
            {
                "schema_version": 1,
                "trust_epoch": epoch,
                "revoked": [
                    {"artifact_kind": kind, "payload_sha256": name}
                    for kind, name in sorted(revoked)
                ],
            },
        )


class Hands:
    """Everybody who signs."""

    @cached_property
    def certifier(self) -> Signer:
        """The root that certifies publishers."""
        return Signer(objects.CERTIFIER)

    @cached_property
    def publisher(self) -> Signer:
        """A publisher."""
        return Signer(objects.PUBLISHER)

    @cached_property
    def reviewer(self) -> Signer:
        """The root that reviews."""
        return Signer(objects.REVIEWER)

    @cached_property
    def platform(self) -> Signer:
        """The root of the platform's own releases."""
        return Signer(objects.PLATFORM)

    def certificate(self) -> bytes:
        """The publisher's certificate."""
        from agentic_os.crypto.canonical.reader import decode

        return self.certifier.sign(
            objects.CERTIFICATE_KIND,
            {
                "publisher_id": "example",
                "publisher_key": decode(self.publisher.envelope.document),
            },
        )

    def published(self, recipe: Recipe) -> dict[str, bytes]:
        """The pair of tier T1."""
        return {
            "publisher.cert": self.certificate(),
            "publisher.sig": self.publisher.sign(objects.RELEASE_KIND, release(recipe)),
        }

    def reviewed(self, recipe: Recipe, *capabilities: str) -> dict[str, bytes]:
        """The three objects of tier T2."""
        attestation = self.reviewer.sign(
            objects.ATTESTATION_KIND,
            {
                "plugin_id": recipe.plugin,
                "version": recipe.version,
                **release(recipe),
                "reviewed_capabilities": list(capabilities),
            },
        )
        return {**self.published(recipe), "certifier.attestation": attestation}

    def released(self, recipe: Recipe) -> dict[str, bytes]:
        """The one object of tier T3."""
        return {"platform.sig": self.platform.sign(objects.PLATFORM_KIND, release(recipe))}


def release(recipe: Recipe) -> dict[str, str]:
    """What names a release."""
    return {"package_hash": recipe.package_hash, "manifest_hash": recipe.manifest_hash}
