"""The first line of a ledger: a constitution, three keys, and one origin for all of them.

What ``ring0.genesis`` must hold (ledger format, section Types)::

    ring0_envelope   AIII-SIGNATURE-V1 envelope of kind ring0.bundle, verified under ring0_key
    ring0_key        its public key envelope: the platform's own (self-made, FAST profile) or
                     a root such as AIII's (ROOT profile, two algorithms)
    keys             platform, operator and identity, raw ML-DSA-87
    origin           <operator domain>/ledger/<first 16 hex of the identity key id>
    signatures       operator's and identity's over the genesis text: nobody is made part of
                     a ledger without having held the key

The line itself is signed by the platform key, which so vouches for ``ring0_key``. Whether
that root is one the reader knows is the reader's question: ``Genesis facts`` name it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final

import msgspec

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.texts import decode_base64, encode_base64, signed_text
from agentic_os.crypto.envelope.profiles import FAST_PROFILE, ROOT_PROFILE
from agentic_os.crypto.envelope.public_keys import (
    PublicKeyEnvelope,
    make_named_envelope,
    read_public_key_envelope,
)
from agentic_os.crypto.envelope.signed import SignedEnvelope, read_envelope, seal, verify_envelope
from agentic_os.crypto.keys.pairs import ML_DSA_87, SigningKey, VerifyingKey
from agentic_os.errors import CryptoError, VerificationError
from agentic_os.ledger.line.entry import Draft, draft
from agentic_os.ledger.line.payloads import Genesis, Role
from agentic_os.text.shapes import read_shape

GENESIS_HEADER: Final = "AGENTIC-OS-GENESIS-V1"
GENESIS_TYPE: Final = "ring0.genesis"
RING0_KIND: Final = "ring0.bundle"
RING5_KIND: Final = "ring5.bundle"
PROFILES: Final = frozenset({FAST_PROFILE, ROOT_PROFILE})

_ORIGIN_DIGITS_CHARS: Final = 16
_NonEmpty = Annotated[str, msgspec.Meta(min_length=1)]
_Positive = Annotated[int, msgspec.Meta(ge=1)]


class _Bundle(msgspec.Struct):
    """What a ring-0 bundle says (AII OS formats, section 1.8).

    Which artifact it is, its envelope says under the signature; ``kind`` is AIII's own word
    for it (its published bundle: ``ring0``).
    """

    kind: _NonEmpty
    laws: _NonEmpty
    ordinal: _Positive
    purpose: _NonEmpty
    ring0_version: _NonEmpty | _Positive
    timestamp: _Positive


class _Ring5Bundle(msgspec.Struct):
    """What a ring-5 bundle says; AIII's published one names no kind beside its envelope's."""

    purpose: _NonEmpty
    ring5_version: _NonEmpty | _Positive
    ordinal: _Positive
    timestamp: _Positive
    posture: _NonEmpty


@dataclass(frozen=True, slots=True, kw_only=True)
class GenesisFacts:
    """What a verified genesis says. ``self_made`` is false under a foreign root."""

    origin: str
    platform: VerifyingKey
    operator: VerifyingKey
    identity: VerifyingKey
    ring0_key: PublicKeyEnvelope
    laws: str
    self_made: bool


def ledger_origin(domain: str, identity: VerifyingKey) -> str:
    """Return the origin of a ledger for its whole life, key transitions included."""
    digits = identity.key_id.removeprefix("sha256:")[:_ORIGIN_DIGITS_CHARS]
    return f"{domain}/ledger/{digits}"


def genesis_text(
    *, origin: str, platform: VerifyingKey, operator: VerifyingKey, identity: VerifyingKey
) -> bytes:
    """Return the bytes that operator and identity sign at genesis."""
    return signed_text(
        GENESIS_HEADER,
        ("origin", origin),
        ("platform_key_id", platform.key_id),
        ("operator_key_id", operator.key_id),
        ("identity_key_id", identity.key_id),
    )


def self_made_bundle(
    *, laws: str, purpose: str, platform: SigningKey, at: datetime
) -> tuple[SignedEnvelope, PublicKeyEnvelope]:
    """Make a ring-0 envelope for people without a platform of their own: FAST profile."""
    published = make_named_envelope(platform.public, key_type="ring0", created_at=at)
    envelope = seal(
        RING0_KIND,
        {
            "kind": RING0_KIND,
            "laws": laws,
            "ordinal": 1,
            "purpose": purpose,
            "ring0_version": "1",
            "timestamp": int(at.timestamp()),
        },
        key=platform,
        envelope=published,
    )
    return envelope, published


def genesis_draft(
    *,
    domain: str,
    envelope: SignedEnvelope,
    ring0_key: PublicKeyEnvelope,
    platform: VerifyingKey,
    operator: SigningKey,
    identity: SigningKey,
) -> Draft:
    """Make the draft of line 1; ``check_genesis`` is what a reader will ask of it."""
    origin = ledger_origin(domain, identity.public)
    text = genesis_text(
        origin=origin, platform=platform, operator=operator.public, identity=identity.public
    )
    return draft(
        GENESIS_TYPE,
        {
            "origin": origin,
            "ring0_envelope": envelope.to_json(),
            "ring0_key": decode(ring0_key.document),
            "platform_public_key_b64": encode_base64(platform.raw),
            "operator_public_key_b64": encode_base64(operator.public.raw),
            "identity_public_key_b64": encode_base64(identity.public.raw),
            "operator_sig_b64": encode_base64(operator.sign(text)),
            "identity_sig_b64": encode_base64(identity.sign(text)),
        },
    )


def check_genesis(payload: Genesis, *, ts: str) -> GenesisFacts:
    """Verify everything a genesis payload says about itself.

    Args:
        payload: as read by its schema.
        ts: the line's own time, for which the root's window is checked.

    Raises:
        VerificationError: ``LEDGER_GENESIS_INVALID``.
    """
    try:
        return _check(payload, ts)
    except CryptoError as error:
        raise _invalid(error.message) from None


def check_posture(envelope: bytes, key: bytes, *, ts: str, trusted: frozenset[bytes]) -> None:
    """Verify a ring-5 envelope under a key that the ledger trusts.

    Args:
        envelope: the signed envelope, kind ``ring5.bundle``.
        key: its public key envelope.
        ts: the line's time.
        trusted: raw ML-DSA-87 keys: the platform's and the ring-0 root's.

    Raises:
        VerificationError: ``LEDGER_POSTURE_INVALID``.
    """
    try:
        _check_posture(envelope, key, ts, trusted)
    except (CryptoError, msgspec.ValidationError) as error:
        raise VerificationError(
            f"the posture is refused: {error}", code="LEDGER_POSTURE_INVALID"
        ) from None


def moment_of(ts: str) -> datetime:
    """Read a line's ``ts``, to the microsecond."""
    return datetime.strptime(ts[:26], "%Y-%m-%dT%H:%M:%S.%f").replace(tzinfo=UTC)


