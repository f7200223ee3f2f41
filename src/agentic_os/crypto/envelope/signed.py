"""AIII-SIGNATURE-V1: a payload, its hash, and the exact set of signatures over it.

The order of checks is fixed (AII OS formats, section 3)::

    1. the whole document has a canonical form (no duplicate keys, no exotic numbers)
    2. the artifact kind is the caller's constant
    3. the profile is one the caller accepts; an empty set accepts nothing
    4. the payload hash is recomputed
    5. the signatures are EXACTLY those of the profile: none missing, twice, or extra
    6. each: key id, key fingerprint, hash of the signed text, then the signature

Unknown members are ignored. Verification raises on the first check that fails; there is no
partial result.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

import msgspec

from agentic_os.crypto.canonical.json import CANONICALIZATION, encode
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.texts import decode_base64, encode_base64, sha256_text, signed_text
from agentic_os.crypto.canonical.values import JsonInput, JsonValue
from agentic_os.crypto.envelope.profiles import (
    FAST_PROFILE,
    profile_algorithms,
    verify_profile_signature,
)
from agentic_os.crypto.envelope.public_keys import ENVELOPE_BYTES, PublicKeyEnvelope
from agentic_os.crypto.keys.pairs import SigningKey
from agentic_os.errors import CryptoError

ENVELOPE_HEADER: Final = "AIII-SIGNATURE-V1"
ENVELOPE_SIGNATURES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeSignature:
    """One signature of an envelope."""

    alg: str
    key_id: str
    public_key_fingerprint: str
    signature_input_sha256: str
    sig_b64: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedEnvelope:
    """A signed envelope as read; nothing about it is verified yet."""

    artifact_kind: str
    payload: JsonValue
    payload_sha256: str
    canonicalization: str
    signature_profile: str
    signatures: tuple[EnvelopeSignature, ...]

    def to_json(self) -> dict[str, JsonInput]:
        """Return the document, ready for ``encode``."""
        return {
            "artifact_kind": self.artifact_kind,
            "payload": self.payload,
            "payload_sha256": self.payload_sha256,
            "canonicalization": self.canonicalization,
            "signature_profile": self.signature_profile,
            "signatures": [
                {
                    "alg": one.alg,
                    "key_id": one.key_id,
                    "public_key_fingerprint": one.public_key_fingerprint,
                    "signature_input_sha256": one.signature_input_sha256,
                    "sig_b64": one.sig_b64,
                }
                for one in self.signatures
            ],
        }


class _SignatureShape(msgspec.Struct, frozen=True):
    alg: str
    key_id: str
    public_key_fingerprint: str
    signature_input_sha256: str
    sig_b64: str


class _Shape(msgspec.Struct, frozen=True):
    artifact_kind: str
    payload: object
    payload_sha256: str
    canonicalization: str
    signature_profile: str
    signatures: Annotated[tuple[_SignatureShape, ...], msgspec.Meta(max_length=ENVELOPE_SIGNATURES)]


def read_envelope(source: bytes | JsonValue) -> SignedEnvelope:
    """Read an envelope from bytes (at most 1 MiB) or a decoded value.

    Raises:
        CryptoError: ``ENVELOPE_INVALID``, or ``CANONICAL_INVALID`` for the document.
    """
    if isinstance(source, bytes) and len(source) > ENVELOPE_BYTES:
        raise _invalid("larger than 1 MiB")
    tree = decode(source) if isinstance(source, bytes) else source
    if not isinstance(tree, Mapping):
        raise _invalid("not an object")
    try:
        shape = msgspec.convert(tree, _Shape)
    except msgspec.ValidationError as error:
        raise _invalid(str(error)) from None
    if shape.canonicalization != CANONICALIZATION:
        raise _invalid("another canonicalization")
    return SignedEnvelope(
        artifact_kind=shape.artifact_kind,
        payload=tree["payload"],
        payload_sha256=shape.payload_sha256,
        canonicalization=shape.canonicalization,
        signature_profile=shape.signature_profile,
        signatures=tuple(
            EnvelopeSignature(
                alg=one.alg,
                key_id=one.key_id,
                public_key_fingerprint=one.public_key_fingerprint,
                signature_input_sha256=one.signature_input_sha256,
                sig_b64=one.sig_b64,
            )
            for one in shape.signatures
        ),
    )


def envelope_text(
    *,
    artifact_kind: str,
    signature_profile: str,
    alg: str,
    key_id: str,
    public_key_fingerprint: str,
    payload_sha256: str,
) -> bytes:
    """Return the exact bytes that one signature of an envelope signs."""
    return signed_text(
        ENVELOPE_HEADER,
        ("artifact_kind", artifact_kind),
        ("canonicalization", CANONICALIZATION),
        ("signature_profile", signature_profile),
        ("alg", alg),
        ("key_id", key_id),
        ("public_key_fingerprint", public_key_fingerprint),
        ("payload_sha256", payload_sha256),
    )


def seal(
    artifact_kind: str, payload: JsonValue, *, key: SigningKey, envelope: PublicKeyEnvelope
) -> SignedEnvelope:
    """Sign a payload under the FAST profile with the key that ``envelope`` publishes.

    Raises:
        CryptoError: ``KEY_MISMATCH`` when the envelope publishes another key.
    """
    if envelope.part(key.algorithm).raw != key.public.raw:
        raise CryptoError("the envelope publishes another key", code="KEY_MISMATCH")
    payload_sha256 = sha256_text(encode(payload))
    fingerprint = envelope.part(key.algorithm).public_key_fingerprint
    text = envelope_text(
        artifact_kind=artifact_kind,
        signature_profile=FAST_PROFILE,
        alg=key.algorithm,
        key_id=envelope.key_id,
        public_key_fingerprint=fingerprint,
        payload_sha256=payload_sha256,
    )
    return SignedEnvelope(
        artifact_kind=artifact_kind,
        payload=payload,
        payload_sha256=payload_sha256,
        canonicalization=CANONICALIZATION,
        signature_profile=FAST_PROFILE,
        signatures=(
            EnvelopeSignature(
                alg=key.algorithm,
                key_id=envelope.key_id,
                public_key_fingerprint=fingerprint,
                signature_input_sha256=sha256_text(text),
                sig_b64=encode_base64(key.sign(text)),
            ),
        ),
    )


def verify_envelope(
    envelope: SignedEnvelope,
    *,
    artifact_kind: str,
    profiles: frozenset[str],
    key: PublicKeyEnvelope,
    at: datetime,
) -> JsonValue:
    """Check everything and return the payload.

    Args:
        envelope: as read.
        artifact_kind: the caller's constant.
        profiles: the profiles that the caller accepts.
        key: the public key envelope that must have signed.
        at: the moment for which the key's window is checked.

    Raises:
        CryptoError: ``ENVELOPE_REFUSED``; the message names the check that failed.
    """
    if envelope.artifact_kind != artifact_kind:
        raise _refused("another artifact kind")
    if envelope.signature_profile not in profiles:
        raise _refused("a profile that is not accepted here")
    if not key.is_valid_at(at):
        raise _refused(f"{key.key_id} is not valid at that time")
    if envelope.payload_sha256 != sha256_text(encode(envelope.payload)):
        raise _refused("the payload hash does not match")
    found = sorted(one.alg for one in envelope.signatures)
    if found != sorted(profile_algorithms(envelope.signature_profile)):
        raise _refused("not exactly the signatures of the profile")
    for one in envelope.signatures:
        _check_signature(envelope, one, key)
    return envelope.payload


def _check_signature(
    envelope: SignedEnvelope, one: EnvelopeSignature, key: PublicKeyEnvelope
) -> None:
    part = key.part(one.alg)
    if one.key_id != key.key_id:
        raise _refused("signed under another key id")
    if one.public_key_fingerprint != part.public_key_fingerprint:
        raise _refused(f"another {one.alg} key fingerprint")
    text = envelope_text(
        artifact_kind=envelope.artifact_kind,
        signature_profile=envelope.signature_profile,
        alg=one.alg,
        key_id=one.key_id,
        public_key_fingerprint=one.public_key_fingerprint,
        payload_sha256=envelope.payload_sha256,
    )
    if one.signature_input_sha256 != sha256_text(text):
        raise _refused(f"the {one.alg} signed text differs")
    if not verify_profile_signature(one.alg, part.raw, decode_base64(one.sig_b64), text):
        raise _refused(f"the {one.alg} signature does not verify")


def _invalid(why: str) -> CryptoError:
    return CryptoError(f"not a signed envelope: {why}", code="ENVELOPE_INVALID")


def _refused(why: str) -> CryptoError:
    return CryptoError(f"the envelope is refused: {why}", code="ENVELOPE_REFUSED")
