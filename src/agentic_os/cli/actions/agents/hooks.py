"""Answer a harness's hook, whatever happens."""

import sys
from collections.abc import Sequence
from pathlib import Path

from agentic_os.aggregate.workspace import Person
from agentic_os.cli.output import say, write
from agentic_os.server.setup.hook import MAX_INPUT_BYTES, HookAnswer, failed
from agentic_os.server.setup.hook import session_start as answer


def session_start(*, root: Sequence[str]) -> None:
    """Answer a session-start hook: read its JSON on stdin, print the context as JSON."""
    try:
        found = _answer(root)
    except Exception as fault:  # noqa: BLE001 - a session must begin, whatever is wrong here
        found = failed(fault)
    for trouble in found.trouble:
        say(f"agentic-os: {trouble}")
    write(found.line + "\n")


def _answer(root: Sequence[str]) -> HookAnswer:
    person = Person.here()
    data = b"" if sys.stdin is None or sys.stdin.isatty() else _read()
    roots = tuple(str(person.current / Path(one).expanduser()) for one in root)
    return answer(data, person, roots)


def _read() -> bytes:
    try:
        return sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
    except (OSError, ValueError):  # closed, or a terminal that went away
        return b""
