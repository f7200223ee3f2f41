"""Help texts, completion, and that every command is where the design says."""

import re
from collections.abc import Iterator

import pytest
import typer

from agentic_os.cli.app import application, command_name
from support.process.cli_call import call
from support.process.cli_process import run


def commands(group: typer.Typer, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for command in group.registered_commands:
        name = command.name or str(getattr(command.callback, "__name__", ""))
        assert name
        yield (*above, name.replace("_", "-"))
    for below in group.registered_groups:
        assert below.typer_instance is not None
        assert below.name
        yield from commands(below.typer_instance, (*above, below.name))


ALL = sorted(commands(application()))
GROUPS = sorted({words[:-1] for words in ALL})


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_command_says_what_it_does_with_an_example(words: tuple[str, ...]) -> None:
    long, short = call(*words, "--help"), call(*words, "-h")

    assert long.code == 0
    assert long.stdout == short.stdout
    assert long.words == ""
    assert re.search(rf"Examples?:\s[^\n]*\bagentic-os\s+{words[0]}", long.text), long.text
    first = long.text.split("\n\n")[1].strip()
    assert len(first) > 15
    for line in re.findall(r"^  (--?[a-z][^\n]*)", long.text, re.MULTILINE):
        assert len(line.split()) > 2 or line.startswith("--help"), f"no help for {line!r}"


@pytest.mark.parametrize("words", GROUPS, ids=" ".join)
def test_every_group_lists_its_commands(words: tuple[str, ...]) -> None:
    text = call(*words, "--help").text

    for command in ALL:
        if command[:-1] == words:
            assert re.search(rf"^  {command[-1]}\s+\S", text, re.MULTILINE), command


def test_the_commands_of_the_design_exist() -> None:
    expected = {
        *(("roots", name) for name in ("list", "add", "remove")),
        *((name,) for name in ("scan", "aggregate", "purge", "memory", "vault", "capabilities")),
        *((name,) for name in ("search", "doctor", "paths")),
    }

    assert expected <= set(ALL)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str) -> None:
    # Without this Typer asks the process tree which shell this is, and CI may have none.
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    finished = run("--show-completion", shell, environ=named)

    assert finished.code == 0
    assert "agentic-os" in finished.text
    assert "_AGENTIC_OS_COMPLETE" in finished.text


def test_completion_completes() -> None:
    environ = {
        "_AGENTIC_OS_COMPLETE": "complete_bash",
        "COMP_WORDS": "agentic-os ca",
        "COMP_CWORD": "1",
    }
    finished = run(environ=environ)

    assert finished.code == 0
    assert finished.text.split() == ["capabilities"]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ([], "agentic-os"),
        (["--version"], "agentic-os"),
        (["scan"], "scan"),
        (["--json", "scan", "x"], "scan"),
        (["roots"], "roots"),
        (["roots", "list", "--json"], "roots-list"),
        (["search", "roots"], "search"),
        (["aios", "/home/me/aios", "brief"], "aios"),
        (["aios", "nothing"], "aios"),
    ],
)
def test_the_name_of_a_command_in_its_document(words: list[str], name: str) -> None:
    assert command_name(words) == name


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (
            ["aios", "--path", "/home/me/aios", "search", "x"],
            "--path goes after the command: `agentic-os aios search --path ...`.",
        ),
        (["aios", "--nothing"], "See `agentic-os aios --help`."),
        (["aios", "nothing"], "See `agentic-os aios --help`."),
        (["aios", "brief", "--nothing"], "See `agentic-os aios brief --help`."),
        (["--nothing"], "See `agentic-os --help`."),
        (["search", "--dry-run"], "To look for it: `agentic-os search -- --dry-run`."),
        (["search", "--jsn", "x"], "See `agentic-os search --help`."),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_wrong_command_line_is_told_where_to_look(words: list[str], hint: str) -> None:
    finished = run(*words)

    assert finished.code == 64
    assert finished.text == ""
    assert hint in finished.words
    assert "/home/me" not in finished.words
