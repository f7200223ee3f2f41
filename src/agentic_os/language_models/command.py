"""A model behind a command: the prompt on stdin, the answer on stdout.

The command is started without a shell, in an empty private folder that is deleted afterwards, and
is ended with everything it started (``files.processes``): when its time is up, when it says too
much, or when the person presses Ctrl-C.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from agentic_os.errors import ModelError
from agentic_os.files.processes import Finished, run
from agentic_os.language_models.interface import MAX_REPLY_BYTES, Prompt, Reply, bounded


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
            done = self._run(Path(folder), asked)
        if done.status and not done.cut:
            raise ModelError(
                f"{self.name} failed with exit code {done.status}",
                code="MODEL_REFUSED",
                hint="Run it by hand with a prompt on stdin to see why.",
            )
        text = done.output.decode("utf-8", "replace")
        if not text.strip():
            raise ModelError(f"{self.name} said nothing", code="MODEL_ANSWER_INVALID")
        return bounded(text, cut=done.cut)

    def _run(self, folder: Path, asked: IO[bytes]) -> Finished:
        try:
            return run(
                self.words,
                environ=self.environ,
                folder=folder,
                stdin=asked,
                seconds=self.limit_seconds,
                limit_bytes=MAX_REPLY_BYTES,
            )
        except TimeoutError as fault:
            raise ModelError(
                f"{self.name} did not answer within {self.limit_seconds:.0f} seconds",
                code="MODEL_TIMED_OUT",
            ) from fault
        except OSError as fault:
            raise ModelError(
                f"{self.name} cannot be started: {fault.strerror}",
                code="MODEL_UNREACHABLE",
                hint="Check the command in projects.toml.",
            ) from fault
