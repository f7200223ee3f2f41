"""The decision tables: one test a row, then the order of rows and the accepted claims."""

from dataclasses import replace

import pytest

from agentic_os.crypto.envelope.receipts import NO_ORDINAL, ZERO_LEDGER_HASH
from agentic_os.crypto.tlog.merkle import EMPTY_ROOT, leaf_hash
from agentic_os.crypto.tlog.merkle_tree import MerkleTree
from agentic_os.witness.rule.state import (
    Accepted,
    BookmarkCase,
    BookmarkClaim,
    Bookmarked,
    CheckpointCase,
    HeadClaim,
    IdentityState,
    OriginState,
    Refused,
    Repeated,
    RuleSettings,
    TreeHead,
)
from agentic_os.witness.rule.tables import (
    BOOKMARK_TABLE,
    CHECKPOINT_TABLE,
    CLOCK_TOLERANCE_SECONDS,
    decide_bookmark,
    decide_checkpoint,
)

NOW = 1_800_000_000
DIGITS = "00112233445566aa"
ORIGIN = f"operator.example/ledger/{DIGITS}"
OTHER_ORIGIN = "operator.example/ledger/ffffffffffffffff"
ME, OTHER = "did:me", "did:other"
KEY, OLD_KEY = "key-now", "key-then"

TREE = MerkleTree()
for number in range(40):
    TREE.append(leaf_hash(b"%d" % number))
FORK = MerkleTree()
for number in range(40):
    FORK.append(leaf_hash(b"fork" if number == 3 else b"%d" % number))


def head_claim(
    size: int, old: int = 0, *, tree: MerkleTree = TREE, binds: str | None = None
) -> HeadClaim:
    return HeadClaim(
        origin=ORIGIN,
        size=size,
        root=tree.root(size),
        old_size=old,
        consistency=tree.consistency_proof(min(old, size), size),
        vkeys=frozenset({KEY}),
        binds=binds,
    )


def claim(ordinal: int, ledger_hash: str = "aa", head: HeadClaim | None = None) -> BookmarkClaim:
    return BookmarkClaim(
        identity_id=ME,
        derived_id=ME,
        key_digits=DIGITS,
        ordinal=ordinal,
        ledger_hash=ledger_hash,
        head=head,
    )


def mark(ordinal: int, ledger_hash: str = "aa", at: int = NOW - 100) -> Bookmarked:
    return Bookmarked(
        ordinal=ordinal, ledger_hash=ledger_hash, witnessed_at=at, answer=b"stored %d" % ordinal
    )


def identity(
    ordinal: int = 10, *, proved: bool = False, origin: str | None = None
) -> IdentityState:
    return IdentityState(
        identity_id=ME, key_digits=DIGITS, proved=proved, origin=origin, bookmark=mark(ordinal)
    )


def origin_state(size: int | None = 10, *, owner: str | None = ME) -> OriginState:
    head = None if size is None else TreeHead(size=size, root=TREE.root(size), cosigned_at=NOW - 50)
    return OriginState(origin=ORIGIN, identity_id=owner, keys=frozenset({KEY}), head=head)


def case(
    made: BookmarkClaim,
    *,
    known: IdentityState | None = None,
    origin: OriginState | None = None,
    predecessor: IdentityState | None = None,
    settings: RuleSettings | None = None,
    now: int = NOW,
) -> BookmarkCase:
    return BookmarkCase(
        claim=made,
        identity=known,
        origin=origin,
        predecessor=predecessor,
        settings=settings or RuleSettings(),
        now=now,
    )


PROVED = identity(10, proved=True, origin=ORIGIN)
NEXT = head_claim(20, 10)

