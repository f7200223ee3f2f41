"""The JSON of the AII OS dialect as closed shapes: what is not named here is refused.

They bound every member before anything is computed, and the OpenAPI document is made from
them (``openapi``).
"""

from typing import Annotated, Final

import msgspec

from agentic_os.crypto.tlog.merkle import PROOF_HASHES
from agentic_os.witness.protocol.bookmark import ORDINAL_LIMIT, TRANSITIONS_ENTRIES

TRANSITION_LINE_CHARS: Final = 24 * 1024
CHECKPOINT_CHARS: Final = 64 * 1024

_TEXT_CHARS = Annotated[str, msgspec.Meta(max_length=512)]
_SIGNATURE_CHARS = Annotated[str, msgspec.Meta(max_length=8192)]
_HASH_LIST = Annotated[tuple[str, ...], msgspec.Meta(max_length=PROOF_HASHES)]
# A pattern's end also matches before a last line feed; the length closes that.
_SHA256_HEX = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$", max_length=64)]
_IDENTITY_ID = Annotated[
    str, msgspec.Meta(pattern="^did:aiii:identity:sha256:[0-9a-f]{64}$", max_length=89)
]
_ORDINAL = Annotated[int, msgspec.Meta(ge=1, le=ORDINAL_LIMIT)]


class ClosedShape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of every request shape: an unknown member refuses the request."""


class KeySignatureShape(ClosedShape, frozen=True):
    """A signature with what it claims about itself (AII OS formats, section 4.2)."""

    alg: _TEXT_CHARS
    key_id: _TEXT_CHARS
    public_key_fingerprint: _TEXT_CHARS
    signature_input_sha256: _TEXT_CHARS
    sig_b64: _SIGNATURE_CHARS
    signature_profile: _TEXT_CHARS = ""


class KeyPartShape(ClosedShape, frozen=True):
    """One raw public key of an envelope."""

    alg: _TEXT_CHARS
    public_key_b64: _SIGNATURE_CHARS
    public_key_fingerprint: _TEXT_CHARS


class PublicKeyShape(ClosedShape, frozen=True):
    """A public key envelope (AII OS formats, section 3), without further members."""

    v: int
    kind: _TEXT_CHARS
    key_id: _TEXT_CHARS
    key_type: _TEXT_CHARS
    profile: _TEXT_CHARS
    created_at: _TEXT_CHARS
    not_before: _TEXT_CHARS
    expires_at: _TEXT_CHARS
    keys: Annotated[tuple[KeyPartShape, ...], msgspec.Meta(min_length=1, max_length=1)]


class BindingShape(ClosedShape, frozen=True):
    """The identity's signature that binds a checkpoint key to its origin."""

    vkey: _TEXT_CHARS
    sig_b64: _SIGNATURE_CHARS


class TransitionStepShape(ClosedShape, frozen=True):
    """A ``key.transition`` line and its inclusion proof."""

    line: Annotated[str, msgspec.Meta(max_length=TRANSITION_LINE_CHARS)]
    inclusion: _HASH_LIST


class KeyChainShape(ClosedShape, frozen=True):
    """An earlier identity key and the transitions that lead from it to the signing key."""

    first_public_key_b64: _SIGNATURE_CHARS
    steps: Annotated[
        tuple[TransitionStepShape, ...],
        msgspec.Meta(min_length=1, max_length=TRANSITIONS_ENTRIES),
    ]


class ProofShape(ClosedShape, frozen=True):
    """The proof extension (ledger format, section Bookmark)."""

    origin: _TEXT_CHARS
    checkpoint: Annotated[str, msgspec.Meta(max_length=CHECKPOINT_CHARS)]
    old_size: Annotated[int, msgspec.Meta(ge=0, le=ORDINAL_LIMIT)]
    consistency: _HASH_LIST
    binding: BindingShape | None = None
    key_chain: KeyChainShape | None = None


class BookmarkShape(ClosedShape, frozen=True):
    """The body of ``POST /witness/bookmark``."""

    identity_id: _IDENTITY_ID
    identity_public_key: PublicKeyShape
    ledger_ordinal: _ORDINAL
    ledger_hash: _SHA256_HEX
    identity_signature: KeySignatureShape
    proof: ProofShape | None = None


class ReceiptShape(msgspec.Struct, frozen=True):
    """A receipt; ``cosignature`` stands beside it when the request had a proof."""

    identity_id: _TEXT_CHARS
    previous_witnessed_ledger_ordinal: Annotated[int, msgspec.Meta(ge=-1, le=ORDINAL_LIMIT)]
    previous_witnessed_ledger_hash: _SHA256_HEX
    ledger_ordinal: _ORDINAL
    ledger_hash: _SHA256_HEX
    witnessed_at: _TEXT_CHARS
    witness_signature: KeySignatureShape
    cosignature: _TEXT_CHARS | None = None


class ErrorShape(msgspec.Struct, frozen=True, omit_defaults=True):
    """A refusal: the message that AII OS clients compare, our code, the size we hold."""

    error: str
    code: str
    witnessed_size: int | None = None


class StatusShape(msgspec.Struct, frozen=True):
    """``GET /status``."""

    min_periodic_cadence: int


class KeyHashShape(msgspec.Struct, frozen=True):
    """``GET /witness/pubkey/hash``."""

    witness_public_key_hash: str
    key_id: str


class HealthShape(msgspec.Struct, frozen=True, omit_defaults=True):
    """``GET /healthz``: ``status`` is ``ok``, ``frozen`` or ``closed``."""

    status: str
    reason: str | None = None
