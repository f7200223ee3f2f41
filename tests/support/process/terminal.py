"""A command on a real terminal."""

import os
import pty
import select
import subprocess
from collections.abc import Sequence
from pathlib import Path

from support.process.cli_process import MODULE, TIME_LIMIT_SECONDS


def on_terminal(
    *arguments: str | Path,
    typed: str | None = None,
    current: Path | None = None,
    command: Sequence[str] = MODULE,
    **environ: str,
) -> tuple[int, str]:
    """Run a command with a terminal as stdout and stderr; its exit code and what was drawn.

    Args:
        arguments: of the command.
        typed: what the person types; without it the terminal is no stdin.
        current: the folder it runs in.
        command: what is started, the console module by default.
        environ: variables that differ from this process's own.
    """
    variables = {
        key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "FORCE_COLOR"}
    }
    terminal, other = pty.openpty()
    process = subprocess.Popen(
        [*command, *map(str, arguments)],
        stdin=other if typed is not None else subprocess.DEVNULL,
        stdout=other,
        stderr=other,
        env={**variables, "TERM": "xterm-256color", "COLUMNS": "200", "LINES": "50", **environ},
        cwd=current,
    )
    os.close(other)
    if typed is not None:
        os.write(terminal, typed.encode())
    drawn = b""
    try:
        while True:
            assert select.select([terminal], [], [], TIME_LIMIT_SECONDS)[0], "it hangs"
            try:
                part = os.read(terminal, 65_536)
            except OSError:  # how Linux says that the other side is closed
                break
            if not part:
                break
            drawn += part
    finally:
        os.close(terminal)
    return process.wait(timeout=TIME_LIMIT_SECONDS), drawn.decode("utf-8")
