"""What a witness's answer shows about the ledger, and about the witness: pure judgements.

==================  =======================================================================
WITNESS_AHEAD       the witness holds more than this ledger: the ledger was rolled back
WITNESS_FORK        it holds another history at a place that this ledger has too
WITNESS_WENT_BACK   it holds less than it once signed for: its own memory was rolled back
ORIGIN_CHANGED      what is remembered here is about another ledger: a new genesis in the old
                    place, or another identity swapped in
==================  =======================================================================

These are integrity conflicts, and each rests on evidence: on what the witness signed, or on the
client's own memory. A client latches them. What anybody on the way could have written, an error
status or a missing checkpoint, is reported (``REFUSED_CONFLICT``) and latches nothing; so is
another receipt key than the pinned one, a signature that is older than it should be
(``WITNESS_STALE``), and all else (unreachable, busy, below the cadence). Sources: AII OS formats,
section 4.5; witness reference, sections 2, 5.4 and 6.
"""

from typing import Final, Literal

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.crypto.envelope.receipts import NO_ORDINAL
from agentic_os.crypto.tlog.checkpoint import SignedCheckpoint
from agentic_os.crypto.tlog.note import NoteSignature, open_note, verifies
from agentic_os.crypto.tlog.note_keys import KEY_ID_BYTES, NoteKey, cosignature_time
from agentic_os.errors import AgenticOSError, CryptoError
from agentic_os.witness.client.memory import Point, WitnessedState
from agentic_os.witness.client.submission import WitnessedLedger, check_receipt
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.bookmark import BookmarkRequest, Receipt

CONFLICT_CODES: Final = frozenset(
    {
        "WITNESS_AHEAD",
        "WITNESS_FORK",
        "WITNESS_WENT_BACK",
        "ORIGIN_CHANGED",
    }
)
CLOCK_OFF_SECONDS: Final = 24 * 3600
MONITORING_LAG_SECONDS: Final = 3600
"""How long the monitoring read of a C2SP witness may lag (tlog-witness)."""

StandingCode = Literal["LEVEL", "BEHIND", "UNKNOWN"]


def judge_memory(state: WitnessedState, *, ledger: WitnessedLedger) -> None:
    """Check that what is remembered of a witness is about this ledger.

    Raises:
        WitnessConflictError: ``ORIGIN_CHANGED``.
    """
    if state.origin not in ("", ledger.origin):
        raise ERRORS.error("ORIGIN_CHANGED", "the witness knows another ledger in this place")


def judge_receipt(
    receipt: Receipt,
    *,
    request: BookmarkRequest,
    key: PublicKeyEnvelope,
    ledger: WitnessedLedger,
    state: WitnessedState,
) -> None:
    """Check a receipt: signature, the request's fields, and the chain from the last one.

    Raises:
        VerificationError: ``RECEIPT_INVALID``; WitnessConflictError.
    """
    check_receipt(receipt, key)
    asked = (request.identity_id, request.ordinal, request.ledger_hash)
    if (receipt.identity_id, receipt.ordinal, receipt.ledger_hash) != asked:
        raise ERRORS.error("RECEIPT_INVALID", "the receipt is for another bookmark")
    last = state.acknowledged
    if last and (last.ordinal, last.ledger_hash) == (receipt.ordinal, receipt.ledger_hash):
        return  # the stored receipt once more: its previous point lies further back
    receipted = state.receipted or (last.ordinal if last else 0)
    if receipt.previous_ordinal == NO_ORDINAL:
        if receipted:
            raise _went_back("it knows no bookmark, and signed for one before")
        return
    if receipt.previous_ordinal > receipt.ordinal:
        raise ERRORS.error("RECEIPT_INVALID", "the receipt goes backwards")
    if ledger.hash_at(receipt.previous_ordinal) != receipt.previous_hash:
        raise ERRORS.error(
            "WITNESS_FORK", f"the witness holds another line {receipt.previous_ordinal}"
        )
    if receipt.previous_ordinal < receipted:
        raise _went_back(f"it knows {receipt.previous_ordinal}, and signed for {receipted}")


