"""A ledger's head before several witnesses: ask each, judge each answer, count the quorum.

A witness is asked in AII OS's dialect with our proof where it serves a receipt key, else as a
C2SP witness with the log's Ed25519 line alone. A stale size is answered once by a proof from
the size that the witness holds. A conflict (``standing``) latches in the client's memory: that
witness is not asked again until a person clears it.
"""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from agentic_os.crypto.checkpoint import SignedCheckpoint
from agentic_os.crypto.envelope_keys import PublicKeyEnvelope
from agentic_os.crypto.note import NoteSignature
from agentic_os.errors import AgenticOSError, VerificationError, WitnessError
from agentic_os.witness.add_checkpoint import AddCheckpoint
from agentic_os.witness.bookmark import BookmarkRequest, Receipt
from agentic_os.witness.client import BookmarkReply, RefusedAnswerError, WitnessClient
from agentic_os.witness.memory import WitnessedState, WitnessMemory
from agentic_os.witness.pinning import pinned_receipt_key
from agentic_os.witness.policy import PolicyWitness, QuorumPolicy
from agentic_os.witness.refusal import CADENCE_MESSAGE
from agentic_os.witness.standing import (
    CONFLICT_CODES,
    WitnessConflictError,
    judge_cosignature,
    judge_memory,
    judge_newest,
    judge_receipt,
    judge_size,
    point_at,
)
from agentic_os.witness.submission import WitnessedLedger, build_bookmark

WORKERS_ENTRIES: Final = 8
ACKNOWLEDGED: Final = "ACKNOWLEDGED"

ResultT = TypeVar("ResultT")

