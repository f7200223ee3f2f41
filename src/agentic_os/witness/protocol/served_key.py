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


def verify_manifest(
    served: ServedKey, *, root: PublicKeyEnvelope, at: datetime, kept: ServedKey | None = None
) -> None:
    """Check that ``root`` vouches for a witness's key at a moment (formats, section 4.1).

    Args:
        served: the key and its manifest, as the witness serves them now.
        root: the operator's.
        at: the moment.
        kept: what was believed before. What this root revoked there stays revoked, and a manifest
            that it signed before that one is refused: both could be shown again by a thief.

    Raises:
        VerificationError: ``MANIFEST_INVALID``; the message names the check.
    """
    members = _signed_members(served, root, at)
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
    _check_revocations(members, served.public)
    if kept is not None:
        _check_succession(members, served.public, kept, root, at)


def _signed_members(
    served: ServedKey, root: PublicKeyEnvelope, at: datetime
) -> dict[str, JsonValue]:
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
    return payload if isinstance(payload, dict) else {}


def _check_revocations(members: dict[str, JsonValue], public: PublicKeyEnvelope) -> None:
    for name, own in (
        ("revoked_key_ids", public.key_id),
        ("revoked_artifact_hashes", public.sha256),
    ):
        revoked = members.get(name, [])
        if not isinstance(revoked, list) or own in revoked:
            raise _invalid(f"{name} names the key")


def _check_succession(
    members: dict[str, JsonValue],
    public: PublicKeyEnvelope,
    kept: ServedKey,
    root: PublicKeyEnvelope,
    at: datetime,
) -> None:
    try:
        earlier = _signed_members(kept, root, at)
    except AgenticOSError:
        return  # another root vouched, or none did: that one says nothing of this root's keys
    _check_revocations(earlier, public)
    if _time(members, "created_at") < _time(earlier, "created_at"):
        raise _invalid("it is older than the one that was believed before")


def _check_window(members: dict[str, JsonValue], at: datetime) -> None:
    is_early = members.get("not_before") is not None and at < _time(members, "not_before")
    if is_early or at >= _time(members, "expires_at"):
        raise _invalid("outside its window")


def _time(members: dict[str, JsonValue], name: str) -> datetime:
    try:
        return parse_time(str(members.get(name)))
    except CryptoError:
        raise _invalid(f"{name} is not RFC 3339") from None


def _invalid(why: str) -> AgenticOSError:
    return ERRORS.error(
        "MANIFEST_INVALID", f"the manifest of the witness key does not verify: {why}"
    )
