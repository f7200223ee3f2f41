"""The original's lines ("gold"), for verification only (AII OS formats, section 1.2).

::

    {"entry":{"content","prev","ring","seq","ts","type"},"payload":{…},"sig":"…"}

Differences from ours: the hash covers six fixed fields and the payload only by its hash, the
chain stands inside the entry, the signature is base64 without a wrapper, there is no tree.
Sealed segments (lines without ``sig``) are refused by name.
"""

import re
from typing import Annotated, Final

import msgspec

from agentic_os.crypto.canonical.json import encode, is_canonical
from agentic_os.crypto.canonical.texts import bare_hash, decode_base64, sha256_hex, signed_text
from agentic_os.crypto.envelope.public_keys import read_public_key_envelope
from agentic_os.crypto.keys.pairs import ML_DSA_87, VerifyingKey
from agentic_os.errors import CryptoError, LedgerError, VerificationError
from agentic_os.ledger.answers import Finding, VerifyData
from agentic_os.ledger.file.storage import LineReader, Storage
from agentic_os.ledger.file.verify import Progress
from agentic_os.text.shapes import read_shape

GOLD_LINE_BYTES: Final = 32 * 1024 * 1024
GOLD_HEADER: Final = "AII-LEDGER-LINE-SIGNATURE-GOLD"

_TS: Final = re.compile(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T"
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{9}Z"
)
_RINGS: Final[dict[str, frozenset[int]]] = {
    **dict.fromkeys(
        ("ring0.genesis", "system.witnessed", "trust.epoch_accepted", "network.name_claimed"),
        frozenset({0}),
    ),
    "relationship.upsert": frozenset({1}),
    "belief.promote": frozenset({2, 3}),
    **dict.fromkeys(
        (
            "experience.create",
            "belief.upsert",
            "edge.create",
            "self_model.synthesize",
            "intention.create",
            "intention.state_change",
            "commitment.promised",
            "commitment.state_change",
            "working_style.upsert",
            "consolidation.run",
            "dream.run",
            "belief.archive",
            "belief.supersede",
            "edge.archive",
        ),
        frozenset({3}),
    ),
}


class GoldEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The six fixed fields."""

    content: str
    prev: str
    ring: int
    seq: Annotated[int, msgspec.Meta(ge=1)]
    ts: str
    type: str

    @property
    def hash(self) -> str:
        """Bare hex SHA-256 of the canonical entry."""
        return sha256_hex(
            encode(
                {
                    "content": self.content,
                    "prev": self.prev,
                    "ring": self.ring,
                    "seq": self.seq,
                    "ts": self.ts,
                    "type": self.type,
                }
            )
        )


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    entry: GoldEntry
    payload: msgspec.Raw
    sig: str | None = None


class _Genesis(msgspec.Struct, frozen=True):
    public_key: str
    fingerprint: str


def gold_signature_text(entry_hash: str, *, key_id: str) -> bytes:
    """Return the bytes that a line's signature signs; ``key_id`` is bare hex."""
    return signed_text(
        GOLD_HEADER,
        ("artifact_kind", "aii.ledger.line"),
        ("canonicalization", "aii-canonical-json"),
        ("suite_id", "aii-pq-mldsa87"),
        ("role", "identity"),
        ("alg", ML_DSA_87),
        ("key_id", key_id),
        ("entry_sha256", entry_hash),
    )


class GoldChain:
    """The rule of the original's chain: a pure state machine.

    Args:
        key: the identity's key; without one, line 1 must be a genesis that names it.
    """

    __slots__ = ("_key", "head_hash", "size")

    def __init__(self, key: VerifyingKey | None = None) -> None:
        """Start before line 1."""
        self.size = 0
        self.head_hash = ""
        self._key = key

    def admit(self, line: bytes) -> GoldEntry:
        """Check one line (without LF), signature included, and move on.

        Raises:
            VerificationError: ``GOLD_LINE_INVALID``, ``GOLD_CHAIN_BROKEN``,
                ``GOLD_SIGNATURE_INVALID``, ``GOLD_KEY_UNKNOWN``, ``GOLD_SEALED``.
        """
        read = _read(line)
        entry = read.entry
        if entry.seq != self.size + 1 or entry.prev != self.head_hash:
            raise _refuse("it does not follow the line before", "GOLD_CHAIN_BROKEN")
        if sha256_hex(bytes(read.payload)) != entry.content:
            raise _refuse("content is not the hash of the payload", "GOLD_CHAIN_BROKEN")
        if read.sig is None:
            raise _refuse("a sealed line without a signature", "GOLD_SEALED")
        key = self._key or _genesis_key(entry, bytes(read.payload))
        own = entry.hash
        text = gold_signature_text(own, key_id=bare_hash(key.key_id))
        try:
            verified = key.verify(decode_base64(read.sig), text)
        except CryptoError:
            verified = False
        if not verified:
            raise _refuse("the signature does not verify", "GOLD_SIGNATURE_INVALID")
        self._key = key
        self.size = entry.seq
        self.head_hash = own
        return entry