_CONFLICT_STATUS: Final = 409
_INCONSISTENT_STATUS: Final = 422


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessOutcome:
    """What one witness came to.

    ``code`` is ``ACKNOWLEDGED``, ``NOT_DUE`` (below the witness's cadence), one of
    ``CONFLICT_CODES``, or the code of what failed this time.
    """

    name: str
    code: str
    message: str = ""
    receipt: Receipt | None = None
    receipt_key: PublicKeyEnvelope | None = None
    cosignature: NoteSignature | None = None

    @property
    def is_conflict(self) -> bool:
        """Whether it stands for an integrity conflict."""
        return self.code in CONFLICT_CODES


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResult:
    """What all witnesses came to; ``head`` carries the cosignatures that verified."""

    outcomes: tuple[WitnessOutcome, ...]
    head: SignedCheckpoint
    is_quorum: bool

    @property
    def conflicts(self) -> tuple[WitnessOutcome, ...]:
        """The outcomes that stand for integrity conflicts."""
        return tuple(item for item in self.outcomes if item.is_conflict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where one witness says the ledger is.

    ``code`` is ``LEVEL``, ``BEHIND``, ``UNKNOWN``, one of ``CONFLICT_CODES``, or the code of
    what failed (``WITNESS_UNREACHABLE``).
    """

    name: str
    code: str
    message: str = ""

    @property
    def is_conflict(self) -> bool:
        """Whether it stands for an integrity conflict."""
        return self.code in CONFLICT_CODES


@dataclass(frozen=True, kw_only=True)
class WitnessRounds:
    """Asks the witnesses of a policy about one ledger.

    Args:
        policy: the witnesses; those without a URL are left out of rounds.
        folder: the client's memory, one folder for one ledger.
        root: an operator's root that must vouch for receipt keys; None pins the first key.
        connect: makes the client of a URL.
        clock: POSIX seconds.
    """

    policy: QuorumPolicy
    folder: Path
    root: PublicKeyEnvelope | None = None
    connect: Callable[[str], WitnessClient] = WitnessClient
    clock: Callable[[], float]

    def witness(self, ledger: WitnessedLedger) -> RoundResult:
        """Bring the ledger's head before every witness; never raises for one of them."""
        head = ledger.head(ledger.tree.size)
        outcomes = self._each(lambda witness: self._outcome(witness, ledger, head))
        lines = tuple(item.cosignature for item in outcomes if item.cosignature)
        names = {item.name for item in outcomes if item.cosignature}
        cosigners = {item.key.vkey for item in self.policy.witnesses if item.name in names}
        return RoundResult(
            outcomes=outcomes,
            head=replace(head, note=head.note.signed_by(*lines)),
            is_quorum=self.policy.is_satisfied(cosigners),
        )

    def ask_standing(self, ledger: WitnessedLedger) -> tuple[Standing, ...]:
        """Ask every witness for its newest checkpoint of this ledger (boot does)."""
        return self._each(lambda witness: self._standing(witness, ledger))

    def clear_conflict(self, name: str) -> None:
        """Let a witness be asked again; a person's decision after repair.

        Raises:
            WitnessError: ``WITNESS_UNKNOWN``.
        """
        for witness in self.policy.witnesses:
            if witness.name == name:
                memory = WitnessMemory(self.folder, witness.key)
                memory.keep_state(replace(memory.state(), conflict=""))
                return
        raise WitnessError(f"the policy has no witness {name}", code="WITNESS_UNKNOWN")

    def _each(self, ask: Callable[[PolicyWitness], ResultT]) -> tuple[ResultT, ...]:
        witnesses = [item for item in self.policy.witnesses if item.url]
        if not witnesses:
            return ()
        with ThreadPoolExecutor(max_workers=min(WORKERS_ENTRIES, len(witnesses))) as pool:
            return tuple(pool.map(ask, witnesses))

    def _outcome(
        self, witness: PolicyWitness, ledger: WitnessedLedger, head: SignedCheckpoint
    ) -> WitnessOutcome:
        memory = WitnessMemory(self.folder, witness.key)
        try:
            state = memory.state()
            judge_memory(state, ledger=ledger)
            if state.conflict:
                return _failed(witness.name, state.conflict, "latched; clear it after repair")
            with self.connect(witness.url or "") as client:
                asking = _Asking(
                    witness=witness,
                    ledger=ledger,
                    head=head,
                    memory=memory,
                    state=state,
                    client=client,
                    now=int(self.clock()),
                )
                moment = datetime.fromtimestamp(asking.now, UTC)
                key = pinned_receipt_key(client, memory, root=self.root, now=moment)
                return asking.bookmark(key) if key else asking.checkpoint()
        except WitnessConflictError as error:
            memory.keep_state(replace(memory.state(), conflict=error.code))
            return _failed(witness.name, error.code, error.message)
        except AgenticOSError as error:
            return _failed(witness.name, error.code, error.message)

    def _standing(self, witness: PolicyWitness, ledger: WitnessedLedger) -> Standing:
        try:
            state = WitnessMemory(self.folder, witness.key).state()
            judge_memory(state, ledger=ledger)
            with self.connect(witness.url or "") as client:
                newest = client.newest(hashlib.sha256(ledger.origin.encode()).hexdigest())
            code = judge_newest(
                newest,
                ledger=ledger,
                key=witness.key,
                state=state,
                now=int(self.clock()),
            )
        except AgenticOSError as error:
            return Standing(name=witness.name, code=error.code, message=error.message)
        return Standing(name=witness.name, code=code)


@dataclass(frozen=True, kw_only=True)
class _Asking:
    """One witness, one head."""

    witness: PolicyWitness
    ledger: WitnessedLedger
    head: SignedCheckpoint
    memory: WitnessMemory
    state: WitnessedState
    client: WitnessClient
    now: int

    def bookmark(self, key: PublicKeyEnvelope) -> WitnessOutcome:
        """Ask in AII OS's dialect, with the proof."""
        size = self.head.checkpoint.size
        old_size = self._last_size()
        try:
            reply, request = self._send_bookmark(size, old_size)
        except RefusedAnswerError as error:
            if error.message == CADENCE_MESSAGE:
                return _failed(self.witness.name, "NOT_DUE", error.message)
            reply, request = self._again(
                error, old_size, lambda held: self._send_bookmark(size, held)
            )
        judge_receipt(reply.receipt, request=request, key=key, ledger=self.ledger, state=self.state)
        outcome = self._keep(reply.cosignature, bound_to=self._own_binding)
        self.memory.keep_receipt(reply.answer)
        return replace(outcome, receipt=reply.receipt, receipt_key=key)

    def checkpoint(self) -> WitnessOutcome:
        """Ask as C2SP: the Ed25519 line alone, so that any witness takes the body."""
        old_size = self._last_size()
        try:
            lines = self._send_checkpoint(old_size)
        except RefusedAnswerError as error:
            lines = self._again(error, old_size, self._send_checkpoint)
        own = self.witness.key
        ours = [line for line in lines if (line.name, line.key_id) == (own.name, own.key_id)]
        return self._keep(ours[0] if ours else None, bound_to=self.state.bound_to)

    @property
    def _own_binding(self) -> str:
        return f"{self.ledger.identity_id} {self.ledger.checkpoint_signer.key.vkey}"

    def _last_size(self) -> int:
        last = self.state.acknowledged
        return min(last.ordinal, self.ledger.tree.size) if last and last.root else 0

    def _send_bookmark(self, size: int, old_size: int) -> tuple[BookmarkReply, BookmarkRequest]:
        request = build_bookmark(
            self.ledger,
            ordinal=size,
            old_size=old_size,
            binds=self.state.bound_to != self._own_binding,
        )
        return self.client.bookmark(request), request

    def _send_checkpoint(self, old_size: int) -> tuple[NoteSignature, ...]:
        size = self.head.checkpoint.size
        proof = self.ledger.tree.consistency_proof(old_size, size)
        request = AddCheckpoint(old_size=old_size, consistency=proof, head=self.head)
        return self.client.add_checkpoint(request)

    def _again(
        self, error: RefusedAnswerError, old_size: int, send: Callable[[int], ResultT]
    ) -> ResultT:
        """Prove once more from the size that the witness holds, or raise what it shows."""
        held = self._judged(error, old_size)
        try:
            return send(held)
        except RefusedAnswerError as second:
            self._judged(second, held)
            raise  # it moved meanwhile: the next round asks again

    def _judged(self, error: RefusedAnswerError, old_size: int) -> int:
        """Turn a refusal into a conflict, or into the size to prove from."""
        held = error.witnessed_size
        if held is not None:
            judge_size(held, ledger=self.ledger, state=self.state)
            if error.code == "OLD_SIZE_STALE" and held != old_size:
                return held
            raise WitnessConflictError(
                f"the witness holds another tree of {held} lines", code="WITNESS_FORK"
            )
        if error.code == "BINDING_MISSING" and self.state.bound_to == self._own_binding:
            raise WitnessConflictError(
                "the witness went back: it forgot the origin's binding", code="WITNESS_WENT_BACK"
            )
        if error.status == _INCONSISTENT_STATUS:
            raise WitnessConflictError(error.message, code="WITNESS_FORK")
        if error.status == _CONFLICT_STATUS:
            raise WitnessConflictError(error.message, code=self._conflict_code())
        raise error

    def _conflict_code(self) -> str:
        """Ask what the witness holds, where it says only that it is a conflict."""
        try:
            newest = self.client.newest(hashlib.sha256(self.ledger.origin.encode()).hexdigest())
            judge_newest(
                newest, ledger=self.ledger, key=self.witness.key, state=self.state, now=self.now
            )
        except WitnessConflictError as error:
            return error.code
        except (WitnessError, VerificationError):
            pass
        return "REFUSED_CONFLICT"

    def _keep(self, line: NoteSignature | None, *, bound_to: str) -> WitnessOutcome:
        time = judge_cosignature(
            line, head=self.head, key=self.witness.key, state=self.state, now=self.now
        )
        point = point_at(self.ledger, self.head.checkpoint.size, proved=True)
        self.memory.keep_state(
            replace(
                self.state,
                origin=self.ledger.origin,
                acknowledged=point,
                cosigned_at=time,
                bound_to=bound_to,
            )
        )
        return WitnessOutcome(name=self.witness.name, code=ACKNOWLEDGED, cosignature=line)


def _failed(name: str, code: str, message: str) -> WitnessOutcome:
    return WitnessOutcome(name=name, code=code, message=message)
