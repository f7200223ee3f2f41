"""The write-ahead log cut or torn at random places past an acknowledged answer.

SIGKILL keeps what the kernel cached; a power cut does not. What was not yet synced when an
answer left can only be later in the log than the log's length at that moment, so any cut or
damage from there on must leave every acknowledged state in place.
"""

import asyncio
import random
import shutil
from dataclasses import dataclass
from pathlib import Path

from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint, write_add_checkpoint
from agentic_os.witness.service.config import WitnessConfig
from agentic_os.witness.service.keyring import read_witness_keys
from agentic_os.witness.service.store import WitnessStore
from support.witness.actors import Owner, desk_of, new_witness

STEPS = 60
CUTS = 40


@dataclass(frozen=True)
class Moment:
    """The log's length when the answer for a size had come."""

    wal_bytes: int
    size: int


def recorded(folder: Path, owner: Owner) -> tuple[bytes, list[Moment]]:
    """Acknowledge sizes one after the other; returns the whole log and the moments."""
    ledger = owner.ledger()
    config = WitnessConfig(folder=folder, logs=(owner.log,), requests_per_minute=0)
    wal = folder / "witness.db-wal"
    moments: list[Moment] = []

    async def run() -> None:
        for size in range(1, STEPS + 1):
            proof = ledger.tree.consistency_proof(size - 1, size)
            body = write_add_checkpoint(
                AddCheckpoint(old_size=size - 1, consistency=proof, head=ledger.head(size))
            )
            reply = await desk.add_checkpoint(body)
            assert reply.result.status == 200
            moments.append(Moment(wal_bytes=wal.stat().st_size, size=size))

    with desk_of(config) as desk:
        shutil.copy(folder / "witness.db", folder / "before.db")
        asyncio.run(run())
        content = wal.read_bytes()
    return content, moments


def test_no_cut_past_an_answer_loses_it(tmp_path: Path) -> None:
    chance = random.Random(7)
    folder = new_witness(tmp_path / "w")
    owner = Owner(seed=1).add(STEPS)
    wal, moments = recorded(folder, owner)
    meta = read_witness_keys(folder).meta
    assert moments[-1].wal_bytes == len(wal)  # nothing was moved into the database meanwhile
    assert len({moment.wal_bytes for moment in moments}) == STEPS
    seen: set[int] = set()
    for number in range(CUTS):
        moment = chance.choice(moments)
        cut = chance.randint(moment.wal_bytes, len(wal))
        rest = b"" if number % 2 else chance.randbytes(min(len(wal) - cut, 20_000))
        place = tmp_path / f"cut-{number}"
        place.mkdir()
        shutil.copy(folder / "before.db", place / "witness.db")
        (place / "witness.db-wal").write_bytes(wal[:cut] + rest)
        store = WitnessStore(place / "witness.db", meta=meta)
        state = store.read.origin(owner.origin)
        store.close()
        assert state
        assert state.head
        assert state.head.size >= moment.size
        assert state.head.root == owner.tree().root(state.head.size)
        seen.add(state.head.size)
    assert len(seen) > CUTS // 4
