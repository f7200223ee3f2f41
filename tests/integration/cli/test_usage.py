"""Whatever is wrong with a command line, of any command: exit code 64, words, and no traceback."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from agentic_os.cli.app import application
from support.process.cli_call import call

NUMBERS = frozenset({"integer", "integer range", "float", "float range"})


def commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Every command and group, by the words that call it."""
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))


WHOLE = typer.main.get_command(application())
PATHS = tuple(commands(WHOLE, ()))


def command_of(path: tuple[str, ...]) -> Any:
    found: Any = WHOLE
    for name in path:
        found = found.commands[name]
    return found


def mistakes(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Ways to type a command wrongly, read off its own parameters."""
    command = command_of(path)
    yield (*path, "--no-such-option")
    yield (*path, "--no-such-option=1")
    yield (*path, "-Z")
    if hasattr(command, "commands"):
        yield (*path, "no-such-command")
        return
    if any(one.param_type_name == "argument" and one.required for one in command.params):
        yield path
    if not any(one.nargs == -1 for one in command.params):
        yield (*path, *("surplus",) * 12)
    for one in command.params:
        if one.param_type_name != "option":
            continue
        if getattr(one, "is_flag", False):
            yield (*path, f"{one.opts[0]}=1")
        else:
            yield (*path, one.opts[0])
        if one.type.name in NUMBERS:
            yield (*path, one.opts[0], "many")
            yield (*path, one.opts[0], "-999999999999")


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_a_mistake_is_a_usage_error(path: tuple[str, ...], places: Path) -> None:
    for words in mistakes(path):
        finished = call(*words, current=places.parent)

        # A harness takes another code than 0 for "stop" (test_hook_cli).
        usage = 0 if path == ("hook", "session-start") else 64
        assert finished.code == usage, (words, finished.words)
        assert finished.words, words
        assert "Traceback" not in finished.words
        assert finished.stdout == b"", words


def test_every_kind_of_mistake_was_made() -> None:
    assert len(PATHS) > 40
    assert sum(len(list(mistakes(path))) for path in PATHS) > 300
