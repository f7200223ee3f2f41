"""The rule of the chain: a pure state machine over lines, without any I/O.

A line is admitted only when ALL of this holds, in this order; a refusal leaves the state as
it was, because nothing moves before ``advance``::

    form        the strict reader takes it apart (frame.py)
    place       seq is one more than the last; prev_hash is the last line's hash
    hash        recomputed over entry and prev_hash
    type        in the table, with the type's own layer and ring, signed by a role it allows
    key         the key id is the one that signs for that role NOW
    payload     obeys the type's schema, under a schema version that this program knows
    meaning     line 1 and only line 1 is the genesis and proves its three keys; a key
                transition is signed by the new key too; a receipt attests a line that stands
                in this chain and follows that witness's last one; a posture is signed by the
                platform
    signature   of the line, and of the receipt in it

``weigh`` asks everything but the last, ``check_signature`` the last, ``advance`` moves head,
tree and keys; ``admit`` is all three. They are apart because a boot may skip signatures below
a cosigned head (design decision 10); nothing else can be left out. ``sweep`` is the same rule,
signatures apart, over many plain lines at once.
"""

import hashlib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Final, NamedTuple, cast

from agentic_os.crypto.canonical.texts import decode_base64
from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.crypto.keys.pairs import VerifyingKey
from agentic_os.crypto.keys.transition import line_text, transition_text
from agentic_os.crypto.tlog.merkle import leaf_hash
from agentic_os.crypto.tlog.merkle_tree import MerkleFrontier
from agentic_os.errors import CryptoError, LedgerError, VerificationError
from agentic_os.ledger.line import payloads as p
from agentic_os.ledger.line.entry import GENESIS_PREV_HASH
from agentic_os.ledger.line.frame import Frame, split_line
from agentic_os.ledger.line.vocabulary import ENTRY_TYPES, SCHEMA_VERSION, EntryType, entry_type
from agentic_os.ledger.rule.genesis import GenesisFacts, check_genesis, check_posture, raw_key
from agentic_os.ledger.rule.plain_lines import sweep
from agentic_os.ledger.rule.receipts import ReceiptTrail, check_receipt_signature

_ADMISSIBLE: Final[dict[tuple[bytes, bytes, bytes, bytes], EntryType]] = {
    (kind.name.encode(), kind.layer.encode(), b"%d" % kind.ring, role.encode()): kind
    for kind in ENTRY_TYPES.values()
    for role in kind.signers
}
_WEIGHTY: Final = frozenset({"key.transition", "system.witnessed", "posture.accept"})


class Step(NamedTuple):
    """One line that was weighed: its bytes, its parts, its type and its payload's value."""

    seq: int
    line: bytes
    frame: Frame
    kind: EntryType
    payload: p.Payload
    signer: VerifyingKey
    change: "GenesisFacts | VerifyingKey | None"
    """What ``advance`` installs: the keys of a genesis, or the new key of a transition."""


class KeyTenure(NamedTuple):
    """A key that signs, or has signed, for a role; ``from_seq`` is its first line."""

    role: p.Role
    key: VerifyingKey
    from_seq: int


