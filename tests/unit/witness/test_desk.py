"""The desk without HTTP: races, and storage that fails under it."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from witness_actors import Owner, desk_of, new_witness

from agentic_os.witness.add_checkpoint import AddCheckpoint, write_add_checkpoint
from agentic_os.witness.answers import Acknowledged
from agentic_os.witness.bookmark_json import write_request
from agentic_os.witness.config import WitnessConfig
from agentic_os.witness.desk import Reply, WitnessDesk
from agentic_os.witness.refusal import Refusal, RequestRefusedError
from agentic_os.witness.rows import StateRows
from agentic_os.witness.submission import build_bookmark

LOG = Owner(seed=1).add(20)
LEDGER = LOG.ledger()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[WitnessDesk]:
    config = WitnessConfig(
        folder=new_witness(tmp_path / "w"),
        logs=(LOG.checkpoint_signer.key,),
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

    note = origin


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
