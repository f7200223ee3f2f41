"""The console script: runs the command line, turns errors into words, JSON and exit codes.

Exit codes are design decision 13: 0 complete, 1 failure, 2 incomplete, 3 findings, 64 usage
error, 130 interrupted. They are the same in text and JSON form.
"""

import atexit
import errno
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import typer

from agentic_os.cli.app import command_name, part_for
from agentic_os.cli.output import ClosedPipeError, OutputFailedError, flush, mute, print_error, say
from agentic_os.errors import (
    AgenticOSError,
    FilesError,
    OperationInterruptedError,
    UsageError,
)

INTERRUPTED = OperationInterruptedError.exit_code
HOOK = ("hook", "session-start")
"""The command whose exit code is 0 whatever happens."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    _ready_streams()
    # A sweep makes many small values and no cycles: look for garbage seldom, and at the end,
    # when everything goes anyway, not at all.
    gc.set_threshold(100_000, 50, 100)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    words = list(sys.argv[1:] if arguments is None else arguments)
    code = _finished(words)
    # A harness takes any other code for "stop", or for "ignore the answer".
    return 0 if tuple(words[: len(HOOK)]) == HOOK else code


def _finished(words: list[str]) -> int:
    try:
        code = _run(words)
        flush()
    except (ClosedPipeError, BrokenPipeError):
        mute(sys.stdout)
        return 0
    except OutputFailedError as fault:
        mute(sys.stdout)
        say(f"agentic-os: {fault.message} [{fault.code}]")
        return fault.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _run(words: list[str]) -> int:
    try:
        answer = typer.main.get_command(part_for(words)).main(
            args=words, prog_name="agentic-os", standalone_mode=False
        )
    except typer.TyperException as fault:
        return _usage(fault, words)
    except SystemExit:
        # Typer printed a help text or a completion script, and its reader went away.
        raise ClosedPipeError from None
    except OutputFailedError:
        raise
    except OSError as fault:
        if fault.errno == errno.ENOENT and _is_adrift():
            return print_error(_ADRIFT, words, command_name(words))
        if fault.errno not in _NO_ROOM:
            raise
        raise OutputFailedError(f"the output cannot be written: {fault.strerror}") from fault
    except AgenticOSError as fault:
        return print_error(fault, words, command_name(words))
    except typer.Abort:
        return INTERRUPTED
    if answer == INTERRUPTED:
        print_error(
            OperationInterruptedError("interrupted; nothing is lost"), words, command_name(words)
        )
    return answer if isinstance(answer, int) else 0


_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


_ADRIFT = FilesError(
    "the current folder does not exist any more",
    code="FOLDER_GONE",
    hint="Change to a folder that is there, and try again.",
)


def _is_adrift() -> bool:
    """Tell whether the folder that this process runs in was deleted."""
    try:
        Path.cwd()
    except OSError:
        return True
    return False


def _usage(fault: typer.TyperException, words: list[str]) -> int:
    message = fault.format_message()
    context = getattr(fault, "ctx", None)
    if context is not None and message == context.get_help():
        say(message)  # a group that was called without a command answers with its help
        return UsageError.exit_code
    hint = (
        _misplaced(fault, words)
        or _dashed(fault)
        or _folder_hint(fault, words)
        or _help_hint(fault)
    )
    return print_error(UsageError(message, hint=hint), words, command_name(words))


def _folder_hint(fault: typer.TyperException, words: list[str]) -> str:
    """Say how a folder is named that was given as an argument."""
    context = getattr(fault, "ctx", None)
    if context is None or "extra argument" not in fault.format_message():
        return ""
    options = {name for one in context.command.params for name in one.opts}
    folder = next((word for word in words[1:] if Path(word).expanduser().is_dir()), None)
    if folder is None or "--root" not in options:
        return ""
    rest = " ".join(word for word in words if word != folder)
    return f"Folders are named with --root: `agentic-os {rest} --root {folder}`."


def _help_hint(fault: typer.TyperException) -> str:
    context = getattr(fault, "ctx", None)
    path = "agentic-os" if context is None else context.command_path
    return f"See `{path} --help`."


def _misplaced(fault: typer.TyperException, words: list[str]) -> str:
    """Where an option belongs that was given to a group instead of its command."""
    option = getattr(fault, "option_name", None)
    context = getattr(fault, "ctx", None)
    if option is None or context is None:
        return ""
    commands = getattr(context.command, "commands", {})
    having = [
        name for name, one in commands.items() if any(option in each.opts for each in one.params)
    ]
    if not having:
        return ""
    meant = next((word for word in words if word in having), having[0])
    return f"{option} goes after the command: `{context.command_path} {meant} {option} ...`."


def _dashed(fault: typer.TyperException) -> str:
    """How a question that begins with a dash is asked, where one may have been meant."""
    option = getattr(fault, "option_name", None)
    context = getattr(fault, "ctx", None)
    if option is None or context is None or getattr(fault, "possibilities", None):
        return ""
    asks = any(one.name in {"query", "words"} for one in context.command.params)
    return f"To look for it: `{context.command_path} -- {option}`." if asks else ""


def _ready_streams() -> None:
    """UTF-8 whatever the locale says; what cannot be encoded is escaped, never fatal.

    A stream that the caller closed leads nowhere.
    """
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")
