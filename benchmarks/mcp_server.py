"""Measure the MCP server: how fast it is there, and how fast it answers many at once.

    python benchmarks/mcp_server.py [--root DIR] [--runs N] [--calls N]

Prints a table and records nothing: what counts are the ratios within one run on a quiet machine.
Starting is compared with a bare server of the same library, in turns, by the best and the median.
Calls go to one HTTP server on loopback, from 1, 8 and 32 clients at once; memory is looked at
before and after many calls.
"""

import argparse
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2
from mcp.client.session import ClientSession  # noqa: TID253 - what is measured
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: TID253 - what is measured
from mcp.client.streamable_http import streamable_http_client  # noqa: TID253 - what is measured
from measure import environment

from mcp import Client  # noqa: TID253 - what is measured

ROOT = Path(__file__).parents[1]
BARE = """
import anyio
from mcp.server.lowlevel import Server  # noqa: TID253 - what is measured
from mcp.server.stdio import stdio_server  # noqa: TID253 - what is measured

async def main():
    server = Server("bare")
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main)
"""
CLIENTS = (1, 8, 32)
CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("search_fleet", {"query": "retry"}),
    ("fleet_overview", {}),
    ("read_working_context", {"memory": "off"}),
)
PORT = 18_766
START_SECONDS = 30


async def start_once(command: Sequence[str], environ: dict[str, str]) -> float:
    """Seconds from spawning a server to the answer of ``initialize``."""
    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=environ)
    started = time.perf_counter()
    async with (
        stdio_client(parameters) as (incoming, outgoing),
        ClientSession(incoming, outgoing) as session,
    ):
        await session.initialize()
        return time.perf_counter() - started


async def starts(environ: dict[str, str], root: str, runs: int) -> None:
    """Print how long both servers take to start, measured in turns."""
    own = [sys.executable, "-m", "agentic_os", "serve", "--root", root]
    bare = [sys.executable, "-c", BARE]
    taken: dict[str, list[float]] = {"bare": [], "agentic-os": []}
    for _ in range(runs):
        taken["bare"].append(await start_once(bare, environ))
        taken["agentic-os"].append(await start_once(own, environ))
    sys.stdout.write("| spawn + initialize | best s | median s |\n|---|---|---|\n")
    for name, seconds in taken.items():
        sys.stdout.write(f"| {name} | {min(seconds):.3f} | {statistics.median(seconds):.3f} |\n")
    ratio = min(taken["agentic-os"]) / min(taken["bare"])
    sys.stdout.write(f"| ratio of the best (at most 1.25) | {ratio:.2f} | |\n\n")


@contextmanager
def http_server(environ: dict[str, str], root: str, token: Path) -> Iterator[tuple[str, int]]:
    """A server on loopback with a rate that the measurement does not reach; URL and pid."""
    code = (
        "import sys, pathlib\n"
        "from agentic_os.aggregate.workspace import Person\n"
        "from agentic_os.server.http import HttpOptions, read_token, serve_http\n"
        "from agentic_os.server.seat import Seat\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "options = HttpOptions(port=int(sys.argv[3]), requests_per_minute=10_000_000)\n"
        "seat = Seat(person=Person.here(), roots=(sys.argv[2],))\n"
        "serve_http(lambda: seat, options, read_token(path.parent, path))\n"
    )
    command = [sys.executable, "-c", code, str(token), root, str(PORT)]
    process = subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{PORT}/mcp"
    try:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            try:
                httpx2.get(url, timeout=1)
                break
            except httpx2.TransportError:
                time.sleep(0.1)
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(START_SECONDS)


async def client_calls(
    url: str, token: str, name: str, arguments: dict[str, object], calls: int, taken: list[float]
) -> None:
    """One client's session: its calls one after the other."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        for _ in range(calls):
            started = time.perf_counter()
            await client.call_tool(name, arguments)
            taken.append(time.perf_counter() - started)


async def calls_of(url: str, token: str, calls: int) -> None:
    """Print the times of calls from 1, 8 and 32 clients at once."""
    sys.stdout.write("| call | clients | calls | p50 ms | p95 ms | calls/s |\n")
    sys.stdout.write("|---|---|---|---|---|---|\n")
    for name, arguments in CALLS:
        for clients in CLIENTS:
            taken: list[float] = []
            each = max(2, calls // clients)
            started = time.perf_counter()
            async with anyio.create_task_group() as group:
                for _ in range(clients):
                    group.start_soon(client_calls, url, token, name, arguments, each, taken)
            whole = time.perf_counter() - started
            cuts = statistics.quantiles(taken, n=20, method="inclusive")
            sys.stdout.write(
                f"| {name} | {clients} | {len(taken)} | {cuts[9] * 1_000:.1f}"
                f" | {cuts[18] * 1_000:.1f} | {len(taken) / whole:.1f} |\n"
            )
            sys.stdout.flush()


def resident_mib(pid: int) -> float | None:
    """Resident memory of a process; ``None`` where the system does not say."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1_048_576


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", default=str(ROOT / "examples/fleet"))
    parser.add_argument("--runs", type=int, default=9, help="starts of each server")
    parser.add_argument("--calls", type=int, default=320, help="calls of each tool and width")
    parser.add_argument("--flat", type=int, default=10_000, help="calls between looks at memory")
    asked = parser.parse_args()
    root = str(Path(asked.root).absolute())
    with tempfile.TemporaryDirectory() as folder:
        environ = environment(Path(folder))
        anyio.run(starts, environ, root, asked.runs)
        token = Path(folder, "token")
        secret = secrets.token_urlsafe(32)
        token.write_text(secret, encoding="ascii")
        token.chmod(0o600)
        with http_server(environ, root, token) as (url, pid):
            anyio.run(calls_of, url, secret, asked.calls)
            before = resident_mib(pid)
            name, arguments = CALLS[0]
            anyio.run(client_calls, url, secret, name, arguments, asked.flat, [])
            after = resident_mib(pid)
            if before is not None and after is not None:
                sys.stdout.write(
                    f"\nresident memory: {before:.1f} MiB, after {asked.flat} more calls"
                    f" {after:.1f} MiB\n"
                )


if __name__ == "__main__":
    main()
