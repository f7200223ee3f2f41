"""Keep the outcome of a round of witnesses: tail, head and receipts; latch a conflict."""

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

from agentic_os.errors import CryptoError, IdentityError, LedgerError
from agentic_os.files.publishing import publish
from agentic_os.identity import safe_mode
from agentic_os.identity.answers import WitnessAnswer
from agentic_os.identity.codes import with_way_out
from agentic_os.identity.folder.witness_tail import keep_tail, read_tail, tail_now
from agentic_os.identity.policy_change import accept_first_policy
from agentic_os.identity.ready import ReadyIdentity
from agentic_os.identity.witnessing import (
    count_unanchored,
    receipt_request,
    unsettled,
)
from agentic_os.ledger.answers import Finding
from agentic_os.ledger.file.head import HEAD_NAME, read_cosigned_note, state_head
from agentic_os.witness.client.outcomes import KeptReceipt, RoundResult, WitnessOutcome

STATED_EVERY_LINES: Final = 32
"""Signatures of so many lines take a hundredth of a second at boot."""

Occasion: TypeAlias = Literal["asked", "shutdown"]
Reason: TypeAlias = Literal["shutdown", "asked", "not_due"]


class Taken(NamedTuple):
    """What the witnesses answered, and the conflict that one of them saw."""

    answers: tuple[WitnessAnswer, ...]
    conflict: Finding | None


class _Kept(NamedTuple):
    """Where a receipt was written, or why it was not."""

    seq: int | None
    message: str


_NOTHING_TO_KEEP = _Kept(None, "")


def bookmark_reason(ready: ReadyIdentity, occasion: Occasion) -> Reason:
    """Return why a bookmark is made on an occasion, or that none is due."""
    if occasion == "asked":
        return "asked"
    tail = read_tail(ready.folder)
    ordinal = tail.ledger_ordinal if tail is not None else 0
    return "shutdown" if count_unanchored(ready.projection.db, ordinal) else "not_due"


def take_round(ready: ReadyIdentity, result: RoundResult) -> Taken:
    """Keep what the witnesses said, in the order in which it is needed after a crash."""
    acknowledged = [one for one in result.outcomes if one.code == "ACKNOWLEDGED"]
    if acknowledged:
        _keep_head(ready, result)
        accept_first_policy(ready)
    conflict = _latch(ready, result.conflicts)
    kept: dict[str, _Kept] = {}
    if conflict is None:
        checkpoint = result.head.note.data.decode()
        for one in acknowledged:
            kept[one.name] = _keep_outcome(ready, one, checkpoint)
    answers = tuple(
        WitnessAnswer(
            witness=one.name,
            code=one.code,
            message=one.message or kept.get(one.name, _NOTHING_TO_KEEP).message,
            receipt_seq=kept.get(one.name, _NOTHING_TO_KEEP).seq,
            conflict=one.is_conflict,
        )
        for one in result.outcomes
    )
    return Taken(answers, conflict)


def settle(ready: ReadyIdentity) -> int:
    """Append the receipts that a crash kept out of the ledger; how many were written.

    A receipt that the chain refuses (it is too old, or of another history) is left out.
    """
    if ready.witnesses is None:
        return 0
    waiting = list(unsettled(ready.projection.db, ready.witnesses.kept_receipts()))
    written = [_keep_receipt(ready, kept, None) for kept in waiting]
    return sum(one.seq is not None for one in written)


def _keep_head(ready: ReadyIdentity, result: RoundResult) -> None:
    """Keep the point and its note; now and then the statement that spares signatures below it.

    That one takes as many bytes as a line, and few lines above it cost little.
    """
    note = result.head.note.data
    tail = read_tail(ready.folder)
    kept = tail.checkpoint if tail is not None else ""
    keep_tail(ready.folder, tail_now(ready.journal, note.decode() if result.is_quorum else kept))
    if result.is_quorum and not _spares_enough(ready, result.head.checkpoint.size):
        publish(ready.folder / HEAD_NAME, state_head(note, ready.keys.signers["identity"]))


def _spares_enough(ready: ReadyIdentity, size: int) -> bool:
    stated = read_cosigned_note(ready.folder)
    if stated is None or ready.witnesses is None:
        return False
    is_near = 0 <= size - stated.checkpoint.size < STATED_EVERY_LINES
    return is_near and ready.witnesses.policy.has_cosigned(stated.note)


def _latch(ready: ReadyIdentity, conflicts: Iterable[WitnessOutcome]) -> Finding | None:
    first: Finding | None = None
    for conflict in conflicts:
        reason = with_way_out(
            Finding(code=conflict.code, message=f"{conflict.name}: {conflict.message}")
        )
        safe_mode.latch(ready.folder, reason, witness=conflict.name)
        first = first or reason
    return first


def _keep_outcome(ready: ReadyIdentity, outcome: WitnessOutcome, checkpoint: str) -> _Kept:
    if outcome.receipt is None or outcome.receipt_key is None:
        return _NOTHING_TO_KEEP
    kept = KeptReceipt(receipt=outcome.receipt, key=outcome.receipt_key)
    if not list(unsettled(ready.projection.db, [kept])):
        return _NOTHING_TO_KEEP
    return _keep_receipt(ready, kept, checkpoint)


def _keep_receipt(ready: ReadyIdentity, kept: KeptReceipt, checkpoint: str | None) -> _Kept:
    try:
        ready.pinned.pin(kept.key)
        written = ready.writer.submit("agent", [receipt_request(kept.receipt, checkpoint)])
    except (LedgerError, IdentityError, CryptoError) as error:
        if ready.writer.stopped:
            raise
        return _Kept(None, f"the receipt could not be kept: {error.message}")
    return _Kept(written[0].line.seq, "")
