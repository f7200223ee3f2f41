"""Requests and receipts as JSON, read closed: no member that is not named here.

A witness must never hold anything of a ledger but hashes, so a member it does not know is
refused rather than ignored; that holds for the public key envelope too, whose bytes are
kept. The shapes bound every member before anything is computed, and the OpenAPI document is made
from them. Source: AII OS formats, sections 3, 4.2 and 4.3; ledger format, section Bookmark.
"""

import re
from typing import Annotated, Final

import msgspec

from agentic_os.crypto.canonical.json import encode, read_value
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.texts import decode_base64, encode_base64
from agentic_os.crypto.canonical.values import JsonInput, JsonValue
from agentic_os.crypto.envelope.public_keys import (
    IDENTITY_KEY_TYPE,
    PublicKeyEnvelope,
    read_known_envelope,
)
from agentic_os.crypto.keys.pairs import ML_DSA_87
from agentic_os.crypto.tlog.checkpoint import SignedCheckpoint, parse_hash, parse_signed_checkpoint
from agentic_os.crypto.tlog.merkle import PROOF_HASHES
from agentic_os.crypto.tlog.note_keys import parse_vkey
from agentic_os.errors import CryptoError
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.bookmark import (
    ORDINAL_LIMIT,
    TRANSITIONS_ENTRIES,
    BookmarkProof,
    BookmarkRequest,
    KeyChain,
    KeySignature,
    OriginBinding,
    Receipt,
    TransitionStep,
)
from agentic_os.witness.protocol.refusal import malformed

BODY_BYTES: Final = 128 * 1024
"""Largest request body of either dialect (witness reference, section 1)."""

TRANSITION_LINE_CHARS: Final = 24 * 1024
CHECKPOINT_CHARS: Final = 64 * 1024

_IDENTITY_KEY_ID: Final = re.compile(r"aiii_identity_[0-9a-f]{16}")
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


def read_request(body: bytes) -> BookmarkRequest:
    """Read the body of ``POST /witness/bookmark``.

    Raises:
        RequestRefusedError: 400 with the reason.
    """
    try:
        tree = read_value(body)
    except CryptoError as error:
        raise malformed(error.message) from None
    if not isinstance(tree, dict):
        raise malformed("not an object")
    try:
        shape = msgspec.convert(tree, BookmarkShape)
    except msgspec.ValidationError as error:
        raise malformed(_without_quotes(str(error))) from None
    return BookmarkRequest(
        identity_id=shape.identity_id,
        public_key=_identity_key(tree["identity_public_key"]),
        ordinal=shape.ledger_ordinal,
        ledger_hash=shape.ledger_hash,
        signature=_signature(shape.identity_signature),
        proof=_proof(shape.proof, shape.ledger_ordinal) if shape.proof else None,
    )


def write_request(request: BookmarkRequest) -> bytes:
    """Write a request as ``read_request`` reads it (canonical JSON)."""
    tree: dict[str, JsonInput] = {
        "identity_id": request.identity_id,
        "identity_public_key": decode(request.public_key.document),
        "ledger_ordinal": request.ordinal,
        "ledger_hash": request.ledger_hash,
        "identity_signature": _signature_tree(request.signature),
    }
    if request.proof:
        tree["proof"] = _proof_tree(request.proof)
    return encode(tree)


def read_receipt(source: bytes | JsonValue) -> Receipt:
    """Read a receipt; other members of the answer (``cosignature``) are left to the caller.

    Raises:
        VerificationError: ``RECEIPT_INVALID``; CryptoError: ``CANONICAL_INVALID`` for the document.
    """
    tree = decode(source) if isinstance(source, bytes) else source
    try:
        shape = msgspec.convert(tree, ReceiptShape)
    except msgspec.ValidationError as error:
        raise ERRORS.error("RECEIPT_INVALID", f"not a witness receipt: {error}") from None
    return Receipt(
        identity_id=shape.identity_id,
        previous_ordinal=shape.previous_witnessed_ledger_ordinal,
        previous_hash=shape.previous_witnessed_ledger_hash,
        ordinal=shape.ledger_ordinal,
        ledger_hash=shape.ledger_hash,
        witnessed_at=shape.witnessed_at,
        signature=_signature(shape.witness_signature),
    )


def receipt_tree(receipt: Receipt) -> dict[str, JsonInput]:
    """Return the members of a receipt's JSON object."""
    return {
        "identity_id": receipt.identity_id,
        "previous_witnessed_ledger_ordinal": receipt.previous_ordinal,
        "previous_witnessed_ledger_hash": receipt.previous_hash,
        "ledger_ordinal": receipt.ordinal,
        "ledger_hash": receipt.ledger_hash,
        "witnessed_at": receipt.witnessed_at,
        "witness_signature": _signature_tree(receipt.signature),
    }


