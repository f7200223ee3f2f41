"""Requests and receipts as JSON, read closed: no member that is not named here.

A witness must never hold anything of a ledger but hashes, so a member it does not know is
refused rather than ignored; that holds for the public key envelope too, whose bytes are
kept. Source: AII OS formats, sections 3, 4.2 and 4.3; ledger format, section Bookmark.
"""

import re
from typing import Final

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
from agentic_os.crypto.tlog.note_keys import parse_vkey
from agentic_os.errors import CryptoError
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.bookmark import (
    BookmarkProof,
    BookmarkRequest,
    KeyChain,
    KeySignature,
    OriginBinding,
    Receipt,
    TransitionStep,
)
from agentic_os.witness.protocol.refusal import malformed
from agentic_os.witness.protocol.shapes import (
    BindingShape,
    BookmarkShape,
    KeyChainShape,
    KeySignatureShape,
    ProofShape,
    ReceiptShape,
)

BODY_BYTES: Final = 128 * 1024
"""Largest request body of either dialect (witness reference, section 1)."""

_IDENTITY_KEY_ID: Final = re.compile(r"aiii_identity_[0-9a-f]{16}")


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
