"""The client's half of a bookmark: a signed request with its proofs, a receipt's checks.

Nothing of an entry goes into a request: a public key, positions, hashes and signatures (and,
after a change of key, the ``key.transition`` line, which holds keys alone).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from agentic_os.crypto.canonical.texts import decode_base64, encode_base64, sha256_text
from agentic_os.crypto.envelope.profiles import FAST_PROFILE
from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope, identity_id
from agentic_os.crypto.keys.pairs import ML_DSA_87, SigningKey, VerifyingKey
from agentic_os.crypto.tlog.checkpoint import Checkpoint, SignedCheckpoint, sign_checkpoint
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import AgenticOSError, CryptoError
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.bookmark import (
    TRANSITIONS_ENTRIES,
    BookmarkProof,
    BookmarkRequest,
    KeyChain,
    KeySignature,
    OriginBinding,
    Receipt,
    TransitionStep,
    binding_text,
)


class TreeView(Protocol):
    """What is needed of a ledger's Merkle tree; ``crypto.merkle_tree.MerkleTree`` has it."""

    @property
    def size(self) -> int:
        """Number of lines."""

    def root(self, size: int | None = None) -> bytes:
        """Root of the first ``size`` lines."""

    def consistency_proof(self, old_size: int, size: int | None = None) -> tuple[bytes, ...]:
        """Proof that ``size`` lines extend ``old_size``."""

    def inclusion_proof(self, index: int, size: int | None = None) -> tuple[bytes, ...]:
        """Proof that a line stands at ``index``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """A ``key.transition`` line of the identity role: its seq, bytes (no LF), the old key."""

    seq: int
    line: bytes
    old_public_key: bytes


@dataclass(frozen=True, kw_only=True)
class WitnessedLedger:
    """Whose ledger is witnessed: its keys and its tree.

    Args:
        envelope: the identity's public key envelope, the same bytes every time.
        identity_key: its ML-DSA-87 key.
        checkpoint_signer: the Ed25519 key of the tree heads, named like the origin.
        tree: the Merkle tree over the ledger's lines.
        hash_at: the hash (bare hex) of the line with a seq from 1 to the tree's size.
        key_changes: every transition of the identity key so far, oldest first.
    """

    envelope: PublicKeyEnvelope
    identity_key: SigningKey
    checkpoint_signer: NoteSigner
    tree: TreeView
    hash_at: Callable[[int], str]
    key_changes: tuple[KeyChange, ...] = ()

    @property
    def origin(self) -> str:
        """The checkpoint origin."""
        return self.checkpoint_signer.key.name

    @property
    def identity_id(self) -> str:
        """The name that witnesses know the identity by."""
        return identity_id(self.envelope)

    def head(self, size: int) -> SignedCheckpoint:
        """Return the signed tree head of the first ``size`` lines."""
        checkpoint = Checkpoint(origin=self.origin, size=size, root=self.tree.root(size))
        return sign_checkpoint(checkpoint, self.checkpoint_signer)


def build_bookmark(
    ledger: WitnessedLedger,
    *,
    ordinal: int,
    old_size: int | None,
    binds: bool,
) -> BookmarkRequest:
    """Build and sign a bookmark.

    Args:
        ledger: whose.
        ordinal: seq of the head.
        old_size: the size that the witness cosigned last (0: none), or None for a bookmark
            without proof.
        binds: add the origin binding (and the key transitions), as the first proof at a
            witness and the first after a change of key need.
    """
    proof = None
    if old_size is not None:
        proof = BookmarkProof(
            origin=ledger.origin,
            head=ledger.head(ordinal),
            old_size=old_size,
            consistency=ledger.tree.consistency_proof(old_size, ordinal),
            binding=_binding(ledger) if binds else None,
            chain=_chain(ledger, ordinal) if binds else None,
        )
    unsigned = BookmarkRequest(
        identity_id=ledger.identity_id,
        public_key=ledger.envelope,
        ordinal=ordinal,
        ledger_hash=ledger.hash_at(ordinal),
        signature=KeySignature(
            signature_profile=FAST_PROFILE,
            alg=ML_DSA_87,
            key_id=ledger.envelope.key_id,
            public_key_fingerprint=ledger.envelope.part(ML_DSA_87).public_key_fingerprint,
            signature_input_sha256="",
            sig_b64="",
        ),
        proof=proof,
    )
    text = unsigned.text
    signature = replace(
        unsigned.signature,
        signature_input_sha256=sha256_text(text),
        sig_b64=encode_base64(ledger.identity_key.sign(text)),
    )
    return replace(unsigned, signature=signature)


def check_receipt(receipt: Receipt, key: PublicKeyEnvelope) -> None:
    """Check that a receipt is signed by a witness's receipt key.

    Raises:
        VerificationError: ``RECEIPT_INVALID``; the message names the check.
    """
    signature = receipt.signature
    try:
        part = key.part(ML_DSA_87)
        blob = decode_base64(signature.sig_b64)
    except CryptoError as error:
        raise _invalid(error.message) from None
    if signature.signature_profile != FAST_PROFILE or signature.alg != ML_DSA_87:
        raise _invalid("another signature profile")
    if signature.key_id != key.key_id:
        raise _invalid("signed under another key id")
    if signature.public_key_fingerprint != part.public_key_fingerprint:
        raise _invalid("another key fingerprint")
    if signature.signature_input_sha256 != sha256_text(receipt.text):
        raise _invalid("its fields are not the signed ones")
    if not VerifyingKey(ML_DSA_87, part.raw).verify(blob, receipt.text):
        raise _invalid("the signature does not verify")


def _binding(ledger: WitnessedLedger) -> OriginBinding:
    key = ledger.checkpoint_signer.key
    text = binding_text(origin=ledger.origin, vkey=key.vkey)
    return OriginBinding(key=key, signature=ledger.identity_key.sign(text))


def _chain(ledger: WitnessedLedger, size: int) -> KeyChain | None:
    # A witness that knows a late key needs the last changes, a new one the first: the last
    # ones are the ones more often asked for, and all fit but in a much changed identity.
    changes = ledger.key_changes[-TRANSITIONS_ENTRIES:]
    if not changes:
        return None
    return KeyChain(
        first_public_key=changes[0].old_public_key,
        steps=tuple(
            TransitionStep(
                line=change.line, inclusion=ledger.tree.inclusion_proof(change.seq - 1, size)
            )
            for change in changes
        ),
    )


def _invalid(why: str) -> AgenticOSError:
    return ERRORS.error("RECEIPT_INVALID", f"the receipt does not verify: {why}")
