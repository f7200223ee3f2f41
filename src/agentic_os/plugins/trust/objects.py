"""The four trust objects and the revocation status: kinds, payloads, signatures (section 14).

Each is an AIII-SIGNATURE-V1 envelope with a closed payload. A payload is looked at only after
its signatures verified.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, TypeVar

import msgspec

from agentic_os.crypto.envelope.profiles import FAST_PROFILE, ROOT_PROFILE
from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope, read_public_key_envelope
from agentic_os.crypto.envelope.signed import SignedEnvelope, read_envelope, verify_envelope
from agentic_os.plugins.declaration.names import CapabilityName, HashName, PluginId, Version

CERTIFICATE_KIND: Final = "plugin.publisher_certificate"
RELEASE_KIND: Final = "plugin.manifest"
ATTESTATION_KIND: Final = "plugin.attestation"
PLATFORM_KIND: Final = "plugin.platform_release"
REVOCATION_KIND: Final = "plugin.revocation_status"

CERTIFIER: Final = "plugin_publisher_certifier"
PUBLISHER: Final = "plugin_publisher"
REVIEWER: Final = "plugin_reviewer"
PLATFORM: Final = "platform_release"

STATUS_FILES: Final[Mapping[str, str]] = {
    CERTIFIER: "aiii_plugin_publisher_certifier_status.json",
    REVIEWER: "aiii_plugin_reviewer_status.json",
    PLATFORM: "aiii_platform_release_status.json",
}
"""The key types of roots, each with the name of the file that its revocation status has."""

_REVOKED_PER_STATUS = 100_000
_EITHER_PROFILE: Final = frozenset({ROOT_PROFILE, FAST_PROFILE})


class _Closed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A payload that may have no member but its own."""


class Certificate(_Closed, frozen=True, kw_only=True):
    """A certifier's word that a key is a publisher's."""

    publisher_id: Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
    publisher_key: dict[str, object]


class Release(_Closed, frozen=True, kw_only=True):
    """A publisher's or the platform's word for one exact release."""

    package_hash: HashName
    manifest_hash: HashName


class Attestation(_Closed, frozen=True, kw_only=True):
    """A reviewer's word for one exact release, and for what it may ask."""

    plugin_id: PluginId
    version: Version
    package_hash: HashName
    manifest_hash: HashName
    reviewed_capabilities: Annotated[tuple[CapabilityName, ...], msgspec.Meta(max_length=32)]


class Revoked(_Closed, frozen=True, kw_only=True, order=True):
    """One revoked payload."""

    artifact_kind: str
    payload_sha256: HashName


class RevocationStatus(_Closed, frozen=True, kw_only=True):
    """All that a root has revoked, at an epoch that only ever grows."""

    schema_version: Annotated[int, msgspec.Meta(ge=1, le=1)]
    trust_epoch: Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]
    revoked: Annotated[tuple[Revoked, ...], msgspec.Meta(max_length=_REVOKED_PER_STATUS)]


_Payload = TypeVar("_Payload", bound=_Closed)


def opened(
    data: bytes, kind: str, shape: type[_Payload], *, key: PublicKeyEnvelope, at: datetime
) -> tuple[SignedEnvelope, _Payload]:
    """Verify a trust object under one key and return it with its payload.

    The profile that signed must be the one that the key was published for.

    Raises:
        CryptoError: a signature does not verify, or the envelope is none.
        ValueError: the payload is not of the shape.
    """
    envelope = read_envelope(data)
    payload = verify_envelope(
        envelope,
        artifact_kind=kind,
        profiles=_EITHER_PROFILE & {key.profile},
        key=key,
        at=at,
    )
    return envelope, msgspec.convert(payload, shape)


def publisher_key(certificate: Certificate) -> PublicKeyEnvelope:
    """Return the key that a certificate speaks of.

    Raises:
        CryptoError: it is no key.
        ValueError: it is a key of another type.
    """
    key = read_public_key_envelope(msgspec.convert(certificate.publisher_key, dict))
    if key.key_type != PUBLISHER:
        raise ValueError("the certified key is not a publisher's")
    return key


def signed_by(data: bytes, keys: tuple[PublicKeyEnvelope, ...]) -> PublicKeyEnvelope | None:
    """Return which of the keys an object says that it was signed by; nothing is verified.

    Raises:
        CryptoError: the object is no envelope.
    """
    named = {(one.key_id, one.public_key_fingerprint) for one in read_envelope(data).signatures}
    for key in keys:
        if any((key.key_id, part.public_key_fingerprint) in named for part in key.keys):
            return key
    return None