# Code, message and the case that only this row answers, in the order of BOOKMARK_TABLE.
REFUSED_BOOKMARKS: list[tuple[str, int, BookmarkCase]] = [
    (
        "IDENTITY_MISMATCH",
        409,
        case(replace(claim(20), derived_id="did:derived"), known=identity()),
    ),
    ("MALFORMED", 400, case(replace(claim(20), derived_id="did:derived"))),
    ("IDENTITY_MISMATCH", 409, replace(case(claim(1)), twin="did:the-same-key")),
    ("REGISTRATION_CLOSED", 403, case(replace(claim(1), admitted=False))),
    ("PROOF_REQUIRED", 409, case(claim(20), known=PROVED)),
    (
        "ORIGIN_OTHER",
        409,
        case(claim(20, head=NEXT), known=replace(PROVED, origin=OTHER_ORIGIN)),
    ),
    (
        "ORIGIN_FORM",
        400,
        case(claim(20, head=replace(head_claim(20, binds=KEY), origin="not a ledger"))),
    ),
    (
        "ORIGIN_TAKEN",
        409,
        case(claim(20, head=replace(head_claim(20, binds=KEY), origin=OTHER_ORIGIN))),
    ),
    (
        "ORIGIN_CLOSED",
        409,
        case(claim(20, head=NEXT), known=PROVED, origin=replace(origin_state(), closed=True)),
    ),
    (
        "SIGNATURE",
        401,
        case(
            claim(20, head=replace(NEXT, binds=OLD_KEY)),
            known=PROVED,
            origin=replace(origin_state(), retired_keys=frozenset({OLD_KEY})),
        ),
    ),
    ("BINDING_MISSING", 400, case(claim(20, head=head_claim(20)))),
    (
        "SIGNATURE",
        401,
        case(
            claim(20, head=replace(NEXT, vkeys=frozenset({OLD_KEY}))),
            known=PROVED,
            origin=origin_state(),
        ),
    ),
    ("ROLLBACK_OR_FORK", 409, case(claim(9), known=identity())),
    (
        "ROLLBACK_OR_FORK",
        409,
        case(claim(15, head=head_claim(15, 10)), known=PROVED, origin=origin_state(20)),
    ),
    (
        "OLD_SIZE_STALE",
        409,
        case(claim(20, head=head_claim(20, 9)), known=PROVED, origin=origin_state()),
    ),
    (
        "INCONSISTENT",
        409,
        case(claim(20, head=head_claim(20, 10, tree=FORK)), known=PROVED, origin=origin_state()),
    ),
    ("CADENCE", 409, case(claim(14), known=identity(), settings=RuleSettings(min_cadence=5))),
    (
        "CLOCK_WENT_BACK",
        503,
        case(claim(14), known=identity(), now=NOW - 101 - CLOCK_TOLERANCE_SECONDS),
    ),
]


def test_every_row_of_the_bookmark_table_is_shown() -> None:
    assert [code for code, _, _ in REFUSED_BOOKMARKS] == [row.code for row in BOOKMARK_TABLE]


@pytest.mark.parametrize("number", range(len(REFUSED_BOOKMARKS)))
def test_a_bookmark_is_refused_by_its_row_and_by_no_earlier_one(number: int) -> None:
    code, status, made = REFUSED_BOOKMARKS[number]
    decision = decide_bookmark(made)

    assert isinstance(decision, Refused)
    assert (decision.refusal.code, decision.refusal.status) == (code, status)
    assert decision.is_evidence == BOOKMARK_TABLE[number].is_evidence
    assert BOOKMARK_TABLE[number].when(made)
    assert not any(row.when(made) for row in BOOKMARK_TABLE[:number])


LOG = replace(origin_state(10, owner=None), keys=frozenset({KEY}))
REFUSED_CHECKPOINTS: list[tuple[str, int, CheckpointCase]] = [
    ("ORIGIN_UNKNOWN", 404, CheckpointCase(claim=NEXT, origin=None, now=NOW)),
    (
        "CHECKPOINT_UNSIGNED",
        403,
        CheckpointCase(claim=replace(NEXT, vkeys=frozenset({"x"})), origin=LOG, now=NOW),
    ),
    (
        "OLD_SIZE_LARGER",
        400,
        CheckpointCase(claim=replace(NEXT, old_size=21), origin=LOG, now=NOW),
    ),
    ("OLD_SIZE_STALE", 409, CheckpointCase(claim=head_claim(20, 5), origin=LOG, now=NOW)),
    (
        "INCONSISTENT",
        422,
        CheckpointCase(claim=head_claim(20, 10, tree=FORK), origin=LOG, now=NOW),
    ),
    ("CLOCK_WENT_BACK", 503, CheckpointCase(claim=NEXT, origin=LOG, now=NOW - 56)),
]


def test_every_row_of_the_checkpoint_table_is_shown() -> None:
    assert [code for code, _, _ in REFUSED_CHECKPOINTS] == [row.code for row in CHECKPOINT_TABLE]


@pytest.mark.parametrize("number", range(len(REFUSED_CHECKPOINTS)))
def test_a_checkpoint_is_refused_by_its_row_and_by_no_earlier_one(number: int) -> None:
    code, status, made = REFUSED_CHECKPOINTS[number]
    decision = decide_checkpoint(made)

    assert isinstance(decision, Refused)
    assert (decision.refusal.code, decision.refusal.status) == (code, status)
    assert not any(row.when(made) for row in CHECKPOINT_TABLE[:number])


