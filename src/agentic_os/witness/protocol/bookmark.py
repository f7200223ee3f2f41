"""Bookmarks and receipts as values, and the exact texts that are signed.

The request and receipt texts are those of AII OS (formats, sections 4.2 and 4.3), the
origin binding is our proof extension (ledger format, section Bookmark)::

    AIII-WITNESS-REQUEST             identity_id, identity_public_key, ledger_ordinal,
                                     ledger_hash
    AIII-WITNESS-RECEIPT             identity_id, the previous and the new ordinal and hash,
                                     witnessed_at
    AGENTIC-OS-ORIGIN-BINDING-V1     origin, checkpoint_vkey

Every field is a ``name:value`` line ended by LF. Hashes are bare lowercase hex.
"""

import re
from dataclasses import dataclass
from typing import Final

from agentic_os.crypto.canonical.texts import signed_text
from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.crypto.envelope.receipts import receipt_text
from agentic_os.crypto.tlog.checkpoint import SignedCheckpoint
from agentic_os.crypto.tlog.note_keys import NoteKey

REQUEST_HEADER: Final = "AIII-WITNESS-REQUEST"
BINDING_HEADER: Final = "AGENTIC-OS-ORIGIN-BINDING-V1"
ORDINAL_LIMIT: Final = 2**63 - 1
TRANSITIONS_ENTRIES: Final = 6
"""So many lines with two ML-DSA-87 signatures each fit into one request body."""

_ORIGIN: Final = re.compile(r"[a-z0-9][a-z0-9.:/_-]{0,199}/ledger/(?P<key>[0-9a-f]{16})")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySignature:
    """The signature member of a request or a receipt."""

    signature_profile: str
    alg: str
    key_id: str
    public_key_fingerprint: str
    signature_input_sha256: str
    sig_b64: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginBinding:
    """The identity's word that a checkpoint key speaks for its origin."""

    key: NoteKey
    signature: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitionStep:
    """One ``key.transition`` line (no LF) with the proof of its place in the tree."""

    line: bytes
    inclusion: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChain:
    """How an identity's key came to be: a raw public key and the changes that followed it."""

    first_public_key: bytes
    steps: tuple[TransitionStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BookmarkProof:
    """The proof extension: a signed tree head and its consistency with an earlier size."""

    origin: str
    head: SignedCheckpoint
    old_size: int
    consistency: tuple[bytes, ...]
    binding: OriginBinding | None = None
    chain: KeyChain | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BookmarkRequest:
    """A bookmark as it was read; nothing is verified yet."""

    identity_id: str
    public_key: PublicKeyEnvelope
    ordinal: int
    ledger_hash: str
    signature: KeySignature
    proof: BookmarkProof | None = None

    @property
    def text(self) -> bytes:
        """The bytes that the identity signs."""
        return request_text(
            identity_id=self.identity_id,
            public_key=self.public_key,
            ordinal=self.ordinal,
            ledger_hash=self.ledger_hash,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The witness's word: this identity went from one point to the next at this time.

    ``previous_ordinal`` is -1 and ``previous_hash`` 64 zeros the first time.
    """

    identity_id: str
    previous_ordinal: int
    previous_hash: str
    ordinal: int
    ledger_hash: str
    witnessed_at: str
    signature: KeySignature

    @property
    def text(self) -> bytes:
        """The bytes that the witness signs."""
        return receipt_text(
            identity_id=self.identity_id,
            previous_ordinal=self.previous_ordinal,
            previous_hash=self.previous_hash,
            ordinal=self.ordinal,
            ledger_hash=self.ledger_hash,
            witnessed_at=self.witnessed_at,
        )


def request_text(
    *, identity_id: str, public_key: PublicKeyEnvelope, ordinal: int, ledger_hash: str
) -> bytes:
    """Return what the identity signs (section 4.2)."""
    return signed_text(
        REQUEST_HEADER,
        ("identity_id", identity_id),
        ("identity_public_key", public_key.document.decode()),
        ("ledger_ordinal", str(ordinal)),
        ("ledger_hash", ledger_hash),
    )


def binding_text(*, origin: str, vkey: str) -> bytes:
    """Return what the identity signs when it binds a checkpoint key to its origin."""
    return signed_text(BINDING_HEADER, ("origin", origin), ("checkpoint_vkey", vkey))


def origin_key_digits(origin: str) -> str | None:
    """Return the 16 hex digits of the first identity key that an identity's origin ends with.

    None when the text is not the origin of an identity's ledger
    (``<operator domain>/ledger/<16 hex>``, ledger format, section Tree).
    """
    match = _ORIGIN.fullmatch(origin)
    return match["key"] if match else None
