"""From a request to a claim: every signature is verified here, before any state decides.

What verified is all that is kept: of a note only the signature lines of trusted keys, of a
bookmark only its fields. Order: the cheap comparisons, then one signature after the other.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.texts import decode_base64, sha256_text
from agentic_os.crypto.envelope.profiles import FAST_PROFILE
from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope, identity_id
from agentic_os.crypto.keys.pairs import ML_DSA_87, VerifyingKey
from agentic_os.crypto.keys.transition import verify_transition_line
from agentic_os.crypto.tlog.checkpoint import Checkpoint, SignedCheckpoint
from agentic_os.crypto.tlog.merkle import inclusion_holds, leaf_hash
from agentic_os.crypto.tlog.note import SignedNote, open_note
from agentic_os.crypto.tlog.note_keys import NoteKey, parse_vkey
from agentic_os.errors import CryptoError
from agentic_os.witness.protocol.bookmark import (
    BookmarkProof,
    BookmarkRequest,
    TransitionStep,
    binding_text,
)
from agentic_os.witness.protocol.refusal import malformed, unsigned
from agentic_os.witness.rule.state import BookmarkClaim, HeadClaim, OriginState

KEY_DIGITS_CHARS: Final = 16
KNOWN_KEYS_ENTRIES: Final = 4096
KNOWN_IDENTITIES_ENTRIES: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedHead:
    """A head claim with the note as far as it verified."""

    claim: HeadClaim
    note: SignedNote


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedBookmark:
    """A bookmark claim, with the note of its proof."""

    claim: BookmarkClaim
    note: SignedNote | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _KnownIdentity:
    """What follows from an identity's envelope alone, and so is worked out once."""

    key: VerifyingKey
    identity_id: str


def verify_bookmark(
    request: BookmarkRequest, *, origin: OriginState | None, admitted: bool, now: datetime
) -> VerifiedBookmark:
    """Verify a bookmark's signatures.

    Args:
        request: as it was read.
        origin: what the witness holds about the origin of its proof; its keys are the ones
            that a proof without binding must be signed by. They are checked again when the
            claim is decided.
        admitted: handed on to the claim.
        now: the moment for which the identity key's window is checked.

    Raises:
        RequestRefusedError: 400 or 401.
    """
    known = _known_identity(request.public_key)
    key = known.key
    _check_signature(request, key, now)
    verified = _verify_proof(request.proof, key, origin) if request.proof else None
    claim = BookmarkClaim(
        identity_id=request.identity_id,
        derived_id=known.identity_id,
        key_digits=key_digits(key),
        ordinal=request.ordinal,
        ledger_hash=request.ledger_hash,
        admitted=admitted,
        head=verified.claim if verified else None,
        earlier_keys=_earlier_keys(request.proof, key) if request.proof else frozenset(),
    )
    return VerifiedBookmark(claim=claim, note=verified.note if verified else None)


def verify_head(
    head: SignedCheckpoint,
    *,
    keys: Iterable[NoteKey],
    old_size: int,
    consistency: tuple[bytes, ...],
    binds: str | None = None,
) -> VerifiedHead:
    """Verify a checkpoint's note by ``keys``.

    A note that no key has signed, or that a known key spoils, gives a claim without vkeys:
    the rule refuses it in its turn.
    """
    try:
        opened = open_note(head.note, keys)
    except CryptoError:
        opened = ()
    checkpoint = head.checkpoint
    claim = HeadClaim(
        origin=checkpoint.origin,
        size=checkpoint.size,
        root=checkpoint.root,
        old_size=old_size,
        consistency=consistency,
        vkeys=frozenset(item.key.vkey for item in opened),
        binds=binds,
    )
    lines = tuple(dict.fromkeys(item.signature for item in opened))
    return VerifiedHead(claim=claim, note=SignedNote(text=head.note.text, signatures=lines))


def trusted_keys(origin: OriginState | None) -> tuple[NoteKey, ...]:
    """Return the keys that speak for an origin now."""
    return tuple(map(_known_key, sorted(origin.keys))) if origin else ()