def test_a_stale_size_tells_the_size_that_is_held_and_the_clock_when_to_ask_again() -> None:
    stale = decide_checkpoint(REFUSED_CHECKPOINTS[3][2])
    early = decide_checkpoint(REFUSED_CHECKPOINTS[5][2])

    assert isinstance(stale, Refused)
    assert stale.refusal.witnessed_size == 10
    assert isinstance(early, Refused)
    assert early.refusal.retry_seconds == 6


def test_the_first_bookmark_is_trusted_on_first_use() -> None:
    decision = decide_bookmark(case(claim(7)))

    assert decision == Accepted(
        time=NOW, is_first=True, previous_ordinal=NO_ORDINAL, previous_hash=ZERO_LEDGER_HASH
    )


def test_a_bookmark_follows_the_last_one() -> None:
    decision = decide_bookmark(case(claim(11, "bb"), known=identity()))

    assert decision == Accepted(time=NOW, is_first=False, previous_ordinal=10, previous_hash="aa")


def test_the_same_bookmark_gets_the_stored_answer() -> None:
    made = case(claim(10), known=identity(), settings=RuleSettings(min_cadence=5))

    assert decide_bookmark(made) == Repeated(time=NOW, answer=b"stored 10")


@pytest.mark.parametrize(("ordinal", "ledger_hash"), [(10, "bb"), (9, "aa"), (1, "cc")])
def test_an_ordinal_never_falls_nor_changes_its_hash(ordinal: int, ledger_hash: str) -> None:
    decision = decide_bookmark(case(claim(ordinal, ledger_hash), known=identity()))

    assert isinstance(decision, Refused)
    assert decision.refusal.message == "witness bookmark rollback or fork"
    assert decision.is_evidence


def test_a_longer_fork_passes_without_proof_and_fails_with_one() -> None:
    unproved = decide_bookmark(case(claim(20, "forked"), known=identity()))
    proved = decide_bookmark(
        case(
            claim(20, "forked", head_claim(20, 10, tree=FORK)), known=PROVED, origin=origin_state()
        )
    )

    assert isinstance(unproved, Accepted)
    assert isinstance(proved, Refused)


def test_the_first_proof_binds_and_later_ones_need_no_binding() -> None:
    first = decide_bookmark(case(claim(20, head=head_claim(20, binds=KEY)), known=identity()))
    later = decide_bookmark(case(claim(20, head=NEXT), known=PROVED, origin=origin_state()))

    assert isinstance(first, Accepted)
    assert first.previous_ordinal == 10
    assert isinstance(later, Accepted)


def test_a_repeated_proof_of_an_equal_tree_is_answered_again() -> None:
    same = head_claim(10, 10)
    made = case(claim(10, head=same), known=PROVED, origin=origin_state())
    other = replace(same, root=FORK.root(10))

    assert isinstance(decide_bookmark(made), Repeated)
    refused = decide_bookmark(case(claim(10, head=other), known=PROVED, origin=origin_state()))
    assert isinstance(refused, Refused)
    assert refused.refusal.code == "ROLLBACK_OR_FORK"


def test_a_tree_that_the_other_dialect_moved_binds_the_bookmark() -> None:
    moved = origin_state(20)
    repeat = decide_bookmark(case(claim(10, head=head_claim(10, 10)), known=PROVED, origin=moved))
    onward = decide_bookmark(case(claim(25, head=head_claim(25, 20)), known=PROVED, origin=moved))

    assert isinstance(repeat, Refused)
    assert repeat.refusal.witnessed_size == 20
    assert isinstance(onward, Accepted)


def test_require_proof_refuses_even_a_first_bookmark() -> None:
    decision = decide_bookmark(case(claim(1), settings=RuleSettings(require_proof=True)))

    assert isinstance(decision, Refused)
    assert decision.refusal.message == "witness bookmark proof required"


NEW = BookmarkClaim(
    identity_id=OTHER,
    derived_id=OTHER,
    key_digits="ffffffffffffffff",
    ordinal=20,
    ledger_hash="bb",
    head=head_claim(20, 10, binds=KEY),
)


