"""Answer a harness's hook."""

import sys
from collections.abc import Sequence
from pathlib import Path

from agentic_os.aggregate.workspace import Person
from agentic_os.cli.output import say, write
from agentic_os.server.setup.hook import MAX_INPUT_BYTES
from agentic_os.server.setup.hook import session_start as answer


def session_start(*, root: Sequence[str]) -> None:
    """Answer a session-start hook: read its JSON on stdin, print the context as JSON."""
    data = b"" if sys.stdin.isatty() else sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
    roots = tuple(str(Path(one).expanduser().absolute()) for one in root)
    found = answer(data, Person.here(), roots)
    for trouble in found.trouble:
        say(f"agentic-os: {trouble}")
    write(found.line + "\n")
