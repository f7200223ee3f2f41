"""The console script: runs the command line, turns errors into words, JSON and exit codes.

Exit codes are design decision 13: 0 complete, 1 failure, 2 incomplete, 3 findings, 64 usage
error, 130 interrupted. They are the same in text and JSON form.
"""

import gc
import os
import sys
from collections.abc import Sequence

import typer

from agentic_os.cli.app import app, command_name
from agentic_os.cli.output import ClosedPipeError, print_error
from agentic_os.errors import AgenticOSError, OperationInterruptedError, UsageError

INTERRUPTED = OperationInterruptedError.exit_code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    _speak_utf8()
    # A sweep makes many small values and no cycles: look for garbage seldom.
    gc.set_threshold(100_000, 50, 100)
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(words)
        sys.stdout.flush()
    except (ClosedPipeError, BrokenPipeError):
        _mute(sys.stdout.fileno())
        return 0
    return code


def _run(words: list[str]) -> int:
    try:
        answer = typer.main.get_command(app).main(
            args=words, prog_name="agentic-os", standalone_mode=False
        )
    except typer.TyperException as fault:
        return print_error(
            UsageError(fault.format_message(), hint=_help_hint(words)), words, command_name(words)
        )
    except AgenticOSError as fault:
        return print_error(fault, words, command_name(words))
    except typer.Abort:
        return INTERRUPTED
    if answer == INTERRUPTED:
        print_error(
            OperationInterruptedError("interrupted; nothing is lost"), words, command_name(words)
        )
    return answer if isinstance(answer, int) else 0


def _help_hint(words: list[str]) -> str:
    name = command_name(words).replace("-", " ") if words else ""
    return f"See `agentic-os {name} --help`.".replace("  ", " ")


def _speak_utf8() -> None:
    """UTF-8 whatever the locale says; what cannot be encoded is escaped, never fatal."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def _mute(descriptor: int) -> None:
    """Point stdout nowhere, so that the interpreter's last flush has no reader to miss."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)
