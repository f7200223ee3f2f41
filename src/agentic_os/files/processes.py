"""Child processes of our own: bounded, and never left behind.

Rules:

- a child is started without a shell and leads a session of its own;
- ending a child ends its whole session, and what left that session: a daemon has another
  session and another parent, but it inherits its environment, so every child carries a mark
  there (``MARK``), and processes with that mark are ended as well. Elsewhere than on Linux
  nobody's environment can be read, and only the session is ended;
- a process is looked at and signalled through one handle, so a number that the system gives
  to somebody else meanwhile is never signalled;
- what a child says is read up to a bound, within a time.

A service that was running before, and that a child only talks to, has no mark and is left alone.
"""

import os
import secrets
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MAX_COMMAND_WORDS = 100
"""Words of a command that a settings file may name."""
MARK = "AGENTIC_OS_CHILD"
"""The environment variable that every child inherits to its own children."""
MAX_SWEEPS = 20
"""Looks for marked processes: one that forks while it is looked for needs another look."""
END_SECONDS = 5.0
"""How long a child that closed its output, or was ended, may take to be gone."""

_PROCESSES = Path("/proc")
READ_BYTES = 64 * 1024
"""What is read from a pipe at once."""
_TOKEN_BYTES = 16

_running: dict[int, "Child"] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A started process, the leader of its session, and the mark it carries."""

    process: "subprocess.Popen[bytes]"
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a child said, and how it ended.

    Attributes:
        status: its exit status; negative if a signal ended it.
        output: its stdout, at most as much as was allowed.
        errors: its stderr, likewise.
        cut: whether it was ended because it said more.
    """

    status: int
    output: bytes
    errors: bytes
    cut: bool


def start(
    words: Sequence[str],
    *,
    environ: Mapping[str, str],
    folder: Path | None = None,
    executable: Path | None = None,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stderr: int = subprocess.DEVNULL,
) -> Child:
    """Start a program; its stdout is a pipe. Whoever starts it must end it.

    Args:
        words: the program and its arguments.
        environ: its whole environment, the mark apart.
        folder: where it runs; here if ``None``.
        executable: the file that is run, if it is not the first word's.
        stdin: what it reads.
        stderr: where its words on stderr go.

    Raises:
        OSError: it cannot be started.
        ValueError: the words are no command.
    """
    mark = secrets.token_hex(_TOKEN_BYTES)
    process = subprocess.Popen(
        words,
        executable=executable,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=folder,
        env={**environ, MARK: mark},
        start_new_session=True,
        bufsize=0,
    )
    child = Child(process=process, mark=mark)
    _running[process.pid] = child
    return child


def ask_to_end(child: Child) -> None:
    """Send SIGTERM to a child's session."""
    _signal_session(child.process.pid, signal.SIGTERM)


def end(child: Child) -> None:
    """End a child, its session and what left it; collect it and close its pipes."""
    # The system gives a session's number to nobody else while one of its members lives.
    _kill(child)
    _running.pop(child.process.pid, None)
    for pipe in (child.process.stdin, child.process.stdout, child.process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    with suppress(subprocess.TimeoutExpired):
        child.process.wait(END_SECONDS)


def end_all() -> None:
    """End every child at once: for a process that leaves without unwinding its threads."""
    for child in tuple(_running.values()):
        _kill(child)


def run(
    words: Sequence[str],
    *,
    environ: Mapping[str, str],
    seconds: float,
    limit_bytes: int,
    folder: Path | None = None,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    with_errors: bool = False,
) -> Finished:
    """Run a program to its end.

    Args:
        words: the program and its arguments.
        environ: its whole environment.
        seconds: how long it may take.
        limit_bytes: how much it may say on each stream.
        folder: where it runs.
        stdin: what it reads.
        with_errors: read its stderr too.

    Raises:
        TimeoutError: it took longer, and was ended.
        OSError: it cannot be started.
        ValueError: the words are no command.
    """
    child = start(
        words,
        environ=environ,
        folder=folder,
        stdin=stdin,
        stderr=subprocess.PIPE if with_errors else subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + seconds
        said, cut = _said(child, deadline, limit_bytes)
        if not cut:
            try:
                child.process.wait(max(0.0, deadline - time.monotonic()) + END_SECONDS)
            except subprocess.TimeoutExpired as fault:
                raise TimeoutError from fault
    finally:
        end(child)
    output, errors = said
    return Finished(
        status=child.process.returncode or 0,
        output=output[:limit_bytes],
        errors=errors[:limit_bytes],
        cut=cut,
    )


def _said(child: Child, deadline: float, limit_bytes: int) -> tuple[tuple[bytes, bytes], bool]:
    """Read a child's streams until both are closed; whether one of them said too much."""
    pipes = (child.process.stdout, child.process.stderr)
    said = {pipe: bytearray() for pipe in pipes if pipe is not None}
    cut = False
    with selectors.DefaultSelector() as waiting:
        for pipe in said:
            waiting.register(pipe, selectors.EVENT_READ, pipe)
        while waiting.get_map() and not cut:
            left = deadline - time.monotonic()
            ready = waiting.select(left) if left > 0 else ()
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                piece = os.read(key.fd, READ_BYTES)
                if not piece:
                    waiting.unregister(key.fileobj)
                said[key.data] += piece
                cut = cut or len(said[key.data]) > limit_bytes
    output, errors = (b"" if pipe is None else bytes(said[pipe]) for pipe in pipes)
    return (output, errors), cut


def _kill(child: Child) -> None:
    _signal_session(child.process.pid, signal.SIGKILL)
    for _ in range(MAX_SWEEPS):
        if not _kill_marked(f"{MARK}={child.mark}".encode()):
            return
        # What was signalled may take a moment to be gone.
        time.sleep(0)


def _signal_session(session: int, number: signal.Signals) -> None:
    # macOS answers EPERM where only the collected-to-be leader is left.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(session, number)


def _kill_marked(mark: bytes) -> int:
    """Send SIGKILL to every process that carries a mark; return how many did."""
    if not hasattr(os, "pidfd_open"):
        return 0
    found = 0
    with suppress(OSError), os.scandir(_PROCESSES) as entries:
        for entry in entries:
            if entry.name.isdigit():
                found += _kill_if_marked(int(entry.name), mark)
    return found


def _kill_if_marked(number: int, mark: bytes) -> bool:
    try:
        # A first look without a handle: nearly every process is somebody else's.
        if not _carries(number, mark):
            return False
        handle = os.pidfd_open(number)
    except OSError:
        return False
    try:
        if not _carries(number, mark):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _carries(number: int, mark: bytes) -> bool:
    # Of one that has ended but is not collected yet the environment is empty.
    return mark in (_PROCESSES / str(number) / "environ").read_bytes().split(b"\0")
