"""A receipt signed ahead of its transaction, so that the one writer need not wait for it.

An ML-DSA-87 signature takes about a millisecond of a processor, more than everything else
that a bookmark costs the writer. What the rule would decide on the committed state is worked
out first, and the receipt of that is signed beside the writer. Inside the transaction the rule
decides anew: only if it comes to exactly the foreseen decision is the receipt used, else another
is signed there. A foreseen receipt that is not used never leaves the process.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from agentic_os.crypto.canonical.texts import encode_base64, sha256_text
from agentic_os.crypto.envelope.profiles import FAST_PROFILE
from agentic_os.crypto.envelope.public_keys import format_time
from agentic_os.crypto.envelope.receipts import receipt_text
from agentic_os.crypto.keys.pairs import ML_DSA_87
from agentic_os.witness.protocol.bookmark import BookmarkRequest, KeySignature, Receipt
from agentic_os.witness.rule.state import Accepted, BookmarkCase, BookmarkClaim, RuleSettings
from agentic_os.witness.rule.tables import decide_bookmark
from agentic_os.witness.service.keyring import WitnessKeys
from agentic_os.witness.service.rows import StateRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """A decision that is expected, and the receipt that would follow from it."""

    decision: Accepted
    receipt: Receipt


def bookmark_case(
    rows: StateRows, claim: BookmarkClaim, *, settings: RuleSettings, now: int
) -> BookmarkCase:
    """Read what the rule needs to decide a bookmark."""
    origin = rows.origin(claim.head.origin) if claim.head else None
    owner = origin.identity_id if origin else None
    return BookmarkCase(
        claim=claim,
        identity=rows.identity(claim.identity_id),
        origin=origin,
        predecessor=rows.identity(owner) if owner and owner != claim.identity_id else None,
        settings=settings,
        now=now,
        twin=rows.identity_of_key(claim.key_digits, other_than=claim.identity_id),
    )


def foresee(case: BookmarkCase) -> Accepted | None:
    """Return the decision on the committed state, None unless it needs a new receipt."""
    decision = decide_bookmark(case)
    return decision if isinstance(decision, Accepted) else None


def sign_receipt(request: BookmarkRequest, decision: Accepted, keys: WitnessKeys) -> Receipt:
    """Sign what a decision says; takes about a millisecond and lets other threads run."""
    public = keys.receipt_public
    witnessed_at = format_time(datetime.fromtimestamp(decision.time, UTC))
    text = receipt_text(
        identity_id=request.identity_id,
        previous_ordinal=decision.previous_ordinal,
        previous_hash=decision.previous_hash,
        ordinal=request.ordinal,
        ledger_hash=request.ledger_hash,
        witnessed_at=witnessed_at,
    )
    return Receipt(
        identity_id=request.identity_id,
        previous_ordinal=decision.previous_ordinal,
        previous_hash=decision.previous_hash,
        ordinal=request.ordinal,
        ledger_hash=request.ledger_hash,
        witnessed_at=witnessed_at,
        signature=KeySignature(
            signature_profile=FAST_PROFILE,
            alg=ML_DSA_87,
            key_id=public.key_id,
            public_key_fingerprint=public.part(ML_DSA_87).public_key_fingerprint,
            signature_input_sha256=sha256_text(text),
            sig_b64=encode_base64(keys.receipt_key.sign(text)),
        ),
    )
