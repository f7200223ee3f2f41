"""The witness's rule: what a verified claim does to the state, and nothing else.

A pure function over values; no clock, no keys, no store. Signatures are verified before and
the effect is written after, in the one transaction that also read the state handed in here.

Invariants, each kept whatever the order of requests:

1.  An identity's ordinal never falls, and one ordinal never gets a second hash.
2.  An origin's tree never shrinks and never changes: every new head extends the old one by
    an RFC 9162 consistency proof; an equal size has an equal root.
3.  The two dialects share the state: once an origin is bound, a bookmark's ordinal IS the
    tree size, and a head that either dialect moved binds the other.
4.  An identity that has proved once is never again answered without a proof.
5.  An origin belongs to the identity whose first key it is named after, for good. It passes
    to that identity's next key only by ``key.transition`` lines that stand in the tree; the
    identity it passed from is retired.
6.  A retired checkpoint key never speaks again.
7.  No time is given that lies below one given before for the same identity or origin.
8.  A public key has one identity: the first envelope that it came in.
9.  A refused claim changes nothing (evidence of a conflict aside).

The rule is written as two tables. A row names a refusal and when it applies; the first row
that applies is the answer, and a claim to which no row applies is accepted. Row order is
part of the protocol: for ``add-checkpoint`` it is that of C2SP tlog-witness (404, 403, 400,
409, 422), for bookmarks that of AII OS formats, section 4.4, and of the ledger format.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from agentic_os.crypto.tlog.merkle import EMPTY_ROOT, consistency_holds
from agentic_os.witness.protocol.bookmark import origin_key_digits
from agentic_os.witness.protocol.refusal import (
    BINDING_MISSING,
    CADENCE_MESSAGE,
    CONSISTENCY_MESSAGE,
    MISMATCH_MESSAGE,
    OLD_SIZE_STALE,
    ORIGIN_OTHER_MESSAGE,
    ORIGIN_TAKEN_MESSAGE,
    PROOF_REQUIRED_MESSAGE,
    ROLLBACK_MESSAGE,
    Refusal,
)
from agentic_os.witness.rule.state import (
    Accepted,
    BookmarkCase,
    BookmarkDecision,
    CheckpointCase,
    CheckpointDecision,
    Refused,
    Repeated,
)

CLOCK_TOLERANCE_SECONDS: Final = 5
"""How far the clock may step back and still be answered with the last time given."""
CLOCK_RETRY_SECONDS: Final = 3600

CaseT = TypeVar("CaseT", "BookmarkCase", "CheckpointCase")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Generic[CaseT]):
    """One row of a decision table: the refusal, and the cases that it answers."""

    status: int
    code: str
    message: str
    when: Callable[[CaseT], bool]
    is_evidence: bool = False
    tells_size: bool = False


def _is_other_tree(case: CheckpointCase) -> bool:
    stored = case.stored
    return stored is not None and (
        case.claim.size < stored.size
        or (case.claim.size == stored.size and case.claim.root != stored.root)
    )


def _is_stale(case: CheckpointCase) -> bool:
    return case.claim.old_size != case.witnessed


def _is_inconsistent(case: CheckpointCase) -> bool:
    claim, stored = case.claim, case.stored
    return not consistency_holds(
        old_size=claim.old_size,
        old_root=stored.root if stored and stored.size else EMPTY_ROOT,
        new_size=claim.size,
        new_root=claim.root,
        proof=claim.consistency,
    )


def _clock_went_back(case: BookmarkCase | CheckpointCase) -> bool:
    return case.now < case.last_time - CLOCK_TOLERANCE_SECONDS


def _with_tree(test: Callable[[CheckpointCase], bool]) -> Callable[[BookmarkCase], bool]:
    return lambda case: case.tree is not None and test(case.tree)


_CLOCK_MESSAGE: Final = "the clock of the witness went back"

CHECKPOINT_TABLE: Final[tuple[Row[CheckpointCase], ...]] = (
    Row(
        status=404,
        code="ORIGIN_UNKNOWN",
        message="unknown origin",
        when=lambda case: case.origin is None or not (case.origin.keys | case.origin.retired_keys),
    ),
    Row(
        status=403,
        code="CHECKPOINT_UNSIGNED",
        message="no signature by a trusted key",
        when=lambda case: (
            case.origin is None or case.origin.closed or not case.claim.vkeys & case.origin.keys
        ),
    ),
    Row(
        status=400,
        code="OLD_SIZE_LARGER",
        message="old size larger than the checkpoint's",
        when=lambda case: case.claim.old_size > case.claim.size,
    ),
    Row(
        status=409,
        code=OLD_SIZE_STALE,
        message="another size was cosigned last",
        when=_is_stale,
        tells_size=True,
    ),
    Row(
        status=422,
        code="INCONSISTENT",
        message="the checkpoint does not extend the one cosigned last",
        when=_is_inconsistent,
        is_evidence=True,
    ),
    Row(status=503, code="CLOCK_WENT_BACK", message=_CLOCK_MESSAGE, when=_clock_went_back),
)

BOOKMARK_TABLE: Final[tuple[Row[BookmarkCase], ...]] = (
    Row(
        status=409,
        code="IDENTITY_MISMATCH",
        message=MISMATCH_MESSAGE,
        when=lambda case: (
            case.identity is not None
            and (
                case.claim.identity_id != case.claim.derived_id
                or case.identity.successor is not None
            )
        ),
    ),
    Row(
        status=400,
        code="MALFORMED",
        message="identity_id is not that of identity_public_key",
        when=lambda case: case.claim.identity_id != case.claim.derived_id,
    ),
    # The id names the envelope, which says more than the key: the key must not begin a new life
    # by another envelope.
    Row(
        status=409,
        code="IDENTITY_MISMATCH",
        message=MISMATCH_MESSAGE,
        when=lambda case: case.identity is None and case.twin is not None,
    ),
    Row(
        status=403,
        code="REGISTRATION_CLOSED",
        message="witness registration closed",
        when=lambda case: case.identity is None and not case.claim.admitted,
    ),
    Row(
        status=409,
        code="PROOF_REQUIRED",
        message=PROOF_REQUIRED_MESSAGE,
        when=lambda case: (
            case.claim.head is None
            and (
                case.settings.require_proof or (case.identity is not None and case.identity.proved)
            )
        ),
    ),
    Row(
        status=409,
        code="ORIGIN_OTHER",
        message=ORIGIN_OTHER_MESSAGE,
        when=lambda case: (
            case.claim.head is not None
            and case.identity is not None
            and case.identity.origin not in (None, case.claim.head.origin)
        ),
    ),
    Row(
        status=400,
        code="ORIGIN_FORM",
        message="the origin is not that of an identity's ledger",
        when=_with_tree(lambda case: origin_key_digits(case.claim.origin) is None),
    ),
    Row(
        status=409,
        code="ORIGIN_TAKEN",
        message=ORIGIN_TAKEN_MESSAGE,
        when=lambda case: not case.may_speak,
    ),
    Row(
        status=409,
        code="ORIGIN_CLOSED",
        message="origin retired by the operator",
        when=_with_tree(lambda case: case.origin is not None and case.origin.closed),
    ),
    Row(
        status=401,
        code="SIGNATURE",
        message="the checkpoint key is retired",
        when=_with_tree(
            lambda case: case.origin is not None and case.claim.binds in case.origin.retired_keys
        ),
    ),
    Row(
        status=400,
        code=BINDING_MISSING,
        message="the first proof needs a binding of its origin",
        when=lambda case: (
            case.claim.head is not None and case.claim.head.binds is None and not case.is_bound
        ),
    ),
    Row(
        status=401,
        code="SIGNATURE",
        message="no signature by the bound checkpoint key",
        when=_with_tree(
            lambda case: (
                case.claim.binds is None
                and case.origin is not None
                and not case.claim.vkeys & case.origin.keys
            )
        ),
    ),
    Row(
        status=409,
        code="ROLLBACK_OR_FORK",
        message=ROLLBACK_MESSAGE,
        when=lambda case: case.is_rollback,
        is_evidence=True,
    ),
    Row(
        status=409,
        code="ROLLBACK_OR_FORK",
        message=ROLLBACK_MESSAGE,
        when=_with_tree(_is_other_tree),
        is_evidence=True,
        tells_size=True,
    ),
    Row(
        status=409,
        code=OLD_SIZE_STALE,
        message=CONSISTENCY_MESSAGE,
        when=_with_tree(_is_stale),
        tells_size=True,
    ),
    Row(
        status=409,
        code="INCONSISTENT",
        message=CONSISTENCY_MESSAGE,
        when=_with_tree(_is_inconsistent),
        is_evidence=True,
        tells_size=True,
    ),
    Row(
        status=409,
        code="CADENCE",
        message=CADENCE_MESSAGE,
        when=lambda case: case.stored is not None and 0 < case.advance < case.settings.min_cadence,
    ),
    Row(status=503, code="CLOCK_WENT_BACK", message=_CLOCK_MESSAGE, when=_clock_went_back),
)


def decide_bookmark(case: BookmarkCase) -> BookmarkDecision:
    """Answer a bookmark by ``BOOKMARK_TABLE``."""
    for row in BOOKMARK_TABLE:
        if row.when(case):
            return _refused(row, case, case.tree.witnessed if case.tree else None)
    time = max(case.now, case.last_time)
    own = case.identity.bookmark if case.identity else None
    if own and case.is_repeat:
        return Repeated(time=time, answer=own.answer)
    mark = case.stored
    succeeds = case.predecessor.identity_id if case.predecessor else None
    is_first = own is None
    if mark is None:
        return Accepted(time=time, is_first=is_first, succeeds=succeeds)
    return Accepted(
        time=time,
        is_first=is_first,
        previous_ordinal=mark.ordinal,
        previous_hash=mark.ledger_hash,
        succeeds=succeeds,
    )


def decide_checkpoint(case: CheckpointCase) -> CheckpointDecision:
    """Answer an ``add-checkpoint`` request by ``CHECKPOINT_TABLE``."""
    for row in CHECKPOINT_TABLE:
        if row.when(case):
            return _refused(row, case, case.witnessed)
    return Accepted(time=max(case.now, case.last_time), is_first=case.stored is None)


def _refused(row: Row[CaseT], case: CaseT, witnessed: int | None) -> Refused:
    is_clock = row.code == "CLOCK_WENT_BACK"
    refusal = Refusal(
        status=row.status,
        code=row.code,
        message=row.message,
        witnessed_size=witnessed if row.tells_size else None,
        retry_seconds=min(case.last_time - case.now, CLOCK_RETRY_SECONDS) if is_clock else 0,
    )
    return Refused(refusal=refusal, is_evidence=row.is_evidence)
