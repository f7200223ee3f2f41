"""SIGKILL at random moments under traffic: nothing acknowledged is lost or rolled back."""

import asyncio
import hashlib
import json
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from agentic_os.crypto.tlog.checkpoint import parse_signed_checkpoint
from agentic_os.crypto.tlog.note import open_note
from agentic_os.crypto.tlog.note_keys import NoteKey, parse_vkey
from agentic_os.witness.client.submission import WitnessedLedger, build_bookmark
from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint, write_add_checkpoint
from agentic_os.witness.protocol.json import write_request
from support.witness.actors import Owner, new_witness

SERVER = (
    "import sys; from pathlib import Path;"
    "from agentic_os.witness.service.config import read_witness_config;"
    "from agentic_os.witness.service.server import serve_witness;"
    "serve_witness(read_witness_config(Path(sys.argv[1])),"
    " started=lambda host, port: print(port, flush=True))"
)
LOGS = 12
STEPS = 900
MOST_KILLS = 200
TRAFFIC_SECONDS = {7: (0.2, 0.9), 20: (0.2, 3.0)}
"""How long the traffic lasts, by the number of kills that are wanted."""


@contextmanager
def started(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        output = server.stdout
        assert output
        with output:
            yield server, int(output.readline())
    finally:
        server.kill()
        server.wait(20)


@dataclass
class Log:
    """One log or identity: what was acknowledged and what was sent."""

    ledger: WitnessedLedger
    is_identity: bool = False
    acknowledged: int = 0
    sent: int = 0
    times: list[int] = field(default_factory=list)

    def body(self, size: int) -> bytes:
        old = size - 1
        if self.is_identity:
            return write_request(
                build_bookmark(self.ledger, ordinal=size, old_size=old, binds=size == 1)
            )
        proof = self.ledger.tree.consistency_proof(old, size)
        return write_add_checkpoint(
            AddCheckpoint(old_size=old, consistency=proof, head=self.ledger.head(size))
        )

    @property
    def path(self) -> str:
        return "/witness/bookmark" if self.is_identity else "/add-checkpoint"


async def traffic(port: int, logs: list[Log]) -> None:
    """Grow every log leaf by leaf until the server is gone."""

    async def one(log: Log) -> None:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return
        try:
            for size in range(log.acknowledged + 1, STEPS + 1):
                body = log.body(size)
                head = f"POST {log.path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
                log.sent = size
                writer.write(head.encode() + body)
                answer = await reader.readuntil(b"\r\n\r\n")
                lines = answer.lower().split(b"\r\n")
                length = next(int(i.split(b":")[1]) for i in lines if i[:15] == b"content-length:")
                content = await reader.readexactly(length)
                assert answer.split(b" ", 2)[1] in (b"200", b"201"), content
                log.acknowledged = size
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    await asyncio.gather(*(one(log) for log in logs))


def held(http: httpx.Client, key: NoteKey, log: Log) -> int:
    """The size that the restarted witness holds, with a cosignature that verifies."""
    digest = hashlib.sha256(log.ledger.origin.encode()).hexdigest()
    answer = http.get(f"/{digest}/checkpoint")
    if answer.status_code == 404:
        return 0
    signed = parse_signed_checkpoint(answer.content)
    (verified,) = open_note(signed.note, [key])
    assert verified.time
    assert not log.times or verified.time >= log.times[-1]
    log.times.append(verified.time)
    assert signed.checkpoint.root == log.ledger.tree.root(signed.checkpoint.size)
    return signed.checkpoint.size


@pytest.mark.parametrize(
    ("wanted", "kills"),
    [
        # Far more are acknowledged where the disk is not shared; fewer means idle servers.
        pytest.param(100, 7, id="some"),
        pytest.param(
            3_000, 20, id="thousands", marks=[pytest.mark.services, pytest.mark.timeout(1_800)]
        ),
    ],
)
def test_nothing_acknowledged_is_lost_or_rolled_back(
    tmp_path: Path, wanted: int, kills: int
) -> None:
    chance = random.Random(20260101)
    folder = new_witness(tmp_path / "w")
    logs = [Log(Owner(seed=n).add(STEPS).ledger()) for n in range(LOGS)]
    identities = [Log(Owner(seed=100).add(STEPS).ledger(), is_identity=True)]
    vkeys = [log.ledger.checkpoint_signer.key.vkey for log in logs]
    (folder / "witness.toml").write_text(
        "port = 0\nrequests_per_minute = 0\nclient_requests_per_minute = 0\n"
        f"logs = {json.dumps(vkeys)}\n"
    )
    key = parse_vkey((folder / "cosigner.vkey").read_text().strip())
    every = [*logs, *identities]
    total = done = 0

    def check(port: int) -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as http:
            for log in every:
                size = held(http, key, log)
                assert log.acknowledged <= size <= max(log.sent, log.acknowledged)
                log.acknowledged = size

    async def kill_under_traffic(server: subprocess.Popen[bytes], port: int) -> None:
        after = chance.uniform(*TRAFFIC_SECONDS[kills])
        asyncio.get_running_loop().call_later(after, server.kill)
        await traffic(port, every)

    while done < kills or total < wanted:
        done += 1
        assert done < MOST_KILLS
        with started(folder) as (server, port):
            check(port)
            before = sum(log.acknowledged for log in every)
            asyncio.run(kill_under_traffic(server, port))
            total += sum(log.acknowledged for log in every) - before
    with started(folder) as (_, port):
        check(port)
    connection = sqlite3.connect(folder / "witness.db")
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    finally:
        connection.close()
    print(f"{done} kills, {total} acknowledged, 0 lost, 0 rolled back")  # noqa: T201 - for -rP