def test_an_origin_passes_to_the_next_key_by_its_transition_alone() -> None:
    squatting = decide_bookmark(case(NEW, origin=origin_state(), predecessor=PROVED))
    following = decide_bookmark(
        case(
            replace(NEW, earlier_keys=frozenset({DIGITS})),
            origin=origin_state(),
            predecessor=PROVED,
        )
    )

    assert isinstance(squatting, Refused)
    assert squatting.refusal.code == "ORIGIN_TAKEN"
    assert following == Accepted(
        time=NOW, is_first=True, previous_ordinal=10, previous_hash="aa", succeeds=ME
    )


def test_a_successor_may_not_start_below_its_predecessor() -> None:
    low = replace(NEW, ordinal=9, head=head_claim(9, binds=KEY), earlier_keys=frozenset({DIGITS}))
    decision = decide_bookmark(case(low, origin=origin_state(), predecessor=PROVED))

    assert isinstance(decision, Refused)
    assert decision.refusal.code == "ROLLBACK_OR_FORK"


def test_a_retired_identity_is_not_answered_again() -> None:
    retired = replace(PROVED, successor=OTHER)
    decision = decide_bookmark(
        case(claim(20, head=NEXT), known=retired, origin=origin_state(owner=OTHER))
    )

    assert isinstance(decision, Refused)
    assert decision.refusal.message == (
        "identity public key does not match registered witness identity"
    )


def test_a_new_witness_takes_a_changed_key_by_the_name_of_the_first() -> None:
    named = replace(NEW, head=head_claim(20, binds=KEY), earlier_keys=frozenset({DIGITS}))

    assert isinstance(decide_bookmark(case(named)), Accepted)
    unproved = decide_bookmark(case(replace(named, earlier_keys=frozenset())))
    assert isinstance(unproved, Refused)


def test_times_never_fall_within_the_tolerance() -> None:
    ahead = replace(origin_state(), head=TreeHead(size=10, root=TREE.root(10), cosigned_at=NOW + 3))
    decision = decide_bookmark(case(claim(20, head=NEXT), known=PROVED, origin=ahead))
    cosigned = decide_checkpoint(CheckpointCase(claim=NEXT, origin=ahead, now=NOW))

    assert isinstance(decision, Accepted)
    assert isinstance(cosigned, Accepted)
    assert decision.time == cosigned.time == NOW + 3


def test_the_first_checkpoint_of_a_log_needs_old_size_zero_and_no_proof() -> None:
    fresh = replace(LOG, head=None)
    accepted = decide_checkpoint(CheckpointCase(claim=head_claim(7), origin=fresh, now=NOW))
    proof = replace(head_claim(7), consistency=(EMPTY_ROOT,))
    refused = decide_checkpoint(CheckpointCase(claim=proof, origin=fresh, now=NOW))

    assert accepted == Accepted(time=NOW, is_first=True)
    assert isinstance(refused, Refused)
    assert refused.refusal.status == 422


def test_an_empty_tree_has_the_root_of_nothing() -> None:
    fresh = replace(LOG, head=None)
    empty = replace(head_claim(0), root=EMPTY_ROOT)
    wrong = replace(head_claim(0), root=TREE.root(1))

    assert isinstance(
        decide_checkpoint(CheckpointCase(claim=empty, origin=fresh, now=NOW)), Accepted
    )
    refused = decide_checkpoint(CheckpointCase(claim=wrong, origin=fresh, now=NOW))
    assert isinstance(refused, Refused)
    assert refused.refusal.status == 422
    grown = replace(LOG, head=TreeHead(size=0, root=EMPTY_ROOT, cosigned_at=1))
    onward = CheckpointCase(claim=head_claim(5), origin=grown, now=NOW)
    assert isinstance(decide_checkpoint(onward), Accepted)


def test_an_equal_head_is_cosigned_again_and_another_root_is_not() -> None:
    again = CheckpointCase(claim=head_claim(10, 10), origin=LOG, now=NOW)
    other = CheckpointCase(
        claim=replace(head_claim(10, 10), root=FORK.root(10)), origin=LOG, now=NOW
    )

    assert decide_checkpoint(again) == Accepted(time=NOW, is_first=False)
    refused = decide_checkpoint(other)
    assert isinstance(refused, Refused)
    assert (refused.refusal.status, refused.is_evidence) == (422, True)


def test_a_retired_origin_and_one_whose_keys_are_all_retired_are_forbidden_not_unknown() -> None:
    closed = replace(LOG, closed=True)
    keyless = replace(LOG, keys=frozenset(), retired_keys=frozenset({KEY}))

    for origin in (closed, keyless):
        refused = decide_checkpoint(CheckpointCase(claim=NEXT, origin=origin, now=NOW))
        assert isinstance(refused, Refused)
        assert refused.refusal.status == 403
