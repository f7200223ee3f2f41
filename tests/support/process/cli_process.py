"""Runs the command line as real processes, bounded in time, with its memory measured."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MODULE = (sys.executable, "-m", "agentic_os")
TIME_LIMIT_SECONDS = 60.0
"""A command that takes this long hangs; nothing here is meant to measure speed."""

# A small process between: the peak that the system keeps for a child starts with that of the
# process it was forked from, and a test runner's is large.
_MEASURE = """
import os, sys
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w") as file:
    file.write(f"{usage.ru_maxrss} {usage.ru_utime + usage.ru_stime}")
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
"""
_PEAK_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a command left behind."""

    code: int
    stdout: bytes
    stderr: bytes
    peak_bytes: int = 0
    cpu_seconds: float = 0.0

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8")

    @property
    def words(self) -> str:
        return self.stderr.decode("utf-8")

    @property
    def document(self) -> dict[str, Any]:
        lines = self.text.splitlines()
        assert len(lines) == 1, self.words
        parsed = json.loads(lines[0])
        assert isinstance(parsed, dict)
        return parsed

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    @property
    def data(self) -> Any:
        return self.document["data"]


def run(
    *arguments: str | Path,
    environ: Mapping[str, str] | None = None,
    current: Path | None = None,
    command: Sequence[str] = MODULE,
    measure: Path | None = None,
    seconds: float = TIME_LIMIT_SECONDS,
) -> Finished:
    """Run one command to its end; a command that does not end in time fails the test.

    Args:
        arguments: of the command.
        environ: variables that differ from this process's own.
        current: the folder it runs in.
        command: what is started, the console module by default.
        measure: a file to pass figures through; without it none are taken.
        seconds: when a command counts as hanging.
    """
    words = [*command, *map(str, arguments)]
    if measure is not None:
        words = [sys.executable, "-c", _MEASURE, str(measure), *words]
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=current,
        env={**os.environ, **(environ or {})},
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise AssertionError(f"hangs: {arguments}") from None
    peak, cpu = 0, 0.0
    if measure is not None:
        figures = measure.read_text().split()
        peak, cpu = int(figures[0]) * _PEAK_UNIT_BYTES, float(figures[1])
    return Finished(
        code=process.returncode,
        stdout=stdout,
        stderr=stderr,
        peak_bytes=peak,
        cpu_seconds=cpu,
    )
