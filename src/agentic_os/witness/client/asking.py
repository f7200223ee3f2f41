"""One witness, one head: send, prove again from the size it holds, judge, remember.

Boot asks for the newest head alone. A public note can be replayed by anybody on the way, so one
that was not cosigned within the bound counts only for what it proves against the ledger; the
witness is asked to cosign the same size anew.

A witness is asked in AII OS's dialect with our proof, or as a C2SP witness with the log's
Ed25519 line alone, so that any of them takes the body. A stale size is answered once by a proof
from the size that the witness holds; a second refusal is judged like the first.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeVar

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.crypto.tlog.checkpoint import SignedCheckpoint
from agentic_os.crypto.tlog.note import NoteSignature
from agentic_os.crypto.tlog.note_keys import NoteKey
from agentic_os.errors import VerificationError, WitnessConflictError, WitnessError
from agentic_os.witness.client.http import BookmarkReply, RefusedAnswerError, WitnessClient
from agentic_os.witness.client.memory import WitnessedState, WitnessMemory
from agentic_os.witness.client.outcomes import WitnessOutcome
from agentic_os.witness.client.policy import PolicyWitness
from agentic_os.witness.client.standing import (
    StandingCode,
    judge_cosignature,
    judge_newest,
    judge_receipt,
    newest_time,
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

_CONFLICT_STATUSES: Final = frozenset({409, 422})
_CLOCKS_SECONDS: Final = 60
"""How far two honest clocks may stand apart."""


class Newest(NamedTuple):
    """Where a witness stands, and when it last signed that (POSIX seconds, 0 for never)."""

    code: StandingCode
    cosigned_at: int


def ask_newest(
    client: WitnessClient,
    *,
    ledger: WitnessedLedger,
    key: NoteKey,
    state: WitnessedState,
    now: int,
    fresh_seconds: int,
) -> Newest:
    """Ask a witness for its newest checkpoint of a ledger, signed within ``fresh_seconds``.

    Raises:
        WitnessConflictError; WitnessError: ``WITNESS_STALE``, as ``WitnessClient.newest``;
        VerificationError.
    """
    newest = client.newest(hashlib.sha256(ledger.origin.encode()).hexdigest())
    if newest is not None:
        size, time = newest.checkpoint.size, newest_time(newest, key)
        is_old = not 0 <= now - time <= fresh_seconds
        if is_old and 0 < size <= ledger.tree.size:
            # A note that contradicts the ledger does so at any age: that is judged first.
            judge_newest(
                newest,
                ledger=ledger,
                key=key,
                state=replace(state, cosigned_at=0, acknowledged=None),
                now=now,
            )
            newest = _cosigned_anew(client, size, ledger, key)
            if (
                not -_CLOCKS_SECONDS
                <= now - newest_time(newest, key)
                <= max(fresh_seconds, _CLOCKS_SECONDS)
            ):
                raise ERRORS.error("WITNESS_STALE")
    code = judge_newest(newest, ledger=ledger, key=key, state=state, now=now)
    return Newest(code, 0 if newest is None else newest_time(newest, key))


def _cosigned_anew(
    client: WitnessClient, size: int, ledger: WitnessedLedger, key: NoteKey
) -> SignedCheckpoint:
    head = ledger.head(size)
    try:
        lines = client.add_checkpoint(AddCheckpoint(old_size=size, consistency=(), head=head))
    except RefusedAnswerError as error:
        raise ERRORS.error(
            "WITNESS_STALE", f"the witness shows {size} lines and does not sign them: {error.code}"
        ) from None
    ours = [line for line in lines if (line.name, line.key_id) == (key.name, key.key_id)]
    return replace(head, note=head.note.signed_by(*ours))


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
        outcome = self._keep(
            reply.cosignature, bound_to=self._own_binding, receipted=size, answer=reply.answer
        )
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
        last = self.state.acknowledged
        # A bound origin has had receipts; from now on its newest one lies further back.
        receipted = self.state.receipted or (last.ordinal if last and self.state.bound_to else 0)
        return self._keep(
            ours[0] if ours else None, bound_to=self.state.bound_to, receipted=receipted
        )

    @property
    def is_bound(self) -> bool:
        """Return whether the witness knows this identity and its checkpoint key."""
        return self.state.bound_to == self._own_binding

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
        """Turn a refusal into a conflict that is proved, or into the size to prove from.

        An error status is nobody's signature: it sends us to look for one, and no further.
        """
        held, last = error.witnessed_size, self.state.acknowledged
        least = last.ordinal if last and last.root else 0
        if (
            held is not None
            and error.code == OLD_SIZE_STALE
            and held != old_size
            and least <= held <= self.ledger.tree.size
        ):
            return held
        is_forgotten = error.code == BINDING_MISSING and self.state.bound_to == self._own_binding
        if held is not None or is_forgotten or error.status in _CONFLICT_STATUSES:
            self._look_for_evidence()
            raise ERRORS.error("REFUSED_CONFLICT", error.message)
        raise error

    def _look_for_evidence(self) -> None:
        """Ask what the witness has signed; raise the conflict if that shows one."""
        try:
            ask_newest(
                self.client,
                ledger=self.ledger,
                key=self.witness.key,
                state=self.state,
                now=self.now,
                fresh_seconds=0,
            )
        except WitnessConflictError:
            raise
        except (WitnessError, VerificationError):
            return

    def _keep(
        self,
        line: NoteSignature | None,
        *,
        bound_to: str,
        receipted: int,
        answer: bytes | None = None,
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
                receipted=receipted,
            )
        )
        return WitnessOutcome(name=self.witness.name, code=ACKNOWLEDGED, cosignature=line)
