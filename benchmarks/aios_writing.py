"""Measure what writing to an AIOS folder costs, and that it does not grow with the folder.

    python benchmarks/aios_writing.py [--runs N] [--hooks N]

Two folders, one a hundred times as large: 60 and 6,000 captured sessions, 400 and 40,000
archived events. The verbs run in one process, in turns; CPU milliseconds, the median of the runs.
``update`` looks at what is live and must stay flat; a brief reads the index of sessions,
``capture`` rewrites it and ``search`` reads everything: these may grow with the folder, no faster.
Then the Stop hook of Claude Code, as a process of its own in the large folder, with a transcript
that has grown by two turns each time: wall-clock milliseconds, from start to end.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agentic_os.aios.birth.answers import Answers
from agentic_os.aios.birth.init import InitRequest, init
from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.notes.brief import write_brief
from agentic_os.aios.notes.update import update
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.request import search_aios
from agentic_os.aios.sessions.capture import CaptureRequest, capture
from agentic_os.aios.sessions.codec import Session, Turn, encode_body, render, row_of
from agentic_os.aios.sessions.store import index_bytes
from agentic_os.aios.sessions.transcripts import Transcript

SESSIONS, EVENTS = 60, 400
FACTOR = 100
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SHARED = resolve_policy()
SHARD_LINES = 12_000


def folder(root: Path, factor: int) -> AiosAccess:
    """A folder with sessions and archived events."""
    access = AiosAccess(root=root, clock=lambda: NOW)
    init(access, InitRequest(answers=Answers(name="Ada")))
    rows = []
    for number in range(SESSIONS * factor):
        moment = NOW - timedelta(minutes=30 * number)
        turns = [
            Turn(role="user", content=f"Question {number}"),
            Turn(role="assistant", content="x" * 400),
        ]
        session = Session(
            session_id=f"{number:08x}"[::-1],
            agent="claude-code",
            captured_at=moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            source_type="claude-code",
            source_path=f"~/.claude/projects/-a/{number}.jsonl",
            title=f"Question {number}",
            body=encode_body(turns),
            turns=2,
        )
        path = root / session.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(render(session))
        rows.append(row_of(session))
    (root / "memory/sessions/index.jsonl").write_bytes(index_bytes(rows))
    lines = [
        json.dumps({"ts": "2026-10-01T00:00:00Z", "type": "update", "summary": f"archived {n}"})
        + "\n"
        for n in range(EVENTS * factor)
    ]
    for at in range(0, len(lines), SHARD_LINES):
        shard = root / f"memory/events-archive.{at // SHARD_LINES + 1:06d}.jsonl"
        shard.write_text("".join(lines[at : at + SHARD_LINES]))
    return access


def verbs(access: AiosAccess) -> dict[str, Callable[[int], object]]:
    """What is measured, each with the number of the run."""

    def take(run: int) -> object:
        turns = [Turn(role="user", content=f"New question {run}")]
        asked = CaptureRequest(
            transcript=Transcript(agent="claude-code", turns=turns, title=f"New {run}"),
            source_type="claude-code",
            source_path=f"/tmp/new-{run}.jsonl",  # noqa: S108 - a name, nothing is read there
        )
        return capture(access, SHARED, asked)

    def brief(run: int) -> object:
        now = NOW + timedelta(seconds=run)
        return write_brief(replace(access, clock=lambda: now), SHARED)

    return {
        "update": lambda run: update(access, SHARED, f"update {run}"),
        "brief (written)": brief,
        "brief (compact)": lambda _: read_brief(access, SHARED),
        "capture": take,
        "search": lambda _: search_aios(access, SHARED, query="needle"),
    }


def hook_times(root: Path, home: Path, runs: int) -> list[float]:
    """Run the hook for a growing transcript; the seconds of each run."""
    transcript = home / ".claude/projects/-a/grown.jsonl"
    transcript.parent.mkdir(parents=True)
    environ = {**os.environ, "HOME": str(home), "DOTAIOS_PATH": str(root)}
    environ.pop("CLAUDE_CONFIG_DIR", None)
    command = [sys.executable, "-I", "-m", "agentic_os", "aios", "capture", "hook", "claude-code"]
    given = json.dumps({"transcript_path": str(transcript), "cwd": str(home), "session_id": "s"})
    spent = []
    for run in range(runs):
        with transcript.open("a") as file:
            for role in ("user", "assistant"):
                message = {"role": role, "content": f"{role} of run {run} " + "y" * 400}
                moment = "2026-11-30T08:00:00.000Z"
                row = {"type": role, "message": message, "timestamp": moment}
                file.write(json.dumps(row) + "\n")
        started = time.perf_counter()
        subprocess.run(command, input=given, text=True, env=environ, check=True)
        spent.append(time.perf_counter() - started)
        document = next((root / "memory/sessions/2026-11-30").glob("2026-11-30T08-00-00_*"))
        if f"run {run} " not in document.read_text():
            raise SystemExit("the hook captured nothing")
    return spent


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--hooks", type=int, default=40)
    options = parser.parse_args()
    runs = options.runs
    with tempfile.TemporaryDirectory() as place:
        small = verbs(folder(Path(place) / "small", 1))
        large = verbs(folder(Path(place) / "large", FACTOR))
        print(f"CPU milliseconds, median of {runs}; the large folder is {FACTOR} times as large")
        print("verb\tsmall\tlarge\tratio")
        for name in small:
            spent: dict[int, list[float]] = {0: [], 1: []}
            for run in range(runs):
                for side, action in enumerate((small[name], large[name])):
                    started = time.process_time()
                    action(run)
                    spent[side].append(time.process_time() - started)
            one, other = (1000 * statistics.median(spent[side]) for side in (0, 1))
            print(f"{name}\t{one:.1f}\t{other:.1f}\t{other / one:.1f}")
        print(f"wall-clock milliseconds of {options.hooks} hooks, the large folder")
        taken = hook_times(Path(place) / "large", Path(place) / "home", options.hooks)
        cuts = statistics.quantiles(taken, n=20)
        print(f"hook\tp50 {1000 * cuts[9]:.0f}\tp95 {1000 * cuts[18]:.0f}")


if __name__ == "__main__":
    main()
