"""Whole-process measurements: user + system CPU, wall clock and peak memory of finished runs."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One finished process."""

    cpu_s: float
    wall_s: float
    peak_mib: float
    status: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Medians of several runs, with the extremes of CPU."""

    cpu_s: float
    cpu_min_s: float
    cpu_max_s: float
    wall_s: float
    peak_mib: float


def run_once(
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    accept: Sequence[int] = (0,),
    cwd: Path | None = None,
) -> Run:
    """Run a command to its end; its output is thrown away."""
    started = time.perf_counter()
    with Path(os.devnull).open("wb") as null:
        process = subprocess.Popen(command, env=dict(environ), stdout=null, stderr=null, cwd=cwd)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    if process.returncode not in accept:
        message = f"{' '.join(command)} ended with {process.returncode}"
        raise RuntimeError(message)
    scale = 1024 if sys.platform == "linux" else 1024 * 1024
    return Run(
        cpu_s=used.ru_utime + used.ru_stime,
        wall_s=wall,
        peak_mib=used.ru_maxrss / scale,
        status=process.returncode,
    )


def median(runs: Sequence[Run]) -> Figure:
    """Summarise runs of one command."""
    cpu = [run.cpu_s for run in runs]
    return Figure(
        cpu_s=statistics.median(cpu),
        cpu_min_s=min(cpu),
        cpu_max_s=max(cpu),
        wall_s=statistics.median(run.wall_s for run in runs),
        peak_mib=statistics.median(run.peak_mib for run in runs),
    )


def environment(home: Path) -> dict[str, str]:
    """An environment whose every place lies below ``home``."""
    places = {
        f"AGENTIC_OS_{name}_DIR": str(home / name.lower())
        for name in ("CONFIG", "DATA", "CACHE", "STATE")
    }
    return {**os.environ, **places, "HOME": str(home), "DOTAIOS_PATH": str(home / "aios")}
