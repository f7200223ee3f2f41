"""Acknowledgements per second of the witness, beside bare fdatasync of the same disk.

    python benchmarks/witness_load.py [--seconds 4] [--clients 1 16 64] [--json FILE]

The service runs in a process of its own on loopback; this process plays the clients over
keep-alive connections with bodies that were signed beforehand. Each client is a log of its
own that grows by one leaf a request (``add-checkpoint``), or an identity that advances by one
entry (``bookmark``: two ML-DSA-87 verifications and one signature each). Between the runs the
same disk is asked how many 4 KiB appends with fdatasync it does in a second, one after the
other; the ratio is taken against the mean of the measurement before and after. Everything is
bounded in requests and in time.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

from witness_actors import Owner, new_witness

from agentic_os.witness.add_checkpoint import AddCheckpoint, write_add_checkpoint
from agentic_os.witness.bookmark_json import write_request
from agentic_os.witness.submission import build_bookmark

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE_BYTES = 4096
SYNC_SECONDS = 1.5
REQUESTS_LIMIT = 60_000
SERVER = (
    "import sys; from pathlib import Path;"
    "from agentic_os.witness.config import read_witness_config;"
    "from agentic_os.witness.server import serve_witness;"
    "serve_witness(read_witness_config(Path(sys.argv[1])),"
    " started=lambda host, port: print(port, flush=True))"
)


@dataclass
class Row:
    """One run."""

    dialect: str
    clients: int
    acknowledged: int
    per_second: float
    p50_ms: float
    p99_ms: float
    fdatasync_per_second: float
    ratio: float


def fdatasync_per_second(folder: Path) -> float:
    """Bare durable appends per second."""
    path = folder / "sync.bin"
    block = os.urandom(PAGE_BYTES)
    with path.open("wb", buffering=0) as file:
        count, started = 0, time.perf_counter()
        while time.perf_counter() - started < SYNC_SECONDS:
            file.write(block)
            os.fdatasync(file.fileno())
            count += 1
        seconds = time.perf_counter() - started
    path.unlink()
    return count / seconds


def checkpoint_bodies(owner: Owner, steps: int) -> list[bytes]:
    """Bodies that grow one log leaf by leaf."""
    ledger = owner.add(steps).ledger()
    return [
        write_add_checkpoint(
            AddCheckpoint(
                old_size=size - 1,
                consistency=ledger.tree.consistency_proof(size - 1, size),
                head=ledger.head(size),
            )
        )
        for size in range(1, steps + 1)
    ]


def bookmark_bodies(owner: Owner, steps: int) -> list[bytes]:
    """Bodies that advance one identity entry by entry, with proofs."""
    ledger = owner.add(steps).ledger()
    return [
        write_request(build_bookmark(ledger, ordinal=size, old_size=size - 1, binds=size == 1))
        for size in range(1, steps + 1)
    ]


async def client(port: int, path: str, bodies: list[bytes], until: float) -> list[float]:
    """Send bodies one after the other; returns the seconds of each acknowledged one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    seconds: list[float] = []
    try:
        for body in bodies:
            started = time.perf_counter()
            if started > until:
                break
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            status = answer.split(b" ", 2)[1]
            length = next(
                int(line.split(b":")[1])
                for line in answer.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            )
            content = await reader.readexactly(length)
            if status not in (b"200", b"201"):
                raise RuntimeError(f"{status!r} {content!r}")
            seconds.append(time.perf_counter() - started)
    finally:
        writer.close()
    return seconds


async def drive(
    port: int, path: str, work: list[list[bytes]], limit: float
) -> tuple[list[float], float]:
    """Run all clients at once."""
    started = time.perf_counter()
    results = await asyncio.gather(
        *(client(port, path, bodies, started + limit) for bodies in work)
    )
    return [item for result in results for item in result], time.perf_counter() - started


def run(folder: Path, dialect: str, clients: int, seconds: float, first_seed: int) -> Row:
    """One server start, one load."""
    steps = min(REQUESTS_LIMIT // clients, 4000 if dialect == "c2sp" else 120)
    make: Callable[[Owner, int], list[bytes]] = (
        checkpoint_bodies if dialect == "c2sp" else bookmark_bodies
    )
    owners = [Owner(seed=first_seed + n) for n in range(clients)]
    path = "/add-checkpoint" if dialect == "c2sp" else "/witness/bookmark"
    steps = min(steps, max(50, int(6000 * seconds / clients / 4)))
    work = [make(owner, steps) for owner in owners]
    home = new_witness(folder / f"{dialect}-{clients}")
    logs = [owner.checkpoint_signer.key.vkey for owner in owners] if dialect == "c2sp" else []
    (home / "witness.toml").write_text(
        "port = 0\nrequests_per_minute = 0\nclient_requests_per_minute = 0\n"
        f"logs = {json.dumps(logs)}\n"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(home)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert server.stdout
        port = int(server.stdout.readline())
        before = fdatasync_per_second(folder)
        took, wall = asyncio.run(drive(port, path, work, seconds))
        after = fdatasync_per_second(folder)
    finally:
        server.terminate()
        server.wait(20)
    bare = (before + after) / 2
    rate = len(took) / wall
    cuts = statistics.quantiles(took, n=100)
    return Row(
        dialect=dialect,
        clients=clients,
        acknowledged=len(took),
        per_second=rate,
        p50_ms=cuts[49] * 1000,
        p99_ms=cuts[98] * 1000,
        fdatasync_per_second=bare,
        ratio=rate / bare,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Load of the witness beside bare fdatasync.")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--folder", type=Path, default=None, help="a folder on the disk to measure")
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        print("dialect  clients   acks/s   p50 ms   p99 ms  fdatasync/s  ratio")
        for seed, dialect in ((0, "c2sp"), (10_000, "aii-os")):
            for clients in options.clients:
                row = run(Path(name), dialect, clients, options.seconds, seed)
                rows.append(row)
                print(
                    f"{row.dialect:8} {row.clients:7d} {row.per_second:8.0f} {row.p50_ms:8.2f}"
                    f" {row.p99_ms:8.2f} {row.fdatasync_per_second:12.0f} {row.ratio:6.2f}"
                )
    if options.json:
        document = {"at": datetime.now(UTC).isoformat(), "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
