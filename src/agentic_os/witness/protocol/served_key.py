"""The receipt key as a witness serves it, and what its operator's root says of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agentic_os.crypto.canonical.values import JsonValue
from agentic_os.crypto.envelope.profiles import ROOT_PROFILE
from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope, parse_time
from agentic_os.crypto.envelope.signed import read_envelope, verify_envelope
from agentic_os.errors import AgenticOSError, CryptoError
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.operator_root import MANIFEST_KIND, MANIFEST_SCHEMA_VERSION

_KEY_ID_PREFIX: Final = "aiii_witness_"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedKey:
    """A witness's receipt key as it is served, and what a root says of it."""

    public: PublicKeyEnvelope
    manifest: bytes | None


def verify_manifest(served: ServedKey, *, root: PublicKeyEnvelope, at: datetime) -> None:
    """Check that ``root`` vouches for a witness's key at a moment (formats, section 4.1).

    Raises:
        VerificationError: ``MANIFEST_INVALID``; the message names the check.
    """
    if served.manifest is None:
        raise _invalid("the witness serves none")
    try:
        payload = verify_envelope(
            read_envelope(served.manifest),
            artifact_kind=MANIFEST_KIND,
            profiles=frozenset({ROOT_PROFILE}),
            key=root,
            at=at,
        )
    except CryptoError as error:
        raise _invalid(error.message) from None
    members = payload if isinstance(payload, dict) else {}
    expected = {
        "kind": MANIFEST_KIND,
        "schema_version": MANIFEST_SCHEMA_VERSION,
        "artifact_hash": served.public.sha256,
        "key_id": served.public.key_id,
        "signature_profile": ROOT_PROFILE,
        "critical": True,
    }
    for name, value in expected.items():
        if members.get(name) != value:
            raise _invalid(f"{name} is not that of the key")
    if not served.public.key_id.startswith(_KEY_ID_PREFIX) or not members.get("artifact_version"):
        raise _invalid("not the manifest of a witness key")
    _check_window(members, at)
    for name, own in (
        ("revoked_key_ids", served.public.key_id),
        ("revoked_artifact_hashes", served.public.sha256),
    ):
        revoked = members.get(name, [])
        if not isinstance(revoked, list) or own in revoked:
            raise _invalid(f"{name} names the key")


def _check_window(members: dict[str, JsonValue], at: datetime) -> None:
    try:
        starts = members.get("not_before")
        is_early = starts is not None and at < parse_time(str(starts))
        is_late = at >= parse_time(str(members.get("expires_at")))
    except CryptoError:
        raise _invalid("a time is not RFC 3339") from None
    if is_early or is_late:
        raise _invalid("outside its window")


def _invalid(why: str) -> AgenticOSError:
    return ERRORS.error(
        "MANIFEST_INVALID", f"the manifest of the witness key does not verify: {why}"
    )
