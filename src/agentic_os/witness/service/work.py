"""The work of one accepted request: read the state, ask the rule, sign, write.

Each function returns the work that ``store.WitnessStore.submit`` runs in its transaction;
what it returns leaves the process only after the commit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.tlog.note import SignedNote, sign_text
from agentic_os.witness.protocol.bookmark import BookmarkRequest, Receipt
from agentic_os.witness.protocol.json import receipt_tree
from agentic_os.witness.protocol.refusal import Refusal
from agentic_os.witness.rule.claims import VerifiedBookmark, VerifiedHead
from agentic_os.witness.rule.state import (
    Accepted,
    BookmarkCase,
    Bookmarked,
    CheckpointCase,
    HeadClaim,
    OriginState,
    Refused,
    RuleSettings,
    TreeHead,
)
from agentic_os.witness.rule.tables import decide_bookmark, decide_checkpoint
from agentic_os.witness.service.foresight import Foreseen, bookmark_case, sign_receipt
from agentic_os.witness.service.keyring import WitnessKeys
from agentic_os.witness.service.rows import Evidence, StateRows

if TYPE_CHECKING:
    from agentic_os.crypto.canonical.values import JsonInput

ACCEPTED_FIRST_STATUS = 201
ACCEPTED_STATUS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """A positive answer: status and body, and what happened in a word for logs."""

    status: int
    body: bytes
    outcome: str


def bookmark_work(
    request: BookmarkRequest,
    verified: VerifiedBookmark,
    *,
    keys: WitnessKeys,
    settings: RuleSettings,
    clock: Callable[[], float],
    foreseen: Foreseen | None = None,
) -> Callable[[StateRows], Acknowledged | Refusal]:
    """Return the work of a bookmark; ``foreseen`` spares it a signature where it comes true."""

    def work(rows: StateRows) -> Acknowledged | Refusal:
        claim = verified.claim
        case = bookmark_case(rows, claim, settings=settings, now=int(clock()))
        decision = decide_bookmark(case)
        if isinstance(decision, Refused):
            _keep(rows, decision, _bookmark_evidence(request, verified.note, decision), case.now)
            return decision.refusal
        status, outcome = ACCEPTED_STATUS, "repeated"
        if isinstance(decision, Accepted):
            status = ACCEPTED_FIRST_STATUS if decision.is_first else ACCEPTED_STATUS
            outcome = "registered" if decision.is_first else "advanced"
            if foreseen is not None and foreseen.decision == decision:
                receipt = foreseen.receipt
            else:
                receipt = sign_receipt(request, decision, keys)
            answer = _write_bookmark(rows, request, case, decision, receipt)
        else:
            answer = decision.answer
        if claim.head and verified.note:
            _write_binding(rows, claim.head, case, decision.time)
            note = _write_head(
                rows, claim.head, verified.note, before=case.origin, keys=keys, time=decision.time
            )
            answer = _with_cosignature(answer, note)
        return Acknowledged(status=status, body=answer, outcome=outcome)

    return work


def checkpoint_work(
    verified: VerifiedHead, *, keys: WitnessKeys, clock: Callable[[], float]
) -> Callable[[StateRows], Acknowledged | Refusal]:
    """Return the work of an ``add-checkpoint`` request."""

    def work(rows: StateRows) -> Acknowledged | Refusal:
        origin = rows.origin(verified.claim.origin)
        case = CheckpointCase(claim=verified.claim, origin=origin, now=int(clock()))
        decision = decide_checkpoint(case)
        if isinstance(decision, Refused):
            evidence = Evidence(
                subject=verified.claim.origin,
                kind="checkpoint",
                code=decision.refusal.code,
                body=verified.note.data,
            )
            _keep(rows, decision, evidence, case.now)
            return decision.refusal
        note = _write_head(
            rows,
            verified.claim,
            verified.note,
            before=origin,
            keys=keys,
            time=decision.time,
        )
        return Acknowledged(
            status=ACCEPTED_STATUS,
            body=note.signatures[-1].line.encode(),
            outcome="registered" if decision.is_first else "advanced",
        )

    return work


def _write_bookmark(
    rows: StateRows,
    request: BookmarkRequest,
    case: BookmarkCase,
    decision: Accepted,
    receipt: Receipt,
) -> bytes:
    answer = encode(receipt_tree(receipt))
    if decision.succeeds:
        rows.retire_identity(decision.succeeds, successor=request.identity_id)
    rows.put_bookmark(
        before=case.identity,
        identity_id=request.identity_id,
        key_digits=case.claim.key_digits,
        public_key=request.public_key.document,
        bookmark=Bookmarked(
            ordinal=request.ordinal,
            ledger_hash=request.ledger_hash,
            witnessed_at=decision.time,
            answer=answer,
        ),
        proved=case.claim.head is not None,
    )
    return answer


def _write_binding(rows: StateRows, head: HeadClaim, case: BookmarkCase, time: int) -> None:
    identity_id, origin = case.claim.identity_id, case.origin
    if not (case.identity and case.identity.proved):
        rows.mark_proved(identity_id)
    rows.add_origin(head.origin)
    if not case.is_bound:
        owner = origin.identity_id if origin else None
        rows.bind_origin(head.origin, identity_id, owner=owner)
    if head.binds and not (origin and head.binds in origin.keys):
        rows.add_key(head.origin, head.binds, source="bound", now=time)
        rows.retire_keys(
            head.origin, except_vkeys=frozenset({head.binds}), source="bound", now=time
        )


def _write_head(
    rows: StateRows,
    claim: HeadClaim,
    note: SignedNote,
    *,
    before: OriginState | None,
    keys: WitnessKeys,
    time: int,
) -> SignedNote:
    cosigned = note.signed_by(sign_text(note.text, keys.cosigner, time=time))
    rows.put_head(
        before=before.head if before else None,
        origin=claim.origin,
        head=TreeHead(size=claim.size, root=claim.root, cosigned_at=time),
        note=cosigned.data,
    )
    return cosigned


def _with_cosignature(answer: bytes, note: SignedNote) -> bytes:
    # The stored receipt stays as it is, byte for byte; "cosignature" sorts before its members.
    line = encode(note.signatures[-1].line)
    return b'{"cosignature":' + line + b"," + answer.removeprefix(b"{")


def _bookmark_evidence(
    request: BookmarkRequest, note: SignedNote | None, decision: Refused
) -> Evidence:
    tree: dict[str, JsonInput] = {
        "identity_id": request.identity_id,
        "identity_public_key_sha256": request.public_key.sha256,
        "ledger_ordinal": request.ordinal,
        "ledger_hash": request.ledger_hash,
        "sig_b64": request.signature.sig_b64,
    }
    if note:
        tree["checkpoint"] = note.data.decode()
    return Evidence(
        subject=request.identity_id,
        kind="bookmark",
        code=decision.refusal.code,
        body=encode(tree),
    )


def _keep(rows: StateRows, decision: Refused, evidence: Evidence, now: int) -> None:
    if decision.is_evidence:
        rows.keep_evidence(evidence, now=now)
