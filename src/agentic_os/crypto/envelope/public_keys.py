"""Public key envelopes: a key's name, type, profile and window around its raw bytes.

Shape, fingerprints and the identity's own envelope are AII OS formats, sections 3 and 4.2.
The canonical bytes of the document as it was read are kept: they are what is hashed and
signed, unknown members included.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated, Final

import msgspec

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.texts import decode_base64, encode_base64, sha256_text, signed_text
from agentic_os.crypto.canonical.values import JsonValue
from agentic_os.crypto.envelope.profiles import FAST_PROFILE, ROOT_PROFILE, profile_algorithms
from agentic_os.crypto.keys.pairs import ML_DSA_87, VerifyingKey
from agentic_os.errors import CryptoError

PUBLIC_KEY_KIND: Final = "aiii.server_key.public"
IDENTITY_KEY_TYPE: Final = "identity"
IDENTITY_VALID_DAYS = 36_500
CLOCK_SKEW = timedelta(seconds=60)
ENVELOPE_BYTES = 1024 * 1024  # the cap of the original's genesis endpoints
KEY_PARTS = 8
KNOWN_ENVELOPES = 1_024
"""About 8 MB: an envelope of one ML-DSA-87 key takes twice its 4 kB."""

_NAME_CHARS = Annotated[str, msgspec.Meta(min_length=1, max_length=256, pattern=r"^[^\r\n]+\Z")]
_ID_DIGITS_CHARS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKeyPart:
    """One raw public key of an envelope, with its fingerprint."""

    alg: str
    public_key_b64: str
    public_key_fingerprint: str

    @property
    def raw(self) -> bytes:
        """The raw public key."""
        return decode_base64(self.public_key_b64)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKeyEnvelope:
    """A validated public key envelope. ``document`` holds its canonical bytes."""

    key_id: str
    key_type: str
    profile: str
    created_at: datetime
    not_before: datetime
    expires_at: datetime
    keys: tuple[PublicKeyPart, ...]
    document: bytes

    @property
    def sha256(self) -> str:
        """``sha256:`` name of the canonical document."""
        return sha256_text(self.document)

    def part(self, algorithm: str) -> PublicKeyPart:
        """Return the key of one algorithm.

        Raises:
            CryptoError: ``KEY_MISSING``.
        """
        for part in self.keys:
            if part.alg == algorithm:
                return part
        raise CryptoError(f"{self.key_id} has no {algorithm} key", code="KEY_MISSING")

    def is_valid_at(self, moment: datetime) -> bool:
        """Whether ``moment`` (with a time zone) lies within the key's window."""
        return self.not_before <= moment < self.expires_at


class _PartShape(msgspec.Struct, frozen=True):
    alg: _NAME_CHARS
    public_key_b64: str
    public_key_fingerprint: str


class _Shape(msgspec.Struct, frozen=True):
    v: int
    kind: str
    key_id: _NAME_CHARS
    key_type: _NAME_CHARS
    profile: str
    created_at: str
    not_before: str
    expires_at: str
    keys: Annotated[tuple[_PartShape, ...], msgspec.Meta(max_length=KEY_PARTS)]


def key_fingerprint(algorithm: str, key_id: str, public_key: bytes) -> str:
    """Return the ``sha256:`` fingerprint of a named key."""
    return sha256_text(
        signed_text(
            "AIII-PUBLIC-KEY-FINGERPRINT-V1",
            ("alg", algorithm),
            ("key_id", key_id),
            ("public_key_b64", encode_base64(public_key)),
        )
    )


def read_public_key_envelope(source: bytes | JsonValue) -> PublicKeyEnvelope:
    """Read and validate a public key envelope, as bytes or as a decoded value.

    Unknown members are kept in ``document`` and otherwise ignored. The window is validated
    for order here; whether it covers a moment is the caller's question. The profile bounds the
    algorithms of the keys, one key each; a signature set must be complete, a key set need not
    (an identity's envelope names ROOT and holds ML-DSA-87 alone).

    Raises:
        CryptoError: ``KEY_ENVELOPE_INVALID``, or ``CANONICAL_INVALID`` for the document.
    """
    if isinstance(source, bytes) and len(source) > ENVELOPE_BYTES:
        raise _invalid("larger than 1 MiB")
    tree = decode(source) if isinstance(source, bytes) else source
    try:
        shape = msgspec.convert(tree, _Shape)
    except msgspec.ValidationError as error:
        raise _invalid(str(error)) from None
    if shape.v != 1 or shape.kind != PUBLIC_KEY_KIND:
        raise _invalid("another kind or version")
    envelope = PublicKeyEnvelope(
        key_id=shape.key_id,
        key_type=shape.key_type,
        profile=shape.profile,
        created_at=parse_time(shape.created_at),
        not_before=parse_time(shape.not_before),
        expires_at=parse_time(shape.expires_at),
        keys=tuple(
            PublicKeyPart(
                alg=part.alg,
                public_key_b64=part.public_key_b64,
                public_key_fingerprint=part.public_key_fingerprint,
            )
            for part in shape.keys
        ),
        document=encode(tree),
    )
    _check(envelope)
    return envelope