def key_digits(key: VerifyingKey) -> str:
    """Return the first 16 hex digits of a public key's SHA-256, as origins carry them."""
    return key.key_id.removeprefix("sha256:")[:KEY_DIGITS_CHARS]


@lru_cache(maxsize=KNOWN_KEYS_ENTRIES)
def _known_key(vkey: str) -> NoteKey:
    # Checking a point of the curve costs more than the signature does; a vkey never changes.
    return parse_vkey(vkey)


@lru_cache(maxsize=KNOWN_IDENTITIES_ENTRIES)
def _known_identity(envelope: PublicKeyEnvelope) -> _KnownIdentity:
    try:
        key = VerifyingKey(ML_DSA_87, envelope.part(ML_DSA_87).raw)
    except CryptoError as error:
        raise malformed(error.message) from None
    return _KnownIdentity(key=key, identity_id=identity_id(envelope))


def _check_signature(request: BookmarkRequest, key: VerifyingKey, now: datetime) -> None:
    envelope, signature = request.public_key, request.signature
    part, text = envelope.part(ML_DSA_87), request.text
    stated = (
        signature.signature_profile == FAST_PROFILE,
        signature.alg == ML_DSA_87,
        signature.key_id == envelope.key_id,
        signature.public_key_fingerprint == part.public_key_fingerprint,
        signature.signature_input_sha256 == sha256_text(text),
    )
    if not all(stated):
        raise unsigned("identity signature does not name this request and key")
    if not envelope.is_valid_at(now):
        raise unsigned("identity public key is outside its window")
    if not _verifies(key, signature.sig_b64, text):
        raise unsigned("identity signature verification failed")


def _verifies(key: VerifyingKey, sig_b64: str, text: bytes) -> bool:
    try:
        signature = decode_base64(sig_b64)
    except CryptoError:
        return False
    return key.verify(signature, text)


def _earlier_keys(proof: BookmarkProof, key: VerifyingKey) -> frozenset[str]:
    """Return the digits of the keys that verified transitions in the tree lead from to ``key``."""
    if proof.chain is None:
        return frozenset()
    try:
        current, digits = VerifyingKey(ML_DSA_87, proof.chain.first_public_key), []
        for step in proof.chain.steps:
            digits.append(key_digits(current))
            current = verify_transition_line(step.line, role="identity", old=current)
            if not _stands_in(proof.head.checkpoint, step):
                raise unsigned("a key transition does not stand in the tree")
    except CryptoError as error:
        raise unsigned(error.message) from None
    if current != key:
        raise unsigned("the key transitions end at another key")
    return frozenset(digits)


def _stands_in(checkpoint: Checkpoint, step: TransitionStep) -> bool:
    line = decode(step.line)
    entry = line["entry"] if isinstance(line, dict) else None
    seq = entry["seq"] if isinstance(entry, dict) else None
    return isinstance(seq, int) and inclusion_holds(
        index=seq - 1,
        size=checkpoint.size,
        leaf=leaf_hash(step.line),
        proof=step.inclusion,
        root=checkpoint.root,
    )


def _verify_proof(
    proof: BookmarkProof, key: VerifyingKey, origin: OriginState | None
) -> VerifiedHead:
    binding = proof.binding
    if binding is None:
        keys = trusted_keys(origin)
    else:
        if binding.key.name != proof.origin:
            raise malformed("a checkpoint key is named like its origin")
        text = binding_text(origin=proof.origin, vkey=binding.key.vkey)
        if not key.verify(binding.signature, text):
            raise unsigned("origin binding verification failed")
        keys = (binding.key,)
    verified = verify_head(
        proof.head,
        keys=keys,
        old_size=proof.old_size,
        consistency=proof.consistency,
        binds=binding.key.vkey if binding else None,
    )
    if binding and not verified.claim.vkeys:
        raise unsigned("the checkpoint is not signed by the key that is bound")
    return verified
