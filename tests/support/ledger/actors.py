"""An identity with real keys and files, and witnesses that answer from memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentic_os.crypto.canonical.texts import encode_base64, sha256_text
from agentic_os.crypto.envelope.profiles import FAST_PROFILE
from agentic_os.crypto.envelope.public_keys import (
    PublicKeyEnvelope,
    identity_id,
    make_named_envelope,
)
from agentic_os.crypto.envelope.receipts import NO_ORDINAL, ZERO_LEDGER_HASH
from agentic_os.crypto.keys.pairs import ED25519, ML_DSA_87, SigningKey
from agentic_os.crypto.tlog.merkle import consistency_holds
from agentic_os.crypto.tlog.note import sign_text
from agentic_os.crypto.tlog.note_keys import NoteKey, NoteSigner
from agentic_os.identity.birth import give_birth
from agentic_os.identity.boot import BootOptions, boot
from agentic_os.identity.session import Identity
from agentic_os.ledger.writing import Request, request
from agentic_os.witness.client.asking import ACKNOWLEDGED
from agentic_os.witness.client.outcomes import KeptReceipt, RoundResult, Standing, WitnessOutcome
from agentic_os.witness.client.policy import QuorumPolicy, parse_policy
from agentic_os.witness.client.submission import WitnessedLedger
from agentic_os.witness.protocol.bookmark import KeySignature, Receipt
from support.ledger.builder import BORN

DOMAIN = "operator.example"
LAWS = "# Laws\n\n1. Say what is.\n"


def born(folder: Path) -> Path:
    """A new identity; returns its folder."""
    give_birth(folder, domain=DOMAIN, laws=LAWS)
    return folder


def notes(*numbers: int) -> Sequence[Request]:
    """Entries that any agent may write."""
    return [
        request("experience.create", {"id": f"exp_{number}", "content": f"event {number}"})
        for number in numbers
    ]


@dataclass(kw_only=True)
class MemoryWitness:
    """A witness with real keys that keeps its state in memory and can be told to misbehave.

    It refuses what a real one refuses: a smaller tree, another root at the same size, a larger
    tree without a proof from its own.
    """

    name: str = "w1"
    seed: bytes = b"w"
    size: int = 0
    root: bytes = b""
    last: tuple[int, str] = (NO_ORDINAL, ZERO_LEDGER_HASH)
    identity: str = ""
    is_reachable: bool = True
    loses_answers: bool = False
    gives_receipts: bool = True
    conflict: str = ""
    receipts: list[Receipt] = field(default_factory=list)
    now: Callable[[], int] = lambda: 1_900_000_000

    @property
    def signer(self) -> NoteSigner:
        return NoteSigner(
            kind="cosignature", name=self.name, private=SigningKey(ED25519, self.seed * 32)
        )

    @property
    def receipt_key(self) -> SigningKey:
        return SigningKey(ML_DSA_87, self.seed * 32)

    def outcome(self, ledger: WitnessedLedger) -> WitnessOutcome:
        """One bookmark."""
        if self.conflict:
            return WitnessOutcome(name=self.name, code=self.conflict, message="latched")
        if not self.is_reachable:
            return WitnessOutcome(name=self.name, code="WITNESS_UNREACHABLE", message="no answer")
        code = self._judge(ledger)
        if code:
            self.conflict = code
            return WitnessOutcome(name=self.name, code=code, message="refused")
        head = ledger.head(ledger.tree.size)
        self.size, self.root = ledger.tree.size, ledger.tree.root()
        receipt = self._receipt(ledger) if self.gives_receipts else None
        if receipt is not None:
            self.receipts.append(receipt)
        if self.loses_answers:
            return WitnessOutcome(name=self.name, code="WITNESS_UNREACHABLE", message="lost")
        return WitnessOutcome(
            name=self.name,
            code=ACKNOWLEDGED,
            receipt=receipt,
            receipt_key=self.envelope if receipt is not None else None,
            cosignature=sign_text(head.note.text, self.signer, time=self.now()),
        )

    @property
    def envelope(self) -> PublicKeyEnvelope:
        return make_named_envelope(self.receipt_key.public, key_type="witness", created_at=BORN)

    def standing(self, ledger: WitnessedLedger) -> Standing:
        """What boot asks."""
        if not self.is_reachable:
            return Standing(name=self.name, code="WITNESS_UNREACHABLE", message="no answer")
        if self.size == 0:
            return Standing(name=self.name, code="UNKNOWN")
        code = self._judge(ledger)
        if code:
            return Standing(name=self.name, code=code, message=f"holds {self.size} lines")
        return Standing(name=self.name, code="LEVEL" if self.size == ledger.tree.size else "BEHIND")

    def _judge(self, ledger: WitnessedLedger) -> str:
        if self.size > ledger.tree.size:
            return "WITNESS_AHEAD"
        if self.size == 0:
            return ""
        held = consistency_holds(
            old_size=self.size,
            old_root=self.root,
            new_size=ledger.tree.size,
            new_root=ledger.tree.root(),
            proof=ledger.tree.consistency_proof(self.size),
        )
        return "" if held else "WITNESS_FORK"

    def _receipt(self, ledger: WitnessedLedger) -> Receipt:
        own = identity_id(ledger.envelope)
        if own != self.identity:
            self.identity, self.last = own, (NO_ORDINAL, ZERO_LEDGER_HASH)
        size = ledger.tree.size
        published = self.envelope
        unsigned = Receipt(
            identity_id=own,
            previous_ordinal=self.last[0],
            previous_hash=self.last[1],
            ordinal=size,
            ledger_hash=ledger.hash_at(size),
            witnessed_at="2026-06-01T00:00:00Z",
            signature=KeySignature(
                signature_profile=FAST_PROFILE,
                alg=ML_DSA_87,
                key_id=published.key_id,
                public_key_fingerprint=published.part(ML_DSA_87).public_key_fingerprint,
                signature_input_sha256="",
                sig_b64="",
            ),
        )
        self.last = (size, unsigned.ledger_hash)
        signature = replace(
            unsigned.signature,
            signature_input_sha256=sha256_text(unsigned.text),
            sig_b64=encode_base64(self.receipt_key.sign(unsigned.text)),
        )
        return replace(unsigned, signature=signature)


@dataclass(kw_only=True)
class MemoryWitnesses:
    """Several of them, as an identity sees them; the client's memory is ``kept``."""

    members: list[MemoryWitness]
    kept: dict[str, Receipt] = field(default_factory=dict)
    asked: int = 0

    @property
    def policy(self) -> QuorumPolicy:
        if not self.members:
            return parse_policy(b"quorum none\n")
        names = " ".join(one.name for one in self.members)
        lines = "".join(f"witness {one.name} {one.signer.key.vkey}\n" for one in self.members)
        return parse_policy(f"{lines}group all-of-them all {names}\nquorum all-of-them\n".encode())

    def witness(self, ledger: WitnessedLedger, *, only_cosigns: bool = False) -> RoundResult:
        self.asked += 1
        outcomes = tuple(one.outcome(ledger) for one in self.members)
        if only_cosigns:
            outcomes = tuple(replace(one, receipt=None, receipt_key=None) for one in outcomes)
        for one in outcomes:
            if one.receipt is not None:
                self.kept[one.name] = one.receipt
        head = ledger.head(ledger.tree.size)
        lines = [one.cosignature for one in outcomes if one.cosignature is not None]
        return RoundResult(
            outcomes=outcomes,
            head=replace(head, note=head.note.signed_by(*lines)),
            is_quorum=len(lines) == len(self.members),
        )

    def ask_standing(self, ledger: WitnessedLedger) -> tuple[Standing, ...]:
        return tuple(one.standing(ledger) for one in self.members)

    def kept_receipts(self) -> tuple[KeptReceipt, ...]:
        return tuple(
            KeptReceipt(receipt=self.kept[one.name], key=one.envelope)
            for one in self.members
            if one.name in self.kept
        )

    def cosigners(self) -> tuple[NoteKey, ...]:
        return tuple(one.signer.key for one in self.members)

    def release(self, name: str) -> None:
        for one in self.members:
            if one.name == name:
                one.conflict = ""


def booted(folder: Path, witnesses: MemoryWitnesses | None = None) -> Identity:
    """Boot with these witnesses."""
    return boot(folder, BootOptions(witnesses=witnesses))


def abandon(identity: Identity) -> None:
    """Leave an identity as a process that dies does: no seal, no snapshot, no lock."""
    identity._projection.close()
    identity._lock.release()
