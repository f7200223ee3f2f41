"""The host's side of a worker: start it, call it, end it in time (section 17)."""

import fcntl
import json
import os
import selectors
import subprocess
import sys
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Final, Self, cast

from agentic_os.errors import PluginError
from agentic_os.files.processes import Child, end, start
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.sandbox import frames
from agentic_os.plugins.sandbox.limits import OVERTIME_SECONDS, Limits

START_SECONDS: Final = 20.0
PIPE_BYTES: Final = 1024 * 1024
COMPILED_BYTES: Final = 256 * 1024 * 1024
_MODULE: Final = "agentic_os.plugins.sandbox.worker"

HostCall = Callable[[str, bytes], bytes]
"""Answers what a guest asks: the import's name and its text, and the reply."""


class Worker:
    """One running guest in a process of its own. Calls come one at a time.

    After a fault the process is gone; whoever holds it starts another.
    """

    def __init__(self, code: bytes, limits: Limits) -> None:
        """Start the process with compiled code that is ours.

        Raises:
            PluginError: ``PLUGIN_FAULT``, ``PLUGIN_ENGINE_MISSING``.
        """
        self._limits = limits
        self._child = _started()
        # A worker that nobody closes ends with whoever held it, at the latest with the program.
        self._end = weakref.finalize(self, end, self._child)
        try:
            _write(self._child, frames.ORDER, _order(limits, compiling=False))
            _write(self._child, frames.MODULE, code)
            _expect(frames.READY, *_read(self._child, START_SECONDS))
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._child.process.pid

    def call(self, message: bytes, host: HostCall) -> bytes:
        """Pass one message and return the guest's answer, serving what it asks meanwhile.

        Raises:
            PluginError: ``PLUGIN_FAULT``; the process is gone then.
        """
        left = self._limits.wall_seconds + OVERTIME_SECONDS
        try:
            _write(self._child, frames.CALL, message)
            while True:
                began = time.monotonic()
                kind, body = _read(self._child, left)
                left -= time.monotonic() - began
                if kind == frames.ANSWER:
                    return body
                _expect(frames.HOST_CALL, kind, body)
                name, _, asked = body.partition(b"\0")
                _write(self._child, frames.ANSWER, host(name.decode(), asked))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the process; a second time does nothing."""
        self._end()

    def __enter__(self) -> Self:
        """Return the worker."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()


def compile_module(module: bytes, limits: Limits) -> bytes:
    """Compile a core module in a process of its own; return code for this machine and engine.

    Raises:
        PluginError: ``PLUGIN_MODULE_REFUSED``, ``PLUGIN_ENGINE_MISSING``.
    """
    child = _started()
    try:
        _write(child, frames.ORDER, _order(limits, compiling=True))
        _write(child, frames.MODULE, module)
        kind, body = _read(child, limits.compile_seconds + START_SECONDS, COMPILED_BYTES)
    except PluginError:
        raise ERRORS.error(
            "PLUGIN_MODULE_REFUSED", "the module is refused: compiling it takes too much"
        ) from None
    finally:
        end(child)
    if kind == frames.READY:
        return body
    why = body.decode("utf-8", "replace")
    raise ERRORS.error("PLUGIN_MODULE_REFUSED", f"the module is refused: {why}")


def _started() -> Child:
    try:
        import wasmtime  # noqa: F401 - whether the worker could load it
    except ImportError:
        raise ERRORS.error("PLUGIN_ENGINE_MISSING") from None
    child = start([sys.executable, "-I", "-m", _MODULE], environ={}, stdin=subprocess.PIPE)
    for pipe in (child.process.stdin, child.process.stdout):
        # A message in one piece, not in sixteen with a change of process after each.
        with suppress(AttributeError, OSError):
            fcntl.fcntl(cast("IO[bytes]", pipe), fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return child


def _order(limits: Limits, *, compiling: bool) -> bytes:
    return json.dumps({"limits": limits.to_json(), "compile": compiling}).encode()


def _write(child: Child, kind: bytes, body: bytes) -> None:
    pipe = child.process.stdin
    if pipe is None:
        raise _gone()
    try:
        for part in (frames.head(kind, body), body):
            left = memoryview(part)
            while left:
                left = left[os.write(pipe.fileno(), left) :]
    except (OSError, ValueError):
        raise _gone() from None


def _read(
    child: Child, seconds: float, limit_bytes: int = frames.FRAME_BYTES
) -> tuple[bytes, bytes]:
    pipe = child.process.stdout
    if pipe is None:
        raise _gone()
    deadline = time.monotonic() + seconds
    handle = pipe.fileno()
    with selectors.DefaultSelector() as waiting:
        waiting.register(handle, selectors.EVENT_READ)

        def take(size: int) -> bytes:
            parts: list[bytes] = []
            left = size
            while left:
                if not waiting.select(max(deadline - time.monotonic(), 0)):
                    raise ERRORS.error("PLUGIN_FAULT", "wall: the worker did not answer in time")
                piece = os.read(handle, min(left, PIPE_BYTES))
                if not piece:
                    break
                parts.append(piece)
                left -= len(piece)
            return b"".join(parts)

        try:
            return frames.read_frame(take, limit_bytes=limit_bytes)
        except (frames.FrameError, OSError):
            raise _gone() from None


def _gone() -> Exception:
    return ERRORS.error("PLUGIN_FAULT", "exited: the worker is gone")


def _expect(wanted: bytes, kind: bytes, body: bytes) -> None:
    """Go on where a frame is of the wanted kind.

    Raises:
        PluginError: the worker said something else: its guest broke a rule.
    """
    if kind != wanted:
        raise ERRORS.error("PLUGIN_FAULT", body.decode("utf-8", "replace") or "protocol")
