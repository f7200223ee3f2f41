"""What answers show: each judgement by itself, over values."""

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentic_os.crypto.envelope.public_keys import format_time
from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.checkpoint import SignedCheckpoint
from agentic_os.crypto.tlog.note import sign_text
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import AgenticOSError
from agentic_os.witness.client.memory import Point, WitnessedState
from agentic_os.witness.client.standing import (
    MONITORING_LAG_SECONDS,
    judge_cosignature,
    judge_memory,
    judge_newest,
    judge_receipt,
    judge_size,
    point_at,
)
from agentic_os.witness.client.submission import build_bookmark, check_receipt
from agentic_os.witness.protocol.bookmark import BookmarkRequest, Receipt
from agentic_os.witness.protocol.json import read_receipt, write_request
from agentic_os.witness.service.config import WitnessConfig
from agentic_os.witness.service.desk import WitnessDesk
from agentic_os.witness.service.work import Acknowledged
from support.witness.actors import Owner, desk_of, new_witness

OWNER = Owner(seed=1).add(9)
LEDGER = OWNER.ledger()
COSIGNER = NoteSigner(kind="cosignature", name="w", private=SigningKey(ED25519, b"w" * 32))
NOW = 1_800_000_000
SEEN = WitnessedState(
    acknowledged=point_at(LEDGER, 5, proved=True), cosigned_at=NOW - 10, bound_to="x"
)


def code(call: object, *args: object, **kwargs: object) -> str:
    assert callable(call)
    with pytest.raises(AgenticOSError) as caught:
        call(*args, **kwargs)
    return caught.value.code


def cosigned(owner: Owner, size: int, *, at: int = NOW) -> SignedCheckpoint:
    head = owner.ledger().head(size)
    line = sign_text(head.note.text, COSIGNER, time=at)
    return replace(head, note=head.note.signed_by(line))


def newest(head: SignedCheckpoint | None, state: WitnessedState = SEEN, now: int = NOW) -> str:
    return judge_newest(head, ledger=LEDGER, key=COSIGNER.key, state=state, now=now)


def newest_code(head: SignedCheckpoint | None, state: WitnessedState = SEEN, now: int = NOW) -> str:
    return code(judge_newest, head, ledger=LEDGER, key=COSIGNER.key, state=state, now=now)


def test_where_a_witness_stands() -> None:
    assert newest(cosigned(OWNER, 9)) == "LEVEL"
    assert newest(cosigned(OWNER, 6)) == "BEHIND"
    assert newest(None, WitnessedState()) == "UNKNOWN"
    assert newest_code(None) == "REFUSED_CONFLICT"
    assert newest_code(cosigned(replace(OWNER, lines=[*OWNER.lines, b"x"]), 10)) == "WITNESS_AHEAD"
    assert newest_code(cosigned(OWNER.forked(2), 9)) == "WITNESS_FORK"
    assert newest_code(cosigned(OWNER, 4)) == "WITNESS_WENT_BACK"
    assert newest_code(cosigned(Owner(seed=2).add(9), 9)) == "COSIGNATURE_INVALID"
    assert newest_code(LEDGER.head(9)) == "COSIGNATURE_INVALID"


def test_a_monitoring_read_may_lag_for_an_hour_and_no_longer() -> None:
    old = cosigned(OWNER, 4, at=NOW - 500)

    assert newest(old) == "BEHIND"
    assert newest_code(old, now=SEEN.cosigned_at + MONITORING_LAG_SECONDS) == "WITNESS_STALE"
    assert newest_code(cosigned(OWNER.forked(2), 4, at=NOW - 500)) == "WITNESS_FORK"


def test_a_memory_of_another_ledger_is_noticed() -> None:
    judge_memory(WitnessedState(), ledger=LEDGER)
    judge_memory(replace(SEEN, origin=LEDGER.origin), ledger=LEDGER)

    other = replace(SEEN, origin="operator.example/ledger/0000000000000000")
    assert code(judge_memory, other, ledger=LEDGER) == "ORIGIN_CHANGED"


def test_sizes_are_judged_by_ledger_and_memory() -> None:
    judge_size(5, ledger=LEDGER, state=SEEN)
    judge_size(1, ledger=LEDGER, state=WitnessedState())
    unproved = WitnessedState(acknowledged=Point(ordinal=5, ledger_hash="a"))
    judge_size(0, ledger=LEDGER, state=unproved)

    assert code(judge_size, 10, ledger=LEDGER, state=SEEN) == "WITNESS_AHEAD"
    assert code(judge_size, 4, ledger=LEDGER, state=SEEN) == "WITNESS_WENT_BACK"


