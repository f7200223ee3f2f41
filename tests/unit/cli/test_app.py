"""A call makes only its own command ready, and nothing but speed tells the difference."""

import pytest

from agentic_os.cli.app import COMMANDS, application, part_for
from support.process.cli_call import call


def test_a_named_group_or_command_stands_alone() -> None:
    group = part_for(["graph", "find", "x"])
    command = part_for(["scan", "--json"])

    assert [one.name for one in group.registered_groups] == ["graph"]
    assert group.registered_commands == []
    assert [one.name for one in command.registered_commands] == ["scan"]
    assert command.registered_groups == []


def test_the_whole_has_every_command() -> None:
    whole = application()
    named = {one.name for one in whole.registered_groups}
    named |= {one.name for one in whole.registered_commands}
    assert named == set(COMMANDS)


@pytest.mark.parametrize("words", [[], ["--help"], ["--version"], ["grahp"], ["-h", "graph"]])
def test_anything_else_gets_the_whole(words: list[str]) -> None:
    assert part_for(words) is application()


@pytest.mark.parametrize(
    "words",
    [
        ("graph",),
        ("graph", "--help"),
        ("graph", "fnd"),
        ("graph", "find"),
        ("scan", "--help"),
        ("scan", "--no-such"),
        ("search",),
        ("hook", "--help"),
    ],
    ids="-".join,
)
def test_the_whole_says_the_same(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = call(*words)

    monkeypatch.setattr("agentic_os.cli.entry.part_for", lambda _words: application())
    wide = call(*words)

    assert (narrow.code, narrow.stdout, narrow.stderr) == (wide.code, wide.stdout, wide.stderr)
