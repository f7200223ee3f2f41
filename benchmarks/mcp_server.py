"""Measure the calls of an MCP server: from many clients at once, and very many of them.

    python benchmarks/mcp_server.py [--calls N] [--notes N] [--flat N] [--projects N]

Prints tables and records nothing. Calls go to one HTTP server on loopback, from 1, 8 and 32
clients at once, on the example fleet and an AIOS folder of thousands of Markdown files; resident
memory is looked at while many more calls are answered. Then a large fleet is asked: the CPU time of
each question once the fleet stands. ``mcp_start.py`` measures the start.
"""

import argparse
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp_folder import write_folder
from measure import environment
from synthetic_fleet import write_fleet

from agentic_os.aggregate.workspace import Person
from agentic_os.server.served import ServedPerson
from agentic_os.server.tools.calls import call
from mcp import Client

ROOT = Path(__file__).parents[1]
CLIENTS = (1, 8, 32)
CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("search_fleet", {"query": "retry"}),
    ("fleet_overview", {}),
    ("query_graph", {"operation": "impact", "name": "post_entry"}),
    ("read_working_context", {}),
    ("search_aios", {"query": "rollout", "scope": "memory"}),
    ("resolve_skill", {"intent": "cut a release"}),
)
LIGHT: tuple[str, dict[str, object]] = ("resolve_skill", {"intent": "x", "memory": "off"})
LOOKS = 5
"""How often memory is looked at while very many calls are answered."""
PORT = 18_766
START_SECONDS = 30
QUESTIONS = (
    "apply",
    "baban",
    "e",
    "be",
    "rare-7-marker",
    "apply baban dedel kigor lomas zzyzx",
    "how to apply the baban of a dedel",
    "C++",
)
"""A word of every fact, one of a fifth of them, one and two letters, a name in one fact, six words
of which one is nowhere, a sentence, and a name by its punctuation."""
ASKED = 7
"""How often each of them is asked; the median counts."""


@contextmanager
def http_server(environ: dict[str, str], root: str, token: Path) -> Iterator[tuple[str, int]]:
    """A server on loopback with a rate that the measurement does not reach; URL and pid."""
    code = (
        "import sys, pathlib\n"
        "from agentic_os.aggregate.workspace import Person\n"
        "from agentic_os.server.transport.http import HttpOptions, read_token, serve_http\n"
        "from agentic_os.server.served import ServedPerson\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "options = HttpOptions(port=int(sys.argv[3]), requests_per_minute=10_000_000)\n"
        "served = ServedPerson(person=Person.here(), roots=(sys.argv[2],))\n"
        "serve_http(lambda: served, options, read_token(path.parent, path))\n"
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
        for clients in CLIENTS if calls else ():
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


def resident_mib(pid: int) -> float:
    """Resident memory of a process; not a number where the system does not say."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE") / 1_048_576


async def many_calls(url: str, token: str, pid: int, calls: int, every: int) -> None:
    """Print the resident memory while ``calls`` calls are answered.

    Every ``every``-th is one of the tools in turn, the others ask for nothing to be read.
    """
    sys.stdout.write("\n| calls | resident MiB |\n|---|---|\n")
    sys.stdout.write(f"| 0 | {resident_mib(pid):.1f} |\n")
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        for done in range(calls):
            light = done % every
            name, arguments = LIGHT if light else CALLS[done // every % len(CALLS)]
            answer = await client.call_tool(name, arguments)
            assert not answer.is_error, answer
            if (done + 1) % (calls // LOOKS) == 0:
                sys.stdout.write(f"| {done + 1} | {resident_mib(pid):.1f} |\n")
                sys.stdout.flush()


def questions_at_scale(folder: Path, environ: dict[str, str], projects: int) -> None:
    """Print the CPU time of questions that a standing server is asked."""
    fleet = folder / "fleet"
    write_fleet(fleet, projects=projects)
    person = Person(environ=environ, home=folder, current=folder)
    served = ServedPerson(person=person, roots=(str(fleet),))
    started = time.process_time()
    with served.workspace():
        pass
    sys.stdout.write(f"\n{projects} projects, first look: {time.process_time() - started:.1f} s\n")
    sys.stdout.write("\n| question | total | CPU ms |\n|---|---|---|\n")
    for question in QUESTIONS:
        taken = []
        for _ in range(ASKED):
            begun = time.thread_time()
            answer = call(served, "full", "search_fleet", {"query": question})
            taken.append(time.thread_time() - begun)
        total = answer.document["data"]["total"]
        cost = statistics.median(taken) * 1_000
        sys.stdout.write(f"| {question} | {total} | {cost:.1f} |\n")
        sys.stdout.flush()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", default=str(ROOT / "examples/fleet"))
    parser.add_argument("--calls", type=int, default=320, help="calls of each tool and width")
    parser.add_argument("--notes", type=int, default=3_300, help="Markdown files of the folder")
    parser.add_argument("--flat", type=int, default=10_000, help="calls while memory is looked at")
    parser.add_argument("--every", type=int, default=1, help="only every N-th of those reads")
    parser.add_argument("--projects", type=int, default=5_000, help="projects that are asked")
    asked = parser.parse_args()
    root = str(Path(asked.root).absolute())
    with tempfile.TemporaryDirectory() as folder:
        write_folder(Path(folder, "aios"), notes=asked.notes)
        environ = environment(Path(folder))
        token = Path(folder, "token")
        secret = secrets.token_urlsafe(32)
        token.write_text(secret, encoding="ascii")
        token.chmod(0o600)
        sys.stdout.write(f"load before: {os.getloadavg()[0]:.1f}\n\n")
        with http_server(environ, root, token) as (url, pid):
            anyio.run(calls_of, url, secret, asked.calls)
            if asked.flat:
                anyio.run(many_calls, url, secret, pid, asked.flat, asked.every)
        if asked.projects:
            questions_at_scale(Path(folder), environ, asked.projects)
        sys.stdout.write(f"\nload after: {os.getloadavg()[0]:.1f}\n")


if __name__ == "__main__":
    main()
