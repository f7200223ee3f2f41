"""One witness, one head: send, prove again from the size it holds, judge, remember.

A witness is asked in AII OS's dialect with our proof, or as a C2SP witness with the log's
Ed25519 line alone, so that any of them takes the body. A stale size is answered once by a proof
from the size that the witness holds; a second refusal is judged like the first.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.crypto.tlog.checkpoint import SignedCheckpoint
from agentic_os.crypto.tlog.note import NoteSignature
from agentic_os.errors import VerificationError, WitnessConflictError, WitnessError
from agentic_os.witness.client.http import BookmarkReply, RefusedAnswerError, WitnessClient
from agentic_os.witness.client.memory import WitnessedState, WitnessMemory
from agentic_os.witness.client.outcomes import WitnessOutcome
from agentic_os.witness.client.policy import PolicyWitness
from agentic_os.witness.client.standing import (
    judge_cosignature,
    judge_newest,
    judge_receipt,
    judge_size,
    point_at,
)
from agentic_os.witness.client.submission import WitnessedLedger, build_bookmark
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint
from agentic_os.witness.protocol.bookmark import BookmarkRequest
from agentic_os.witness.protocol.refusal import (
    BINDING_MISSING,
    CADENCE_MESSAGE,
    OLD_SIZE_STALE,
)

ACKNOWLEDGED: Final = "ACKNOWLEDGED"

ResultT = TypeVar("ResultT")

_CONFLICT_STATUS: Final = 409
_INCONSISTENT_STATUS: Final = 422


@dataclass(frozen=True, kw_only=True)
class Asking:
    """One witness asked about one head; every answer is judged before anything is kept."""

    witness: PolicyWitness
    ledger: WitnessedLedger
    head: SignedCheckpoint
    memory: WitnessMemory
    state: WitnessedState
    client: WitnessClient
    now: int

    def bookmark(self, key: PublicKeyEnvelope) -> WitnessOutcome:
        """Ask in AII OS's dialect, with the proof.

        Raises:
            WitnessConflictError, VerificationError, WitnessError.
        """
        size = self.head.checkpoint.size
        old_size = self._last_size()
        try:
            reply, request = self._send_bookmark(size, old_size)
        except RefusedAnswerError as error:
            if error.message == CADENCE_MESSAGE:
                return WitnessOutcome(name=self.witness.name, code="NOT_DUE", message=error.message)
            reply, request = self._again(
                error, old_size, lambda held: self._send_bookmark(size, held)
            )
        judge_receipt(reply.receipt, request=request, key=key, ledger=self.ledger, state=self.state)
        outcome = self._keep(reply.cosignature, bound_to=self._own_binding, answer=reply.answer)
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
            if error.code == OLD_SIZE_STALE and held != old_size:
                return held
            raise ERRORS.error("WITNESS_FORK", f"the witness holds another tree of {held} lines")
        if error.code == BINDING_MISSING and self.state.bound_to == self._own_binding:
            raise ERRORS.error(
                "WITNESS_WENT_BACK", "the witness went back: it forgot the origin's binding"
            )
        if error.status == _INCONSISTENT_STATUS:
            raise ERRORS.error("WITNESS_FORK", error.message)
        if error.status == _CONFLICT_STATUS:
            raise ERRORS.error(self._conflict_code(), error.message)
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

    def _keep(
        self, line: NoteSignature | None, *, bound_to: str, answer: bytes | None = None
    ) -> WitnessOutcome:
        time = judge_cosignature(
            line, head=self.head, key=self.witness.key, state=self.state, now=self.now
        )
        if answer:
            # Before the state: a receipt may be kept twice, and never only counted on.
            self.memory.keep_receipt(answer)
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
