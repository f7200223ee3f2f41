"""A granted command as an MCP server over stdio: bounded, and never left behind.

The library's own stdio transport reads without bound, writes the server's noise to our log, and
leaves behind what a server started once it has exited itself; hence this one. The process:

- is started without a shell, in the project's folder, with a small environment;
- is ended with everything it started, a daemon that left its session included
  (``files.processes``): at the end, when its time is up, when it says too much, when the person
  presses Ctrl-C;
- has no stderr that anybody reads.

This is the only place where a search starts a process, and only ``asking`` calls it, for a
granted endpoint.
"""

import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from agentic_os.files import processes
from agentic_os.files.processes import READ_BYTES
from agentic_os.tiers.engines.values import EngineFault, Meter

if TYPE_CHECKING:
    import anyio
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

    Incoming = MemoryObjectSendStream[SessionMessage | Exception]
    Outgoing = MemoryObjectReceiveStream[SessionMessage]

GRACE_SECONDS = 1.0
"""How long an engine may take to end by itself once stdin is closed."""
TERM_SECONDS = 0.3
"""How long it may take once it was asked to end."""

KEPT_VARIABLES = (
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "TMPDIR",
    "USER",
    "COCOINDEX_CODE_DIR",
)
"""Variables an engine gets of the person's own; no keys are among them."""
SET_VARIABLES: Mapping[str, str] = {
    "COCOINDEX_DISABLE_USAGE_TRACKING": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "NO_COLOR": "1",
}
"""Variables every engine gets: nobody is told about a search."""


def engine_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Build the small environment of an engine."""
    kept = {name: environ[name] for name in KEPT_VARIABLES if name in environ}
    return {**kept, **SET_VARIABLES}


@dataclass(slots=True)
class _Running:
    """A started engine; ``eof`` once it has closed stdout."""

    child: processes.Child
    eof: "anyio.Event"

    @property
    def stdin(self) -> int:
        """The engine's stdin."""
        return _pipe(self.child.process.stdin).fileno()

    @property
    def stdout(self) -> int:
        """The engine's stdout."""
        return _pipe(self.child.process.stdout).fileno()


@asynccontextmanager
async def engine_process(
    words: tuple[str, ...],
    *,
    program: Path,
    folder: Path,
    environ: Mapping[str, str],
    meter: Meter,
) -> AsyncIterator[tuple[Any, Any]]:
    """Run a command and give the two streams that a client session needs.

    Args:
        words: the command.
        program: the file that its first word means.
        folder: where it runs.
        environ: the person's surroundings, of which little is passed on.
        meter: counts what it says; keeps the fault where that is too much.

    Raises:
        EngineFault: ENGINE_NOT_STARTED.
    """
    import anyio

    running = _Running(child=_start(words, program, folder, environ), eof=anyio.Event())
    incoming, read = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
    write, outgoing = anyio.create_memory_object_stream["SessionMessage"](0)
    patient = False
    try:
        with incoming, read, write, outgoing:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_listen, running, incoming, meter)
                tasks.start_soon(_speak, running, outgoing, incoming)
                yield read, write
                # The reader goes on: who waits for a full pipe to empty cannot end.
                read.close()
                patient = True
                await _close_stdin(running)
                with anyio.move_on_after(GRACE_SECONDS):
                    await running.eof.wait()
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(running, gently=not (patient and running.eof.is_set()))


def _start(
    words: tuple[str, ...], program: Path, folder: Path, environ: Mapping[str, str]
) -> processes.Child:
    try:
        child = processes.start(
            words,
            environ=engine_environment(environ),
            folder=folder,
            executable=program,
            stdin=subprocess.PIPE,
        )
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or "it is no command"
        raise EngineFault("ENGINE_NOT_STARTED", f"it cannot be started: {why}") from fault
    for pipe in (child.process.stdin, child.process.stdout):
        os.set_blocking(_pipe(pipe).fileno(), False)
    return child


async def _listen(running: _Running, incoming: "Incoming", meter: Meter) -> None:
    """Pass on the messages the engine says, and skip what is none, until it says too much."""
    import anyio
    from anyio import lowlevel
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    rest = bytearray()
    with incoming:
        while piece := await _piece(running):
            try:
                meter.take(len(piece), piece.count(b"\n"))
            except EngineFault:
                return  # the stream closes, and the session ends
            rest += piece
            if b"\n" not in piece:
                continue
            *lines, rest = rest.split(b"\n")
            for line in lines:
                try:
                    message = jsonrpc_message_adapter.validate_json(bytes(line), by_name=False)
                except ValueError:
                    await lowlevel.checkpoint()
                    continue
                with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    await incoming.send(SessionMessage(message))
        running.eof.set()


async def _piece(running: _Running) -> bytes:
    """Read what the engine says next; empty once it has closed stdout."""
    import anyio

    while True:
        await anyio.wait_readable(running.stdout)
        with suppress(BlockingIOError):
            return os.read(running.stdout, READ_BYTES)


async def _speak(running: _Running, outgoing: "Outgoing", incoming: "Incoming") -> None:
    """Write what the session says to the engine's stdin, until either ends."""
    import anyio

    with outgoing:
        async for said in outgoing:
            text = said.message.model_dump_json(by_alias=True, exclude_unset=True)
            data = memoryview(text.encode("utf-8", "replace") + b"\n")
            while data:
                await anyio.wait_writable(running.stdin)
                try:
                    data = data[os.write(running.stdin, data) :]
                except OSError:
                    incoming.close()  # nobody hears the question: the session ends
                    return


async def _close_stdin(running: _Running) -> None:
    import anyio

    pipe = _pipe(running.child.process.stdin)
    if not pipe.closed:
        anyio.notify_closing(pipe)
        pipe.close()


async def _end(running: _Running, *, gently: bool) -> None:
    """End the engine and everything that it started, and collect it."""
    import anyio

    await _close_stdin(running)
    if gently:
        processes.ask_to_end(running.child)
        await anyio.sleep(TERM_SECONDS)
    anyio.notify_closing(_pipe(running.child.process.stdout))
    processes.end(running.child)


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - it was asked for as a pipe
    return pipe
