"""Acknowledgements per second of the witness, beside what its disk and its processors could do.

    python benchmarks/witness_load.py [--seconds 4] [--clients 1 16 64] [--json FILE]
        [--sync-milliseconds MS]

The service runs in a process of its own on loopback; this process plays the clients over
keep-alive connections with bodies that were signed beforehand. Each client is a log of its
own that grows by one leaf a request (``add-checkpoint``), or an identity that advances by one
entry (``bookmark``). Between the runs the same disk is asked how many 4 KiB appends with
fdatasync it does in a second, one after the other, and all processors how often they can verify
and sign what one request needs, with nothing else to do (``signatures``: an Ed25519 pair, and for a
bookmark an ML-DSA-87 pair beside it). The bound is the smaller of the two, with half of the
signatures: the other half of the processors reads, decides and answers. Ratios are taken against
the mean of the measurement before and after. Everything is bounded in requests and in time.

A virtual disk may acknowledge a sync in a quarter of a millisecond, which no server of ours can
follow. ``--sync-milliseconds`` lets strace add so much to each sync, of the server and of the bare
appends alike: the same measurement on a disk as slow as one with a platter or a network.
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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from agentic_os.crypto.keys.pairs import generate_key
from agentic_os.witness.client.submission import build_bookmark
from agentic_os.witness.protocol.add_checkpoint import AddCheckpoint, write_add_checkpoint
from agentic_os.witness.protocol.json import write_request
from support.witness.actors import Owner, new_witness

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentic_os.crypto.keys.pairs import Algorithm

PAGE_BYTES = 4096
SYNC_SECONDS = 1.5
MESSAGE = b"m" * 400
REQUESTS_LIMIT = 60_000
SERVER = (
    "import sys; from pathlib import Path;"
    "from agentic_os.witness.service.config import read_witness_config;"
    "from agentic_os.witness.service.server import serve_witness;"
    "serve_witness(read_witness_config(Path(sys.argv[1])),"
    " started=lambda host, port: print(port, flush=True))"
)


SYNCING = """
import os, sys, time
block, count, started = os.urandom(int(sys.argv[2])), 0, time.perf_counter()
with open(sys.argv[1], "wb", buffering=0) as file:
    while time.perf_counter() - started < float(sys.argv[3]):
        file.write(block)
        os.fdatasync(file.fileno())
        count += 1
    print(count / (time.perf_counter() - started))
"""


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
    signatures_per_second: float
    bound_per_second: float
    ratio: float
    server_cpu_ms: float


def slowed(milliseconds: float) -> list[str]:
    """What starts a program whose every sync takes so much longer; its pid stays its own."""
    if not milliseconds:
        return []
    calls = "fdatasync,fsync"
    return [
        *("strace", "-D", "-f", "--seccomp-bpf", "-o", os.devnull, "-e", f"trace={calls}"),
        *("-e", f"inject={calls}:delay_exit={int(milliseconds * 1000)}"),
    ]


def fdatasync_per_second(folder: Path, start: list[str]) -> float:
    """Bare durable appends per second, of a process that is started like the server."""
    path = folder / "sync.bin"
    words = [sys.executable, "-c", SYNCING, str(path), str(PAGE_BYTES), str(SYNC_SECONDS)]
    done = subprocess.run([*start, *words], check=True, capture_output=True, text=True)
    path.unlink()
    return float(done.stdout)


def signatures_per_second(dialect: str) -> float:
    """How many requests' signatures all processors verify and make in a second, at most."""
    pairs: list[tuple[Callable[[], object], Callable[[], object]]] = []
    algorithms: tuple[Algorithm, ...] = (
        ("Ed25519",) if dialect == "c2sp" else ("Ed25519", "ML-DSA-87")
    )
    for algorithm in algorithms:
        key = generate_key(algorithm)
        signature = key.sign(MESSAGE)
        pairs.append((partial(key.public.verify, signature, MESSAGE), partial(key.sign, MESSAGE)))
    until = time.perf_counter() + SYNC_SECONDS

    def work() -> int:
        done = 0
        while time.perf_counter() < until:
            for verify, sign in pairs:
                verify()
                sign()
            done += 1
        return done

    threads = os.cpu_count() or 1
    started = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:  # the library lets go of the interpreter
        done = sum(future.result() for future in [pool.submit(work) for _ in range(threads)])
    return done / (time.perf_counter() - started)


def cpu_seconds(process: int) -> float:
    """What a process has used so far (Linux; elsewhere not a number)."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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


def run(
    folder: Path, dialect: str, clients: int, seconds: float, first_seed: int, start: list[str]
) -> Row:
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
        "registrations_per_day = 0\nclient_registrations_per_day = 0\nclient_connections = 1000\n"
        f"logs = {json.dumps(logs)}\n"
    )
    server = subprocess.Popen(
        [*start, sys.executable, "-c", SERVER, str(home)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert server.stdout
        port = int(server.stdout.readline())
        before = fdatasync_per_second(folder, start), signatures_per_second(dialect)
        used = cpu_seconds(server.pid)
        took, wall = asyncio.run(drive(port, path, work, seconds))
        used = cpu_seconds(server.pid) - used
        after = fdatasync_per_second(folder, start), signatures_per_second(dialect)
    finally:
        server.terminate()
        server.wait(20)
    bare, signatures = ((one + other) / 2 for one, other in zip(before, after, strict=True))
    bound = min(bare, signatures / 2)
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
        signatures_per_second=signatures,
        bound_per_second=bound,
        ratio=rate / bound,
        server_cpu_ms=used / len(took) * 1000,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Load of the witness beside disk and cores.")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--folder", type=Path, default=None, help="a folder on the disk to measure")
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument(
        "--sync-milliseconds", type=float, default=0.0, help="added to each sync; needs strace"
    )
    options = parser.parse_args()
    rows: list[Row] = []
    start = slowed(options.sync_milliseconds)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        print(
            "dialect  clients     acks   acks/s   p50 ms   p99 ms  fdatasync/s  signatures/s"
            "    bound  ratio  server CPU ms"
        )
        for seed, dialect in ((0, "c2sp"), (10_000, "aii-os")):
            for clients in options.clients:
                row = run(Path(name), dialect, clients, options.seconds, seed, start)
                rows.append(row)
                print(
                    f"{row.dialect:8} {row.clients:7d} {row.acknowledged:8d} {row.per_second:8.0f}"
                    f" {row.p50_ms:8.2f} {row.p99_ms:8.2f} {row.fdatasync_per_second:12.0f}"
                    f" {row.signatures_per_second:13.0f} {row.bound_per_second:8.0f}"
                    f" {row.ratio:6.2f} {row.server_cpu_ms:14.2f}",
                    flush=True,
                )
    if options.json:
        document = {"at": datetime.now(UTC).isoformat(), "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
