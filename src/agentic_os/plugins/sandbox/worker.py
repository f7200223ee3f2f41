"""The worker process: it compiles a module, or runs one guest; it has no keys, paths or network.

Started by ``sandbox.process`` with an empty environment. It gives up what it can before it reads
anything of a plugin: files, core dumps, new rights, and where the system lets it, every network.
"""

import ctypes
import json
import os
import resource
import sys
import threading
from contextlib import suppress
from typing import Any, BinaryIO

import wasmtime

from agentic_os.plugins.sandbox import frames
from agentic_os.plugins.sandbox.guest import Guest, GuestFault, check_module, engine_for, keep_time
from agentic_os.plugins.sandbox.limits import OPEN_FILES, WORKER_BYTES, Limits

ARTIFACT_BYTES = 256 * 1024 * 1024
"""The longest frame that carries a module or its compiled code."""
LIFETIME_CPU_SECONDS = 600
_NO_NEW_PRIVILEGES, _DUMPABLE = 38, 4
_NEW_NETWORK = 0x40000000 | 0x10000000 | 0x08000000  # network, user and IPC namespaces


def main() -> None:
    """Read what is to be done from stdin, do it, and answer on stdout."""
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    order: dict[str, Any] = json.loads(frames.read_frame(source.read)[1])
    limits = Limits.from_json(order["limits"])
    compiling = order["compile"]
    _give_up(
        limits.compile_seconds if compiling else LIFETIME_CPU_SECONDS,
        limits.compile_bytes if compiling else WORKER_BYTES,
    )
    _, artifact = frames.read_frame(source.read, limit_bytes=ARTIFACT_BYTES)
    try:
        if compiling:
            _send(sink, frames.READY, _compiled(artifact, limits))
        else:
            _run(artifact, limits, source, sink)
    except GuestFault as fault:
        _send(sink, frames.FAULT, str(fault).encode())


def _compiled(module: bytes, limits: Limits) -> bytes:
    engine = engine_for(limits)
    try:
        made = wasmtime.Module(engine, module)
    except wasmtime.WasmtimeError as fault:
        raise GuestFault("module", str(fault).splitlines()[0][:200]) from None
    check_module(made, limits)
    return bytes(made.serialize())


def _run(code: bytes, limits: Limits, source: BinaryIO, sink: BinaryIO) -> None:
    engine = engine_for(limits)
    keep_time(engine, threading.Event())

    def ask(name: str, text: bytes) -> bytes:
        _send(sink, frames.HOST_CALL, name.encode() + b"\0" + text)
        return frames.read_frame(source.read)[1]

    guest = Guest(engine, wasmtime.Module.deserialize(engine, code), limits, ask)
    _send(sink, frames.READY, b"")
    while True:
        try:
            _, message = frames.read_frame(source.read)
        except frames.FrameError:
            return
        _send(sink, frames.ANSWER, guest.invoke(message))


def _send(sink: BinaryIO, kind: bytes, body: bytes) -> None:
    sink.write(frames.head(kind, body))
    sink.write(body)
    sink.flush()


def _give_up(cpu_seconds: int, memory_bytes: int) -> None:
    """Narrow what this process may do; what the system refuses is left as it is."""
    for what, bound in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_AS, memory_bytes),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (bound, bound))
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        libc.prctl(_DUMPABLE, 0, 0, 0, 0)
        libc.unshare(_NEW_NETWORK)


if __name__ == "__main__":
    main()