class Chain:
    """The state after the lines admitted so far.

    Args:
        witness_keys: pinned witness keys by key id, for the signatures of receipts; a live
            mapping.
    """

    __slots__ = (
        "_keys",
        "_prev",
        "_roles",
        "_schema_version",
        "_trail",
        "_witness_keys",
        "genesis",
        "leaves",
        "size",
        "tenures",
        "tree",
    )

    def __init__(self, *, witness_keys: Mapping[str, PublicKeyEnvelope] | None = None) -> None:
        """Start before line 1."""
        self.size = 0
        self.genesis: GenesisFacts | None = None
        self.tree = MerkleFrontier()
        self.leaves: bytearray | None = None
        """Leaf hashes, one after the other, for whoever wants the whole tree afterwards."""
        self.tenures: tuple[KeyTenure, ...] = ()
        self._prev = GENESIS_PREV_HASH.encode()
        self._roles: dict[bytes, bytes] = {}
        self._keys: dict[bytes, VerifyingKey] = {}
        self._trail = ReceiptTrail()
        self._schema_version = SCHEMA_VERSION
        # Kept as given, even while empty: an identity pins keys into it as it lives.
        self._witness_keys = {} if witness_keys is None else witness_keys

    @property
    def head_hash(self) -> str:
        """The last line's hash, or 64 zeros before line 1."""
        return self._prev.decode()

    @property
    def root(self) -> bytes:
        """The Merkle root over all admitted lines."""
        return self.tree.root()

    @property
    def origin(self) -> str:
        """The ledger's origin; empty before line 1."""
        return self.genesis.origin if self.genesis else ""

    def key_for(self, role: p.Role) -> VerifyingKey | None:
        """Return the key that signs for a role now; None before line 1."""
        key_id = self._roles.get(role.encode())
        return None if key_id is None else self._keys[key_id]

    def hash_at(self, seq: int) -> str | None:
        """Return the bare hash of a recent line; None for one that is no longer remembered."""
        return self._trail.hash_at(seq)

    def fork(self) -> "Chain":
        """Return an independent copy: what a journal tries before it writes."""
        other = Chain(witness_keys=self._witness_keys)
        other.size = self.size
        other.genesis = self.genesis
        other.tree = deepcopy(self.tree)
        other.tenures = self.tenures
        other._prev = self._prev
        other._roles = dict(self._roles)
        other._keys = dict(self._keys)
        other._trail = self._trail.fork()
        other._schema_version = self._schema_version
        return other

    def admit(self, line: bytes) -> Step:
        """Admit one line (without LF), signature included.

        Raises:
            VerificationError: with the code of the rule that does not hold.
        """
        step = self.weigh(line)
        self.check_signature(step)
        self.advance(step)
        return step

    def weigh(self, line: bytes) -> Step:
        """Judge one line at the current place, but for its signature.

        Raises:
            VerificationError: with the code of the rule that does not hold.
        """
        frame = split_line(line)
        seq = self.size + 1
        if int(frame.seq) != seq:
            raise _refuse(f"seq is not {seq}", "LEDGER_SEQ_BROKEN")
        if frame.prev_hash != self._prev:
            raise _refuse("prev_hash is not the hash of the line before", "LEDGER_CHAIN_BROKEN")
        preimage = frame.head + b',"prev_hash":"' + self._prev + b'"}'
        if b"sha256:" + hashlib.sha256(preimage).hexdigest().encode() != frame.hash:
            raise _refuse("the hash is not that of the entry", "LEDGER_HASH_WRONG")
        kind = _ADMISSIBLE.get((frame.type, frame.layer, frame.ring, frame.role))
        if kind is None:
            raise _inadmissible(frame)
        if (seq == 1) != (kind.payload is p.Genesis):
            raise _refuse("line 1, and no other, is the genesis", "LEDGER_GENESIS_INVALID")
        if self._schema_version != SCHEMA_VERSION:
            raise _refuse(
                f"schema version {self._schema_version} is not known here", "LEDGER_SCHEMA_UNKNOWN"
            )
        payload = _read(kind, frame.payload)
        if seq == 1:
            facts = check_genesis(cast("p.Genesis", payload), ts=frame.ts.decode())
            if frame.key_id != facts.platform.key_id.encode():
                raise _refuse("not signed by the platform key it names", "LEDGER_KEY_WRONG")
            return Step(seq, line, frame, kind, payload, facts.platform, facts)
        if self._roles[frame.role] != frame.key_id:
            raise _refuse(
                f"not signed by the key of the role {frame.role.decode()}", "LEDGER_KEY_WRONG"
            )
        change = self._weigh_anchor(frame, payload) if kind.name in _WEIGHTY else None
        return Step(seq, line, frame, kind, payload, self._keys[frame.key_id], change)

    def check_signature(self, step: Step) -> None:
        """Verify the signature of a weighed line, and of the receipt in it.

        Raises:
            VerificationError: ``LEDGER_SIGNATURE_INVALID``, ``LEDGER_RECEIPT_INVALID``,
                ``LEDGER_WITNESS_KEY_UNKNOWN``.
        """
        frame = step.frame
        text = line_text(
            role=frame.role.decode(),
            key_id=frame.key_id.decode(),
            entry_hash=frame.hash.decode(),
        )
        try:
            signature = decode_base64(frame.sig_b64.decode())
        except CryptoError:
            signature = b""
        if not step.signer.verify(signature, text):
            raise _refuse("the signature does not verify", "LEDGER_SIGNATURE_INVALID")
        if isinstance(step.payload, p.Witnessed):
            check_receipt_signature(step.payload.receipt, self._witness_keys)

    def advance(self, step: Step) -> None:
        """Move past a line that ``weigh`` has judged at this very place."""
        if step.change is not None:
            self._install_change(step, step.change)
        elif isinstance(step.payload, p.Witnessed):
            self._trail.keep(step.payload.receipt)
        elif isinstance(step.payload, p.SchemaDeclare):
            self._schema_version = step.payload.version
        self.size = step.seq
        self._prev = step.frame.hash
        self._trail.note(step.frame.hash)
        leaf = leaf_hash(step.line)
        self.tree.append(leaf)
        if self.leaves is not None:
            self.leaves += leaf

    def sweep(self, lines: Sequence[bytes]) -> tuple[bytes, ...]:
        """Weigh and pass a run of plain lines at once, signatures apart; their hashes.

        Empty when the run is not plain and right: then nothing has moved, and the lines are
        to be weighed one by one. For lines that a cosigned head covers.
        """
        key_id = self._roles.get(b"identity")
        if key_id is None or self._schema_version != SCHEMA_VERSION:
            return ()
        swept = sweep(lines, first_seq=self.size + 1, prev_hash=self._prev, key_id=key_id)
        if swept is None:
            return ()
        self._trail.note(*swept.hashes)
        self.tree.extend(swept.leaves)
        if self.leaves is not None:
            self.leaves += b"".join(swept.leaves)
        self.size += len(lines)
        self._prev = swept.hashes[-1]
        return swept.hashes

    def _weigh_anchor(self, frame: Frame, payload: p.Payload) -> VerifyingKey | None:
        match payload:
            case p.KeyTransition():
                return self._weigh_transition(frame, payload)
            case p.Witnessed():
                self._trail.judge(payload.receipt)
            case p.PostureAccept():
                check_posture(
                    bytes(payload.ring5_envelope),
                    bytes(payload.ring5_key),
                    ts=frame.ts.decode(),
                    trusted=self._platform_keys(),
                )
            case _:
                pass
        return None

    def _weigh_transition(self, frame: Frame, payload: p.KeyTransition) -> VerifyingKey:
        if payload.role.encode() != frame.role:
            raise _refuse("not signed by the role that changes", "LEDGER_TRANSITION_INVALID")
        try:
            new = raw_key(payload.new_public_key_b64)
            text = transition_text(
                role=payload.role, old_key_id=frame.key_id.decode(), new_key_id=new.key_id
            )
            proved = new.verify(decode_base64(payload.new_sig_b64), text)
        except CryptoError as error:
            raise _refuse(error.message, "LEDGER_TRANSITION_INVALID") from None
        if not proved:
            raise _refuse("the new key's signature does not verify", "LEDGER_TRANSITION_INVALID")
        if new.key_id.encode() in self._keys:
            raise _refuse("the new key was used before", "LEDGER_TRANSITION_INVALID")
        return new

    def _install_change(self, step: Step, change: GenesisFacts | VerifyingKey) -> None:
        if isinstance(change, VerifyingKey):
            self._install(cast("p.Role", step.frame.role.decode()), change, step.seq + 1)
            return
        self.genesis = change
        self._install("platform", change.platform, step.seq)
        self._install("operator", change.operator, step.seq + 1)
        self._install("identity", change.identity, step.seq + 1)

    def _install(self, role: p.Role, key: VerifyingKey, from_seq: int) -> None:
        name = key.key_id.encode()
        self._keys[name] = key
        self._roles[role.encode()] = name
        self.tenures += (KeyTenure(role, key, from_seq),)

    def _platform_keys(self) -> frozenset[bytes]:
        platform = self.key_for("platform")
        if platform is None or self.genesis is None:
            return frozenset()
        return frozenset({platform.raw, self.genesis.ring0_key.part("ML-DSA-87").raw})


def _read(kind: EntryType, payload: bytes) -> p.Payload:
    try:
        return kind.read(payload)
    except LedgerError as error:
        raise VerificationError(error.message, code=error.code) from None


def _inadmissible(frame: Frame) -> VerificationError:
    try:
        kind = entry_type(frame.type.decode())
    except LedgerError as error:
        return VerificationError(error.message, code=error.code)
    if frame.role.decode() not in kind.signers:
        return _refuse(f"{kind.name} may not be signed by that role", "LEDGER_SIGNER_WRONG")
    return _refuse(f"not the layer and ring of {kind.name}", "LEDGER_RING_WRONG")


def _refuse(why: str, code: str) -> VerificationError:
    return VerificationError(why, code=code)