def verify_gold(
    storage: Storage, *, key: VerifyingKey | None = None, progress: Progress | None = None
) -> VerifyData:
    """Verify a ledger in the original's format, every signature.

    Raises:
        LedgerError: ``LEDGER_UNREADABLE``.
    """
    chain, findings = GoldChain(key), []
    reader = LineReader(storage, line_bytes=GOLD_LINE_BYTES)
    try:
        for lines in reader.blocks():
            for line in lines:
                chain.admit(line)
            if progress is not None:
                progress(reader.offset)
    except VerificationError as error:
        findings.append(Finding(code=error.code, message=error.message, seq=chain.size + 1))
    except OSError as error:
        raise LedgerError(
            f"the ledger cannot be read: {error.strerror}", code="LEDGER_UNREADABLE"
        ) from None
    if reader.torn:
        findings.append(
            Finding(
                code="LEDGER_TAIL_TORN",
                message=f"the last line is not whole: {len(reader.torn)} bytes",
                seq=chain.size + 1,
            )
        )
    if chain.size == 0 and not findings:
        findings.append(Finding(code="LEDGER_EMPTY", message="the ledger has no lines"))
    return VerifyData(
        format="aii-gold",
        lines=chain.size,
        head_hash=chain.head_hash,
        root_hash="",
        origin="",
        signatures_checked=chain.size,
        torn_bytes=len(reader.torn),
        findings=tuple(findings),
    )


def read_public_key(data: bytes) -> VerifyingKey:
    """Read an ML-DSA-87 public key: a public key envelope, or the base64 of the raw key.

    Raises:
        CryptoError: it is neither.
    """
    if data.lstrip().startswith(b"{"):
        return VerifyingKey(ML_DSA_87, read_public_key_envelope(data).part(ML_DSA_87).raw)
    return VerifyingKey(ML_DSA_87, decode_base64("".join(data.decode("latin-1").split())))


def _read(line: bytes) -> _Line:
    if len(line) >= GOLD_LINE_BYTES or not is_canonical(line):
        raise _refuse("not one canonical object", "GOLD_LINE_INVALID")
    try:
        read = read_shape(line, _Line)
    except ValueError as error:
        raise _refuse(str(error), "GOLD_LINE_INVALID") from None
    entry = read.entry
    if bytes(read.payload)[:1] != b"{":
        raise _refuse("the payload is not an object", "GOLD_LINE_INVALID")
    if not _TS.fullmatch(entry.ts):
        raise _refuse("ts is not UTC with nine fractional digits", "GOLD_LINE_INVALID")
    if entry.ring not in _RINGS.get(entry.type, frozenset()):
        raise _refuse("no legal ring for that type", "GOLD_LINE_INVALID")
    return read


def _genesis_key(entry: GoldEntry, payload: bytes) -> VerifyingKey:
    if entry.type != "ring0.genesis":
        raise _refuse("line 1 is no genesis and no key was given", "GOLD_KEY_UNKNOWN")
    try:
        named = read_shape(payload, _Genesis)
        key = VerifyingKey(ML_DSA_87, decode_base64(named.public_key))
    except (ValueError, CryptoError):
        raise _refuse("the genesis names no usable key", "GOLD_KEY_UNKNOWN") from None
    if named.fingerprint.removeprefix("sha256:") != bare_hash(key.key_id):
        raise _refuse("the genesis key has another fingerprint", "GOLD_KEY_UNKNOWN")
    return key


def _refuse(why: str, code: str) -> VerificationError:
    return VerificationError(why, code=code)
