"""What a command line really starts, looked through runners such as ``npx`` and ``uvx``.

Only the name is kept of a started program: its other words may hold secrets and say nothing.
"""

from collections.abc import Sequence
from typing import Literal

ProgramKind = Literal["command", "package", "module"]

_RUNNERS = {"npx", "bunx", "pnpx", "uvx", "pipx"}
_SUBCOMMANDS = {
    ("pipx", "run"),
    ("uv", "run"),
    ("uv", "tool"),
    ("pnpm", "dlx"),
    ("yarn", "dlx"),
    ("npm", "exec"),
}
_PYTHONS = {"python", "python3", "py"}
_VALUE_OPTIONS = {"--from", "--with", "-p", "--package", "--python", "--index-url"}
_MAX_WORDS_ENTRIES = 16
_MAX_NAME_CHARS = 200


def program(words: Sequence[str]) -> tuple[str, ProgramKind]:
    """Return what a command line starts and how it is named.

    Args:
        words: the command and its arguments; computed ones are empty.

    Returns:
        The name (empty where there is none to tell) and whether it is a command, a package
        that a runner fetches, or a Python module.
    """
    first, rest = words[0], list(words[1:_MAX_WORDS_ENTRIES])
    if "/" in first or "\\" in first:
        return "", "command"
    if first in _PYTHONS:
        named = len(rest) > 1 and rest[0] == "-m"
        return (rest[1][:_MAX_NAME_CHARS], "module") if named else ("", "command")
    runner = first in _RUNNERS
    if rest and (first, rest[0]) in _SUBCOMMANDS:
        runner = True
        rest = rest[1:]
        if rest and rest[0] == "run":
            rest = rest[1:]
    if not runner:
        return first[:_MAX_NAME_CHARS], "command"
    return _run_by(rest)


def _run_by(words: list[str]) -> tuple[str, ProgramKind]:
    kind: ProgramKind = "package"
    position = 0
    while position < len(words):
        word = words[position]
        if word in _VALUE_OPTIONS:
            kind = "command"
            position += 2
        elif word.startswith("-"):
            position += 1
        elif word in _PYTHONS:
            return program(words[position:])
        else:
            at = word.find("@", 1)
            name = word if at < 0 else word[:at]
            return name.partition("==")[0].partition("[")[0][:_MAX_NAME_CHARS], kind
    return "", kind