def test_cosignatures_are_judged_by_key_and_time() -> None:
    head = LEDGER.head(9)
    key = COSIGNER.key

    def judged(at: int, state: WitnessedState = SEEN) -> int:
        line = sign_text(head.note.text, COSIGNER, time=at)
        return judge_cosignature(line, head=head, key=key, state=state, now=NOW)

    assert judged(NOW) == NOW
    assert code(judged, NOW - 11) == "WITNESS_WENT_BACK"
    assert code(judged, NOW + 24 * 3600 + 1) == "COSIGNATURE_INVALID"
    assert code(judged, NOW - 24 * 3600 - 1, WitnessedState()) == "COSIGNATURE_INVALID"
    missing = code(judge_cosignature, None, head=head, key=key, state=SEEN, now=NOW)
    assert missing == "COSIGNATURE_INVALID"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> object:
    folder = new_witness(tmp_path_factory.mktemp("w") / "w")
    with desk_of(WitnessConfig(folder=folder, requests_per_minute=0)) as opened:
        yield opened


def given(desk: WitnessDesk, owner: Owner) -> tuple[Receipt, BookmarkRequest]:
    import asyncio

    request = build_bookmark(owner.ledger(), ordinal=len(owner.lines), old_size=None, binds=False)
    reply = asyncio.run(desk.bookmark(write_request(request)))
    assert isinstance(reply.result, Acknowledged)
    return read_receipt(reply.result.body), request


def test_receipts_are_judged_by_their_chain(desk: WitnessDesk) -> None:
    key = desk.keys.receipt_public
    owner = Owner(seed=50).add(3)
    first, first_request = given(desk, owner)
    owner.add(2)
    second, second_request = given(desk, owner)
    ledger = owner.ledger()

    def judged(
        receipt: Receipt,
        request: BookmarkRequest,
        last: int | None = None,
        of: Owner = owner,
    ) -> None:
        state = WitnessedState(
            acknowledged=point_at(of.ledger(), last, proved=False) if last else None
        )
        judge_receipt(receipt, request=request, key=key, ledger=of.ledger(), state=state)

    judged(first, first_request)
    judged(second, second_request, last=3)
    judged(second, second_request, last=2)
    judged(second, second_request, last=5)
    assert code(judged, first, first_request, last=2) == "WITNESS_WENT_BACK"
    assert code(judged, second, second_request, last=4) == "WITNESS_WENT_BACK"
    assert code(judged, first, second_request) == "RECEIPT_INVALID"
    fork = owner.forked(0)
    assert code(judged, second, second_request, of=fork) == "WITNESS_FORK"
    assert ledger.tree.size == 5


def test_every_field_of_a_receipt_is_signed(desk: WitnessDesk) -> None:
    key = desk.keys.receipt_public
    receipt, _ = given(desk, Owner(seed=51).add(3))
    check_receipt(receipt, key)
    moved = format_time(datetime.fromtimestamp(time.time() + 9, UTC))
    changes: list[dict[str, object]] = [
        {"identity_id": "did:other"},
        {"previous_ordinal": 2},
        {"previous_hash": "f" * 64},
        {"ordinal": 4},
        {"ledger_hash": "f" * 64},
        {"witnessed_at": moved},
    ]
    for change in changes:
        assert code(check_receipt, replace(receipt, **change), key) == "RECEIPT_INVALID"  # type: ignore[arg-type]
    for name, value in (
        ("signature_profile", "x"),
        ("alg", "Ed25519"),
        ("key_id", "x"),
        ("public_key_fingerprint", "x"),
        ("sig_b64", "AAAA"),
        ("sig_b64", "*"),
    ):
        signature = replace(receipt.signature, **{name: value})
        assert code(check_receipt, replace(receipt, signature=signature), key) == "RECEIPT_INVALID"


def test_a_receipt_that_goes_backwards_is_no_receipt(
    desk: WitnessDesk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    receipt, request = given(desk, Owner(seed=52).add(3))
    monkeypatch.setattr("agentic_os.witness.client.standing.check_receipt", lambda *_: None)
    backwards = replace(receipt, previous_ordinal=7)

    assert (
        code(
            judge_receipt,
            backwards,
            request=request,
            key=desk.keys.receipt_public,
            ledger=Owner(seed=52).add(9).ledger(),
            state=WitnessedState(),
        )
        == "RECEIPT_INVALID"
    )
    assert tmp_path.exists()
