"""What one ``agentic-os ledger append`` takes at a ledger of many lines, beside a running witness.

    python benchmarks/ledger_append.py [--lines 10000] [--runs 7] [--json FILE]

A ledger of real signed lines is made, a witness runs in a process of its own, and the command
runs as people run it: a process from nothing to its exit, which boots, verifies, appends one line
and brings the new head before the witness. Wall and CPU seconds of that process, medians; beside
them the command's help (what a start takes), and the same append without the verified head (every
signature is checked) and with neither head nor witness.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from agentic_os.ledger.file.head import HEAD_NAME
from support.ledger.actors import booted, born, notes
from support.witness.actors import new_witness

BATCH_LINES = 250
_SLOWING = frozenset({"PYTHONDONTWRITEBYTECODE"})
"""An installed command finds its modules compiled."""
SERVER = (
    "import sys; from pathlib import Path;"
    "from agentic_os.witness.service.config import read_witness_config;"
    "from agentic_os.witness.service.server import serve_witness;"
    "serve_witness(read_witness_config(Path(sys.argv[1])),"
    " started=lambda host, port: print(port, flush=True))"
)


@dataclass
class Row:
    """One case."""

    case: str
    lines: int
    wall_s: float
    cpu_s: float
    signatures: str


@contextmanager
def running_witness(folder: Path) -> Iterator[str]:
    """A witness in a process of its own; its line of a policy."""
    home = new_witness(folder, name="witness.example/w1")
    (home / "witness.toml").write_text("port = 0\nrequests_per_minute = 0\n")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(home)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert server.stdout
        port = int(server.stdout.readline())
        vkey = (home / "cosigner.vkey").read_text().strip()
        yield f"witness w1 {vkey} http://127.0.0.1:{port}\n"
    finally:
        server.terminate()
        server.wait(20)


def taken(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and children's CPU seconds."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return time.perf_counter() - started, cpu


class Command:
    """The command line in an environment of its own."""

    def __init__(self, place: Path) -> None:
        self._environ = {
            **{name: value for name, value in os.environ.items() if name not in _SLOWING},
            **{f"AGENTIC_OS_{name.upper()}_DIR": str(place / name) for name in ("data", "config")},
        }

    def __call__(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "agentic_os", *words],
            env=self._environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout


def measure(lines: int, runs: int) -> Iterator[Row]:
    """Make, measure, throw away."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folder = born(place / "data" / "identity")
        with booted(folder) as identity:
            for first in range(1, lines, BATCH_LINES):
                identity.append("agent", notes(*range(first, min(first + BATCH_LINES, lines))))
        command, number = Command(place), 0

        def append() -> None:
            nonlocal number
            number += 1
            payload = json.dumps({"id": f"note_{number}", "content": "measured"})
            command("ledger", "append", "working.note", payload)

        def row(case: str, work: Callable[[], object]) -> Row:
            both = [taken(work) for _ in range(runs)]
            wall, cpu = (statistics.median(one) for one in zip(*both, strict=True))
            signatures = "" if case == "help" else signatures_of(command)
            return Row(case=case, lines=lines, wall_s=wall, cpu_s=cpu, signatures=signatures)

        yield row("help", lambda: command("ledger", "append", "--help"))
        yield row("no witness, no head", append)
        with running_witness(place / "w1") as line:
            (place / "config").mkdir(exist_ok=True)
            (place / "config" / "witnesses.policy").write_text(f"{line}quorum w1\n")
            command("ledger", "bookmark")
            yield row("witness and verified head", append)

            def append_without_head() -> None:
                (folder / HEAD_NAME).unlink()
                append()

            yield row("witness, no head", append_without_head)


def signatures_of(command: Command) -> str:
    """What a boot says of the signatures: how many were checked, how many were not."""
    report = json.loads(command("ledger", "boot", "--json"))["data"]["verify"]
    return f"{report['signatures_checked']} checked, {report['signatures_skipped']} not"


def main() -> None:
    parser = argparse.ArgumentParser(description="One append at a long ledger.")
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    rows = []
    for row in measure(options.lines, options.runs):
        rows.append(asdict(row))
        print(
            f"{row.case:28} wall {row.wall_s:6.2f} s   CPU {row.cpu_s:6.2f} s   {row.signatures}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
