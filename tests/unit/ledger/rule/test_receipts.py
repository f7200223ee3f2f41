"""Receipts in the ledger: the witness's signature, and that they speak of this chain."""

from typing import Any

import pytest

from agentic_os.crypto.canonical.texts import bare_hash, encode_base64
from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope, make_named_envelope
from agentic_os.errors import VerificationError
from agentic_os.ledger.line.frame import read_line
from agentic_os.ledger.line.payloads import Receipt
from agentic_os.ledger.rule.receipts import RECEIPT_LAG_LINES, ReceiptTrail, signed_bytes
from support.ledger.builder import BORN, Builder, key

WITNESS = key(20)
SECOND = key(21)
PINNED: dict[str, PublicKeyEnvelope] = {
    one.key_id: one
    for one in (
        make_named_envelope(signer.public, key_type="witness", created_at=BORN)
        for signer in (WITNESS, SECOND)
    )
}
FIRST = (-1, "0" * 64)


def receipt(
    builder: Builder, seq: int, *, previous: tuple[int, str] = FIRST, **changes: Any
) -> dict[str, Any]:
    signer = changes.pop("signer", WITNESS)
    members: dict[str, Any] = {
        "identity_id": "did:aiii:identity:test",
        "previous_witnessed_ledger_ordinal": previous[0],
        "previous_witnessed_ledger_hash": previous[1],
        "ledger_ordinal": seq,
        "ledger_hash": bare_hash(read_line(builder.lines[seq - 1]).hash),
        "witnessed_at": "2026-01-01T00:00:02Z",
        "witness_key_id": make_named_envelope(
            signer.public, key_type="witness", created_at=BORN
        ).key_id,
        "witness_sig_b64": "A" * 6172,
    } | changes
    text = signed_bytes(Receipt(**members))
    return members | {"witness_sig_b64": encode_base64(changes.get("forger", signer).sign(text))}


def _put(builder: Builder, members: dict[str, Any]) -> Builder:
    return builder.add("system.witnessed", {"receipt": members})


def _refused(builder: Builder, members: dict[str, Any], code: str, words: str) -> None:
    bad = Builder(lines=list(builder.lines), prev_hash=builder.prev_hash)
    _put(bad, members)
    chain = builder.chain(witness_keys=PINNED)
    with pytest.raises(VerificationError, match=words) as caught:
        chain.admit(bad.lines[-1])
    assert caught.value.code == code


def _point(builder: Builder, seq: int) -> tuple[int, str]:
    return seq, bare_hash(read_line(builder.lines[seq - 1]).hash)


def test_receipts_follow_each_other(build: Builder) -> None:
    build.experience(1)
    _put(build, receipt(build, 2))
    build.experience(2)
    _put(build, receipt(build, 4, previous=_point(build, 2)))
    assert build.chain(witness_keys=PINNED).size == 5


def test_the_text_is_the_formats(build: Builder) -> None:
    members = receipt(build, 1)
    assert (
        signed_bytes(Receipt(**members))
        == (
            "AIII-WITNESS-RECEIPT\n"
            "identity_id:did:aiii:identity:test\n"
            "previous_witnessed_ledger_ordinal:-1\n"
            f"previous_witnessed_ledger_hash:{'0' * 64}\n"
            "ledger_ordinal:1\n"
            f"ledger_hash:{members['ledger_hash']}\n"
            "witnessed_at:2026-01-01T00:00:02Z\n"
        ).encode()
    )


def test_a_receipt_of_another_history_is_refused(build: Builder) -> None:
    build.experience(1)
    invalid = "LEDGER_RECEIPT_INVALID"
    _refused(build, receipt(build, 2, ledger_hash="1" * 64), invalid, "another line")
    ahead = receipt(build, 2) | {"ledger_ordinal": 3}
    _refused(build, ahead, invalid, "another line")


def test_a_replayed_or_backward_receipt_is_refused(build: Builder) -> None:
    build.experience(1).experience(2)
    old = receipt(build, 2)
    _put(build, old)
    invalid = "LEDGER_RECEIPT_INVALID"
    _refused(build, old, invalid, "follow")
    _refused(build, receipt(build, 3), invalid, "follow")
    _refused(build, receipt(build, 3, previous=(2, "1" * 64)), invalid, "follow")
    _refused(build, receipt(build, 3, previous=_point(build, 3)), invalid, "after the one before")


def test_after_a_lost_answer_a_receipt_may_follow_a_later_line(build: Builder) -> None:
    build.experience(1)
    _put(build, receipt(build, 2))
    build.experience(2).experience(3)
    _put(build, receipt(build, 5, previous=_point(build, 4)))
    assert build.chain(witness_keys=PINNED).size == 6


def test_each_witness_has_its_own_trail(build: Builder) -> None:
    build.experience(1)
    _put(build, receipt(build, 2))
    _put(build, receipt(build, 2, signer=SECOND))
    _put(build, receipt(build, 4, previous=_point(build, 2), signer=SECOND))
    assert build.chain(witness_keys=PINNED).size == 5


def test_after_a_change_of_the_witness_key_the_trail_goes_on(build: Builder) -> None:
    _put(build, receipt(build, 1))
    _put(build, receipt(build, 2, previous=_point(build, 1), signer=SECOND))
    assert build.chain(witness_keys=PINNED).size == 3


def test_a_forged_receipt_is_refused(build: Builder) -> None:
    forged = receipt(build, 1) | {
        "witness_sig_b64": receipt(build, 1, signer=SECOND)["witness_sig_b64"]
    }
    _refused(build, forged, "LEDGER_RECEIPT_INVALID", "does not verify")
    broken = receipt(build, 1) | {"witness_sig_b64": "?" * 6172}
    _refused(build, broken, "LEDGER_RECEIPT_INVALID", "base64")


def test_an_unknown_witness_key_is_no_witness(build: Builder) -> None:
    members = receipt(build, 1, signer=key(22))
    _refused(build, members, "LEDGER_WITNESS_KEY_UNKNOWN", "not pinned")


def test_the_trail_remembers_a_bounded_number_of_lines() -> None:
    trail = ReceiptTrail()
    for number in range(RECEIPT_LAG_LINES + 10):
        trail.note(f"sha256:{number:064d}".encode())
    members: dict[str, Any] = {
        "identity_id": "x",
        "previous_witnessed_ledger_ordinal": -1,
        "previous_witnessed_ledger_hash": "0" * 64,
        "witnessed_at": "x",
        "witness_key_id": "k",
        "witness_sig_b64": "A" * 6172,
    }
    kept = 10 + 1
    trail.judge(Receipt(ledger_ordinal=kept, ledger_hash=f"{kept - 1:064d}", **members))
    with pytest.raises(VerificationError):
        trail.judge(Receipt(ledger_ordinal=kept - 1, ledger_hash=f"{kept - 2:064d}", **members))
