"""Measure two processes that a harness starts: the MCP server, and the session-start hook.

    python benchmarks/mcp_start.py [--runs N] [--projects N]

The server is compared with a bare one of the same library, in turns: seconds and CPU seconds from
spawning it to its answer to ``initialize``, sent as one line. The hook runs whole, warm, on a
synthetic fleet with an AIOS folder beside it, in turns with an interpreter that does nothing.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mcp_folder import write_folder
from measure import environment, run_once
from synthetic_fleet import write_fleet

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
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
Pair = tuple[float, float]


def start_once(command: Sequence[str], environ: Mapping[str, str]) -> Pair:
    """Seconds, and CPU seconds where the system says, until ``initialize`` is answered."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=dict(environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    seconds = time.perf_counter() - started
    cpu = _cpu_seconds(process.pid)
    assert "result" in answer, answer
    process.stdin.close()
    process.wait(60)
    process.stdout.close()
    return seconds, cpu


def _cpu_seconds(pid: int) -> float:
    try:
        words = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(words[11]) + int(words[12])) / TICKS_PER_SECOND


def in_turns(runs: int, **measures: Callable[[], Pair]) -> dict[str, list[Pair]]:
    """Take each measure ``runs`` times, one after the other."""
    taken: dict[str, list[Pair]] = {name: [] for name in measures}
    for _ in range(runs):
        for name, measure in measures.items():
            taken[name].append(measure())
    return taken


def table(title: str, taken: Mapping[str, Sequence[Pair]]) -> None:
    """Print best and median, and the ratio of the last to the first."""
    sys.stdout.write(f"| {title} | best s | median s | best CPU s | median CPU s |\n")
    sys.stdout.write("|---|---|---|---|---|\n")
    rows = {name: _figures(pairs) for name, pairs in taken.items()}
    for name, figures in rows.items():
        sys.stdout.write(f"| {name} | {' | '.join(f'{one:.3f}' for one in figures)} |\n")
    first, *_, last = rows.values()
    ratios = (own / bare for own, bare in zip(last, first, strict=True))
    sys.stdout.write(f"| ratio | {' | '.join(f'{one:.2f}' for one in ratios)} |\n\n")


def _figures(pairs: Sequence[Pair]) -> tuple[float, float, float, float]:
    walls, cpus = zip(*pairs, strict=True)
    return min(walls), statistics.median(walls), min(cpus), statistics.median(cpus)


def hook_once(fleet: Path, environ: Mapping[str, str]) -> Pair:
    """The whole process of one session start, in the folder of a project of the fleet."""
    asked = {
        "session_id": "1",
        "transcript_path": "/x",
        "cwd": str(fleet / "s00002"),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    started = time.perf_counter()
    command = [sys.executable, "-m", "agentic_os", "hook", "session-start", "--root", str(fleet)]
    process = subprocess.Popen(
        command, env=dict(environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(asked).encode())
    process.stdin.close()
    answer = json.loads(process.stdout.read())
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    context = answer["hookSpecificOutput"]["additionalContext"]
    assert "Memory: Shared" in context
    assert "## Fleet: s00002" in context
    return seconds, used.ru_utime + used.ru_stime


def nothing_once(environ: Mapping[str, str]) -> Pair:
    """An interpreter that does nothing."""
    run = run_once([sys.executable, "-c", "pass"], environ)
    return run.wall_s, run.cpu_s


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=15, help="runs of each process")
    parser.add_argument("--projects", type=int, default=100, help="projects of the hook's fleet")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, fleet = Path(folder, "home"), Path(folder, "fleet")
        write_folder(home / "aios", notes=0)
        write_fleet(fleet, projects=asked.projects)
        environ = environment(home)
        own = [sys.executable, "-m", "agentic_os", "serve", "--root", str(ROOT / "examples/fleet")]
        bare = [sys.executable, "-c", BARE]
        starts = {
            "bare server": lambda: start_once(bare, environ),
            "agentic-os serve": lambda: start_once(own, environ),
        }
        sys.stdout.write(f"load before: {os.getloadavg()[0]:.1f}\n\n")
        table("spawn to initialize", in_turns(asked.runs, **starts))
        hook_once(fleet, environ)
        hooks = {
            "an interpreter that does nothing": lambda: nothing_once(environ),
            f"session-start, {asked.projects} projects, warm": lambda: hook_once(fleet, environ),
        }
        table("whole process", in_turns(asked.runs, **hooks))
        sys.stdout.write(f"load after: {os.getloadavg()[0]:.1f}\n")


if __name__ == "__main__":
    main()
