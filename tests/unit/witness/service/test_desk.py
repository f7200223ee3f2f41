"""The desk without HTTP: races, and storage that fails under it."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.reader import decode
from agentic_os.crypto.canonical.texts import sha256_text
from agentic_os.crypto.envelope.profiles import ROOT_PROFILE
from agentic_os.crypto.envelope.public_keys import make_public_key_envelope
from agentic_os.crypto.keys.pairs import ML_DSA_87
from agentic_os.witness.client.submission import build_bookmark, check_receipt
from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint, write_add_checkpoint
from agentic_os.witness.protocol.bookmark import Receipt, request_text
from agentic_os.witness.protocol.json import read_receipt, write_request
from agentic_os.witness.protocol.refusal import Refusal, RequestRefusedError
from agentic_os.witness.service import desk as desk_module
from agentic_os.witness.service import work as answers_module
from agentic_os.witness.service.config import WitnessConfig
from agentic_os.witness.service.desk import Reply, WitnessDesk
from agentic_os.witness.service.foresight import sign_receipt
from agentic_os.witness.service.rows import StateRows
from agentic_os.witness.service.work import Acknowledged
from support.witness.actors import BORN, Owner, desk_of, new_witness

LOG = Owner(seed=1).add(20)
LEDGER = LOG.ledger()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[WitnessDesk]:
    config = WitnessConfig(
        folder=new_witness(tmp_path / "w"),
        logs=(LOG.log,),
        requests_per_minute=0,
    )
    with desk_of(config) as opened:
        yield opened


def body(old: int, size: int) -> bytes:
    proof = LEDGER.tree.consistency_proof(old, size)
    return write_add_checkpoint(
        AddCheckpoint(old_size=old, consistency=proof, head=LEDGER.head(size))
    )


def size_of(desk: WitnessDesk) -> int:
    state = desk.store.read.origin(LOG.origin)
    assert state
    assert state.head
    return state.head.size


def test_a_request_that_was_checked_before_another_won_is_refused(
    desk: WitnessDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A (1 to 3) is checked and stalls, B (1 to 5) wins: A gets 409 and no signature."""
    asyncio.run(desk.add_checkpoint(body(0, 1)))
    commit = desk._commit

    async def stalled(
        work: Callable[[StateRows], Acknowledged | Refusal],
    ) -> Acknowledged | Refusal:
        monkeypatch.setattr(desk, "_commit", commit)
        winner = await desk.add_checkpoint(body(1, 5))
        assert winner.result.status == 200
        return await commit(work)

    monkeypatch.setattr(desk, "_commit", stalled)
    reply = asyncio.run(desk.add_checkpoint(body(1, 3)))

    assert isinstance(reply.result, Refusal)
    assert (reply.result.status, reply.result.witnessed_size) == (409, 5)
    assert size_of(desk) == 5


def test_of_requests_that_come_together_exactly_one_wins(desk: WitnessDesk) -> None:
    async def together(old: int, sizes: list[int]) -> list[Reply]:
        return list(await asyncio.gather(*(desk.add_checkpoint(body(old, n)) for n in sizes)))

    asyncio.run(desk.add_checkpoint(body(0, 1)))
    for sizes in ([3, 5], [9, 7, 8]):
        before = size_of(desk)
        replies = asyncio.run(together(before, sizes))
        won = [
            size
            for size, reply in zip(sizes, replies, strict=True)
            if isinstance(reply.result, Acknowledged)
        ]
        assert won == [size_of(desk)]
        assert {reply.result.status for reply in replies} == {200, 409}


class Broken:
    """A reader whose disk fails."""

    def origin(self, _name: str) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    note = identity = origin


def test_a_disk_that_cannot_be_read_is_unavailable(
    desk: WitnessDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.store, "read", Broken())
    request = build_bookmark(LEDGER, ordinal=20, old_size=0, binds=True)

    for reply in (
        asyncio.run(desk.add_checkpoint(body(0, 1))),
        asyncio.run(desk.bookmark(write_request(request))),
    ):
        assert isinstance(reply.result, Refusal)
        assert (reply.result.status, reply.result.code) == (503, "STORAGE_FAILED")
    plain = write_request(build_bookmark(LEDGER, ordinal=20, old_size=None, binds=False))
    reply = asyncio.run(desk.bookmark(plain))  # without an origin its identity is read later
    assert isinstance(reply.result, Refusal)
    assert (reply.result.status, reply.result.code) == (503, "STORAGE_FAILED")
    with pytest.raises(RequestRefusedError):
        desk.note("00" * 32)