def judge_cosignature(
    line: NoteSignature | None,
    *,
    head: SignedCheckpoint,
    key: NoteKey,
    state: WitnessedState,
    now: int,
) -> int:
    """Check a cosignature over our own tree head; returns its time.

    Raises:
        VerificationError: ``COSIGNATURE_INVALID``; WitnessConflictError.
    """
    if line is None or not verifies(head.note.text, line, key):
        raise ERRORS.error("COSIGNATURE_INVALID", "the cosignature does not verify")
    time = cosignature_time(line.blob[KEY_ID_BYTES:]) or 0
    if abs(time - now) > CLOCK_OFF_SECONDS:
        raise ERRORS.error("COSIGNATURE_INVALID", "the cosignature's time is more than a day off")
    if time < state.cosigned_at:
        raise _went_back("it states an earlier time than before")
    return time


def newest_time(newest: SignedCheckpoint, key: NoteKey) -> int:
    """Return the newest time at which a witness cosigned a checkpoint.

    Raises:
        VerificationError: ``COSIGNATURE_INVALID``.
    """
    try:
        return max(item.time or 0 for item in open_note(newest.note, [key]))
    except CryptoError as error:
        raise ERRORS.error("COSIGNATURE_INVALID", error.message) from None


def judge_size(size: int, *, ledger: WitnessedLedger, state: WitnessedState) -> None:
    """Judge the tree size that a witness has signed for just now.

    Raises:
        WitnessConflictError: when that contradicts the ledger or what the witness once signed.
    """
    if size > ledger.tree.size:
        raise ERRORS.error(
            "WITNESS_AHEAD", f"the witness holds {size} lines, this ledger has {ledger.tree.size}"
        )
    last = state.acknowledged
    if last and last.root and size < last.ordinal:
        raise _went_back(f"it holds {size} lines, and signed for {last.ordinal}")


def judge_newest(
    newest: SignedCheckpoint | None,
    *,
    ledger: WitnessedLedger,
    key: NoteKey,
    state: WitnessedState,
    now: int,
) -> StandingCode:
    """Judge the newest checkpoint that a witness shows.

    Returns:
        ``LEVEL`` when it is this ledger's head, ``BEHIND`` when the ledger has grown since,
        ``UNKNOWN`` when the witness never cosigned this origin.

    Raises:
        VerificationError: ``COSIGNATURE_INVALID``; WitnessConflictError.
    """
    last = state.acknowledged
    if newest is None:
        if last and last.root:
            raise ERRORS.error(
                "REFUSED_CONFLICT", "the witness shows no checkpoint, and cosigned one before"
            )
        return "UNKNOWN"
    checkpoint, time = newest.checkpoint, newest_time(newest, key)
    if checkpoint.origin != ledger.origin:
        raise ERRORS.error("COSIGNATURE_INVALID", "a checkpoint of another origin")
    # An older signature than one that is known says where the witness was, not where it is.
    if time >= state.cosigned_at or checkpoint.size > ledger.tree.size:
        judge_size(checkpoint.size, ledger=ledger, state=state)
    elif now - state.cosigned_at >= MONITORING_LAG_SECONDS:
        raise ERRORS.error("WITNESS_STALE", "the witness shows an older signature than it gave")
    if checkpoint.size <= ledger.tree.size and checkpoint.root != ledger.tree.root(checkpoint.size):
        raise ERRORS.error(
            "WITNESS_FORK", f"the witness holds another tree of {checkpoint.size} lines"
        )
    return "LEVEL" if checkpoint.size == ledger.tree.size else "BEHIND"


def point_at(ledger: WitnessedLedger, ordinal: int, *, proved: bool) -> Point:
    """Return a ledger's own point at a seq."""
    root = ledger.tree.root(ordinal).hex() if proved else ""
    return Point(ordinal=ordinal, ledger_hash=ledger.hash_at(ordinal), root=root)


def _went_back(why: str) -> AgenticOSError:
    return ERRORS.error("WITNESS_WENT_BACK", f"the witness went back: {why}")
