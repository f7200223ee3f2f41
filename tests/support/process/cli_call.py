"""Calls the command line in this process: as ``cli_process.run``, without the start of one."""

import io
import os
from collections.abc import Mapping
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from agentic_os.cli.entry import main
from support.process.cli_process import Finished


def call(
    *arguments: str | Path,
    environ: Mapping[str, str] | None = None,
    current: Path | None = None,
) -> Finished:
    """Run one command and return what it left behind."""
    stdout, stderr = io.BytesIO(), io.BytesIO()
    with ExitStack() as stack:
        words = stack.enter_context(io.TextIOWrapper(stderr, encoding="utf-8"))
        data = stack.enter_context(io.TextIOWrapper(stdout, encoding="utf-8"))
        stack.enter_context(redirect_stderr(words))
        stack.enter_context(redirect_stdout(data))
        stack.enter_context(patch.dict(os.environ, environ or {}))
        if current is not None:
            stack.enter_context(chdir(current))
        code = main([str(argument) for argument in arguments])
        data.flush()
        words.flush()
        return Finished(code=code, stdout=stdout.getvalue(), stderr=stderr.getvalue())
