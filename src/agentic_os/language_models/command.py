"""A model behind a command: the prompt on stdin, the answer on stdout.

The command is started without a shell, in an empty private folder that is deleted afterwards, in
a session of its own, so that it is ended with everything it started: when its time is up, when it
says too much, or when the person presses Ctrl-C.
"""

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from agentic_os.errors import ModelError
from agentic_os.language_models.interface import MAX_REPLY_BYTES, Prompt, Reply, bounded

_READ_BYTES = 64 * 1024
_END_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandProvider:
    """A command of the person's settings; see ``choice``."""

    words: tuple[str, ...]
    limit_seconds: float
    environ: Mapping[str, str] = field(repr=False)

    @property
    def name(self) -> str:
        """The program, without folder and arguments."""
        return f"command {Path(self.words[0]).name}"

    def complete(self, prompt: Prompt) -> Reply:
        """Ask the model.

        Raises:
            ModelError: MODEL_UNREACHABLE (it cannot be started), MODEL_REFUSED (it failed),
                MODEL_TIMED_OUT or MODEL_ANSWER_INVALID (it said nothing).
        """
        with (
            tempfile.TemporaryDirectory(prefix="agentic-os-model-") as folder,
            tempfile.TemporaryFile() as asked,
        ):
            asked.write(f"{prompt.system}\n\n{prompt.user}\n".encode("utf-8", "replace"))
            asked.seek(0)
            process = self._started(folder, asked)
            try:
                data, cut = self._answer(process)
            finally:
                _end(process)
        if process.returncode and not cut:
            raise ModelError(
                f"{self.name} failed with exit code {process.returncode}",
                code="MODEL_REFUSED",
                hint="Run it by hand with a prompt on stdin to see why.",
            )
        text = data.decode("utf-8", "replace")
        if not text.strip():
            raise ModelError(f"{self.name} said nothing", code="MODEL_ANSWER_INVALID")
        return bounded(text, cut=cut)

    def _started(self, folder: str, asked: IO[bytes]) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(
                self.words,
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env=dict(self.environ),
                start_new_session=True,
            )
        except OSError as fault:
            raise ModelError(
                f"{self.name} cannot be started: {fault.strerror}",
                code="MODEL_UNREACHABLE",
                hint="Check the command in projects.toml.",
            ) from fault

    def _answer(self, process: "subprocess.Popen[bytes]") -> tuple[bytes, bool]:
        """What the command says until it closes stdout, and whether that was cut off."""
        deadline = time.monotonic() + self.limit_seconds
        data = b""
        with selectors.DefaultSelector() as waiting:
            assert process.stdout is not None  # noqa: S101 - it was asked for as a pipe
            waiting.register(process.stdout, selectors.EVENT_READ)
            while len(data) <= MAX_REPLY_BYTES:
                left = deadline - time.monotonic()
                if left <= 0 or not waiting.select(left):
                    raise self._late()
                piece = os.read(process.stdout.fileno(), _READ_BYTES)
                if not piece:
                    break
                data += piece
        if len(data) > MAX_REPLY_BYTES:
            return data[:MAX_REPLY_BYTES], True
        try:
            process.wait(max(0.0, deadline - time.monotonic()) + _END_SECONDS)
        except subprocess.TimeoutExpired as fault:
            raise self._late() from fault
        return data, False

    def _late(self) -> ModelError:
        return ModelError(
            f"{self.name} did not answer within {self.limit_seconds:.0f} seconds",
            code="MODEL_TIMED_OUT",
        )


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the command and everything in its session, and collect it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdout is not None:
        process.stdout.close()
    process.wait()
