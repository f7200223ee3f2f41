"""Plugins: a call, a host call, a message, a start, and reading a package; as ratios in one run.

The yardstick of calls is an instance and one call of the same guest within this process, without
messages or a worker. With ``--extism`` (``pip install extism``) its plugin does the same.
"""

import argparse
import io
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import wasmtime  # noqa: E402 - after the path of the support code

from agentic_os.plugins.package.contents import read_package  # noqa: E402
from agentic_os.plugins.sandbox.guest import Guest, engine_for, keep_time  # noqa: E402
from agentic_os.plugins.sandbox.limits import Limits  # noqa: E402
from agentic_os.plugins.sandbox.process import Worker, compile_module  # noqa: E402
from support.plugins import guests  # noqa: E402
from support.plugins.hosting import FakeWorld, allow, open_house, running  # noqa: E402
from support.plugins.packages import ECHO_ID, Recipe, request  # noqa: E402

EXTISM_GUEST = """(module
 (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
 (import "extism:host/env" "output_set" (func $out (param i64 i64)))
 (memory (export "memory") 1)
 (func (export "echo") (result i32)
   (call $out (call $alloc (i64.const 16)) (i64.const 16)) (i32.const 0)))"""


def measured(runs: int, action: Callable[[], object]) -> tuple[float, float]:
    """Return median and 95th percentile of a call in milliseconds."""
    action()
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        action()
        times.append((time.perf_counter() - began) * 1_000)
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.95)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--extism", action="store_true")
    asked = parser.parse_args()
    limits = Limits()
    engine = engine_for(limits)
    keep_time(engine, threading.Event())
    module = wasmtime.Module(engine, guests.echo())
    text = b'{"a":1}'
    rows: dict[str, tuple[float, float]] = {}
    rows["fresh instance and one call, in process"] = measured(
        asked.runs, lambda: Guest(engine, module, limits, lambda _name, one: one).invoke(text)
    )
    guest = Guest(engine, module, limits, lambda _name, one: one)
    rows["warm call, in process"] = measured(asked.runs, lambda: guest.invoke(text))
    code = compile_module(guests.echo(), limits)
    with Worker(code, limits) as worker:
        rows["warm call through the worker"] = measured(
            asked.runs, lambda: worker.call(text, lambda _name, one: one)
        )
        large = b"x" * (1024 * 1024)
        rows["message of 1 MiB through the worker"] = measured(
            20, lambda: worker.call(large, lambda _name, one: one)
        )
    asking = compile_module(guests.caller([request("kv.list")]), limits)
    with Worker(asking, limits) as worker:
        rows["warm call with one host call, through the worker"] = measured(
            100, lambda: worker.call(text, lambda _name, _one: b"{}")
        )
    large_guest = Guest(engine, module, limits, lambda _name, one: one)
    rows["message of 1 MiB, in process"] = measured(20, lambda: large_guest.invoke(large))
    rows["start of a worker"] = measured(10, lambda: Worker(code, limits).close())
    with tempfile.TemporaryDirectory() as folder:
        house = open_house(Path(folder))
        recipe = Recipe(
            module=guests.caller([request("kv.list")]),
            capabilities=("ring4.kv",),
            extra={"install-root/variants/data/x.bin": os.urandom(1_000_000)},
        )
        packed = recipe.packed()
        rows["strict read of a package of 1 MB"] = measured(
            20, lambda: read_package(io.BytesIO(packed))
        )
        small = Recipe(module=recipe.module, capabilities=recipe.capabilities)
        allow(house, small, "ring4.kv")
        with running(house, small, FakeWorld()) as host:
            rows["one host call with its checks and a synced receipt"] = measured(
                100, lambda: host.call(ECHO_ID, "core.echo", {})
            )
    if asked.extism:
        import extism  # noqa: PLC0415 - installed by whoever compares

        made = extism.Plugin(bytes(wasmtime.wat2wasm(EXTISM_GUEST)))
        rows["extism: warm call"] = measured(asked.runs, lambda: made.call("echo", text))
    base = rows["warm call, in process"][0]
    sys.stdout.write(f"load: {os.getloadavg()[0]:.1f}\n\n")
    sys.stdout.write("| what | p50 ms | p95 ms | of a warm call in process |\n|---|---|---|---|\n")
    for name, (middle, high) in rows.items():
        sys.stdout.write(f"| {name} | {middle:.3f} | {high:.3f} | {middle / base:.1f} |\n")


if __name__ == "__main__":
    main()