def test_a_trigger_that_stands_up_is_unavailable_and_not_a_crash(
    desk: WitnessDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise sqlite3.IntegrityError("an origin never goes back")

    monkeypatch.setattr(StateRows, "put_head", forbidden)
    reply = asyncio.run(desk.add_checkpoint(body(0, 1)))

    assert isinstance(reply.result, Refusal)
    assert (reply.result.status, reply.result.code) == (503, "INVARIANT")
    assert desk.store.frozen is None


def test_a_closing_witness_says_so(desk: WitnessDesk) -> None:
    desk.store._is_closed = True
    try:
        reply = asyncio.run(desk.add_checkpoint(body(0, 1)))
    finally:
        desk.store._is_closed = False

    assert isinstance(reply.result, Refusal)
    assert (reply.result.status, reply.result.code) == (503, "STORE_CLOSED")


@pytest.fixture
def clock() -> list[float]:
    """The time of a desk, to be set."""
    return [1_900_000_000.0]


@pytest.fixture
def timed(tmp_path: Path, clock: list[float]) -> Iterator[WitnessDesk]:
    config = WitnessConfig(folder=new_witness(tmp_path / "timed"), requests_per_minute=0)
    with desk_of(config, clock=lambda: clock[0]) as opened:
        yield opened


def bookmark(ordinal: int, owner: Owner = LOG) -> bytes:
    return write_request(
        build_bookmark(owner.ledger(), ordinal=ordinal, old_size=None, binds=False)
    )


class Signing:
    """Counts where receipts are signed: beside the writer, or in its transaction."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.threads: list[str] = []
        for module in (desk_module, answers_module):
            monkeypatch.setattr(module, "sign_receipt", self)

    def __call__(self, *arguments: Any) -> Receipt:
        self.threads.append(threading.current_thread().name.partition("_")[0])
        return sign_receipt(*arguments)


def test_a_receipt_is_signed_beside_the_writer(
    timed: WitnessDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    signing = Signing(monkeypatch)
    replies = [asyncio.run(timed.bookmark(bookmark(ordinal))) for ordinal in (1, 2, 2, 1)]
    assert [reply.result.status for reply in replies] == [201, 200, 200, 409]
    # Neither the repeated one nor the refused one needs a receipt.
    assert signing.threads == ["witness-signatures"] * 2


def test_a_receipt_that_does_not_come_true_is_signed_anew(
    timed: WitnessDesk, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    signing = Signing(monkeypatch)
    assert asyncio.run(timed.bookmark(bookmark(1))).result.status == 201
    commit = timed._commit

    async def late(
        work: Callable[[StateRows], Acknowledged | Refusal],
    ) -> Acknowledged | Refusal:
        monkeypatch.setattr(timed, "_commit", commit)
        clock[0] += 1  # a second passes, and another bookmark of this identity wins
        winner = await timed.bookmark(bookmark(2))
        assert winner.result.status == 200
        return await commit(work)

    monkeypatch.setattr(timed, "_commit", late)
    reply = asyncio.run(timed.bookmark(bookmark(3)))
    assert isinstance(reply.result, Acknowledged)
    receipt = read_receipt(reply.result.body)
    assert (receipt.previous_ordinal, receipt.ordinal) == (2, 3)
    check_receipt(receipt, timed.keys.receipt_public)
    assert signing.threads == [
        "witness-signatures",  # of 1
        "witness-signatures",  # of 3, as if it followed 1: never sent
        "witness-signatures",  # of 2
        "witness-writer",  # of 3, as it came to be
    ]


def test_a_key_of_another_length_is_malformed(timed: WitnessDesk) -> None:
    """Its fingerprint, its name and its signature's words are all in order."""
    document = decode(bookmark(1))
    assert isinstance(document, dict)
    envelope = document["identity_public_key"]
    signature = document["identity_signature"]
    assert isinstance(envelope, dict)
    assert isinstance(signature, dict)
    short = make_public_key_envelope(
        key_id=str(envelope["key_id"]),
        key_type="identity",
        profile=ROOT_PROFILE,
        keys=[(ML_DSA_87, bytes(10))],
        created_at=BORN,
        valid_days=36_500,
    )
    text = request_text(
        identity_id=str(document["identity_id"]),
        public_key=short,
        ordinal=1,
        ledger_hash=str(document["ledger_hash"]),
    )
    signature["public_key_fingerprint"] = short.keys[0].public_key_fingerprint
    signature["signature_input_sha256"] = sha256_text(text)
    document["identity_public_key"] = decode(short.document)
    reply = asyncio.run(timed.bookmark(encode(document)))
    assert isinstance(reply.result, Refusal)
    assert (reply.result.status, reply.result.code) == (400, "MALFORMED")