@lru_cache(maxsize=KNOWN_ENVELOPES)
def read_known_envelope(document: bytes) -> PublicKeyEnvelope:
    """``read_public_key_envelope`` of canonical bytes that come again and again."""
    return read_public_key_envelope(document)


def make_public_key_envelope(
    *,
    key_id: str,
    key_type: str,
    profile: str,
    keys: Sequence[tuple[str, bytes]],
    created_at: datetime,
    valid_days: int,
    not_before: datetime | None = None,
) -> PublicKeyEnvelope:
    """Make an envelope around ``(algorithm, raw public key)`` pairs.

    ``not_before`` is 60 s before ``created_at`` where not given; the window ends
    ``valid_days`` after ``created_at``. Times are written in whole seconds.
    """
    return read_public_key_envelope(
        {
            "v": 1,
            "kind": PUBLIC_KEY_KIND,
            "key_id": key_id,
            "key_type": key_type,
            "profile": profile,
            "created_at": format_time(created_at),
            "not_before": format_time(not_before or created_at - CLOCK_SKEW),
            "expires_at": format_time(created_at + timedelta(days=valid_days)),
            "keys": [
                {
                    "alg": algorithm,
                    "public_key_b64": encode_base64(raw),
                    "public_key_fingerprint": key_fingerprint(algorithm, key_id, raw),
                }
                for algorithm, raw in keys
            ],
        }
    )


def make_named_envelope(
    key: VerifyingKey, *, key_type: str, created_at: datetime, profile: str = FAST_PROFILE
) -> PublicKeyEnvelope:
    """Make the envelope of one ML-DSA-87 key, named ``aiii_<type>_<16 hex of its hash>``."""
    digits = key.key_id.removeprefix("sha256:")[:_ID_DIGITS_CHARS]
    return make_public_key_envelope(
        key_id=f"aiii_{key_type}_{digits}",
        key_type=key_type,
        profile=profile,
        keys=[(key.algorithm, key.raw)],
        created_at=created_at,
        valid_days=IDENTITY_VALID_DAYS,
    )


def make_identity_envelope(key: VerifyingKey, *, created_at: datetime) -> PublicKeyEnvelope:
    """Make the identity's own envelope (section 4.2); it is made once and kept.

    Other bytes would be another identity. It names the ROOT profile but holds the ML-DSA-87
    key alone, as the original's does.
    """
    return make_named_envelope(
        key, key_type=IDENTITY_KEY_TYPE, created_at=created_at, profile=ROOT_PROFILE
    )


def identity_id(envelope: PublicKeyEnvelope) -> str:
    """Return the ``did:aiii:identity:sha256:…`` name of an identity's envelope (section 4.2)."""
    text = signed_text(
        "AIII-WITNESS-IDENTITY-ID",
        ("identity_public_key_fingerprint", envelope.part(ML_DSA_87).public_key_fingerprint),
        ("identity_public_key_hash", envelope.sha256),
    )
    return f"did:aiii:identity:{sha256_text(text)}"


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC, whole seconds, ``Z``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 text with a time zone.

    Raises:
        CryptoError: ``KEY_ENVELOPE_INVALID``.
    """
    try:
        moment = msgspec.convert(text, datetime)
    except msgspec.ValidationError:
        raise _invalid("a time is not RFC 3339") from None
    if moment.tzinfo is None:
        raise _invalid("a time has no zone")
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # year 1 or 9999, with an offset that leads out of the calendar
        raise _invalid("a time lies outside the calendar") from None


def _check(envelope: PublicKeyEnvelope) -> None:
    found = [part.alg for part in envelope.keys]
    allowed = profile_algorithms(envelope.profile)
    if not found or len(set(found)) != len(found) or not allowed.issuperset(found):
        raise _invalid("not one key for each algorithm of its profile")
    if not envelope.not_before < envelope.expires_at:
        raise _invalid("its window is empty")
    for part in envelope.keys:
        if part.public_key_fingerprint != key_fingerprint(part.alg, envelope.key_id, part.raw):
            raise _invalid(f"the fingerprint of {part.alg} does not match")


def _invalid(why: str) -> CryptoError:
    return CryptoError(f"not a public key envelope: {why}", code="KEY_ENVELOPE_INVALID")