def raw_key(text: str) -> VerifyingKey:
    """Read an ML-DSA-87 public key from its base64."""
    return VerifyingKey(ML_DSA_87, decode_base64(text))


def _check(payload: Genesis, ts: str) -> GenesisFacts:
    keys: dict[Role, VerifyingKey] = {
        "platform": raw_key(payload.platform_public_key_b64),
        "operator": raw_key(payload.operator_public_key_b64),
        "identity": raw_key(payload.identity_public_key_b64),
    }
    if len({key.raw for key in keys.values()}) != len(keys):
        raise _invalid("two roles share a key")
    if payload.origin != ledger_origin(payload.origin.rpartition("/ledger/")[0], keys["identity"]):
        raise _invalid("the origin does not name the identity key")
    text = genesis_text(origin=payload.origin, **keys)
    if not keys["operator"].verify(decode_base64(payload.operator_sig_b64), text):
        raise _invalid("the operator's signature does not verify")
    if not keys["identity"].verify(decode_base64(payload.identity_sig_b64), text):
        raise _invalid("the identity's signature does not verify")
    ring0_key = read_public_key_envelope(bytes(payload.ring0_key))
    envelope = read_envelope(bytes(payload.ring0_envelope))
    self_made = ring0_key.part(ML_DSA_87).raw == keys["platform"].raw
    if not self_made and envelope.signature_profile != ROOT_PROFILE:
        raise _invalid("a foreign ring-0 root must sign under the ROOT profile")
    bundle = verify_envelope(
        envelope, artifact_kind=RING0_KIND, profiles=PROFILES, key=ring0_key, at=moment_of(ts)
    )
    return GenesisFacts(
        origin=payload.origin,
        platform=keys["platform"],
        operator=keys["operator"],
        identity=keys["identity"],
        ring0_key=ring0_key,
        laws=_laws_of(encode(bundle)),
        self_made=self_made,
    )


def _check_posture(envelope: bytes, key: bytes, ts: str, trusted: frozenset[bytes]) -> None:
    published = read_public_key_envelope(key)
    if published.part(ML_DSA_87).raw not in trusted:
        raise CryptoError("signed by neither the platform nor the ring-0 root")
    bundle = verify_envelope(
        read_envelope(envelope),
        artifact_kind=RING5_KIND,
        profiles=PROFILES,
        key=published,
        at=moment_of(ts),
    )
    msgspec.convert(bundle, _Ring5Bundle)


def _laws_of(bundle: bytes) -> str:
    try:
        read = read_shape(bundle, _Bundle)
    except ValueError as error:
        raise _invalid(f"the ring-0 bundle: {error}") from None
    return read.laws


def _invalid(why: str) -> VerificationError:
    return VerificationError(f"the genesis is refused: {why}", code="LEDGER_GENESIS_INVALID")