def _without_quotes(reason: str) -> str:
    # msgspec quotes unknown member names, which are the client's words.
    return re.sub(r"unknown field `.*`", "unknown field", reason, flags=re.DOTALL)


def _identity_key(tree: JsonValue) -> PublicKeyEnvelope:
    try:
        envelope = read_known_envelope(encode(tree))
    except CryptoError as error:
        raise malformed(error.message) from None
    if envelope.key_type != IDENTITY_KEY_TYPE or envelope.keys[0].alg != ML_DSA_87:
        raise malformed("identity_public_key is not an identity's ML-DSA-87 envelope")
    if not _IDENTITY_KEY_ID.fullmatch(envelope.key_id):
        raise malformed("the key id is not aiii_identity_ and 16 hex digits")
    return envelope


def _signature(shape: KeySignatureShape) -> KeySignature:
    return KeySignature(
        signature_profile=shape.signature_profile,
        alg=shape.alg,
        key_id=shape.key_id,
        public_key_fingerprint=shape.public_key_fingerprint,
        signature_input_sha256=shape.signature_input_sha256,
        sig_b64=shape.sig_b64,
    )


def _signature_tree(signature: KeySignature) -> dict[str, JsonInput]:
    return {
        "signature_profile": signature.signature_profile,
        "alg": signature.alg,
        "key_id": signature.key_id,
        "public_key_fingerprint": signature.public_key_fingerprint,
        "signature_input_sha256": signature.signature_input_sha256,
        "sig_b64": signature.sig_b64,
    }


def _proof(shape: ProofShape, ordinal: int) -> BookmarkProof:
    try:
        head = parse_signed_checkpoint(shape.checkpoint.encode())
        binding = _binding(shape.binding) if shape.binding else None
        chain = _chain(shape.key_chain) if shape.key_chain else None
    except (CryptoError, UnicodeEncodeError) as error:
        raise malformed(getattr(error, "message", "not UTF-8")) from None
    _check_head(head, origin=shape.origin, ordinal=ordinal)
    return BookmarkProof(
        origin=shape.origin,
        head=head,
        old_size=shape.old_size,
        consistency=_hashes(shape.consistency),
        binding=binding,
        chain=chain,
    )


def _binding(shape: BindingShape) -> OriginBinding:
    key = parse_vkey(shape.vkey)
    if key.kind != "note":
        raise malformed("a checkpoint is signed by a note key")
    return OriginBinding(key=key, signature=decode_base64(shape.sig_b64))


def _chain(shape: KeyChainShape) -> KeyChain:
    return KeyChain(
        first_public_key=decode_base64(shape.first_public_key_b64),
        steps=tuple(
            TransitionStep(line=step.line.encode(), inclusion=_hashes(step.inclusion))
            for step in shape.steps
        ),
    )


def _check_head(head: SignedCheckpoint, *, origin: str, ordinal: int) -> None:
    if head.checkpoint.origin != origin:
        raise malformed("the checkpoint is of another origin")
    if head.checkpoint.size != ordinal:
        raise malformed("the tree size differs from the ledger ordinal")
    if head.checkpoint.extensions:
        raise malformed("a ledger's checkpoint has no extension lines")


def _hashes(texts: tuple[str, ...]) -> tuple[bytes, ...]:
    hashes = tuple(item for item in map(parse_hash, texts) if item is not None)
    if len(hashes) != len(texts):
        raise malformed("a proof hash is not the base64 of 32 bytes")
    return hashes


def _proof_tree(proof: BookmarkProof) -> dict[str, JsonInput]:
    tree: dict[str, JsonInput] = {
        "origin": proof.origin,
        "checkpoint": proof.head.note.data.decode(),
        "old_size": proof.old_size,
        "consistency": [encode_base64(item) for item in proof.consistency],
    }
    if proof.binding:
        tree["binding"] = {
            "vkey": proof.binding.key.vkey,
            "sig_b64": encode_base64(proof.binding.signature),
        }
    if proof.chain:
        tree["key_chain"] = {
            "first_public_key_b64": encode_base64(proof.chain.first_public_key),
            "steps": [
                {
                    "line": step.line.decode(),
                    "inclusion": [encode_base64(node) for node in step.inclusion],
                }
                for step in proof.chain.steps
            ],
        }
    return tree
