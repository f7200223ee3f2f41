"""A call makes only its own command ready, and nothing but speed tells the difference."""

import pytest
import typer
from cli_call import call

from agentic_os.cli.app import app
from agentic_os.cli.narrowing import part_for


def test_a_named_group_or_command_stands_alone() -> None:
    group = part_for(app, ["graph", "find", "x"])
    command = part_for(app, ["scan", "--json"])

    assert [one.name for one in group.registered_groups] == ["graph"]
    assert group.registered_commands == []
    assert [one.name for one in command.registered_commands] == ["scan"]
    assert command.registered_groups == []
    assert len(app.registered_groups) > 1


@pytest.mark.parametrize("words", [[], ["--help"], ["--version"], ["grahp"], ["-h", "graph"]])
def test_anything_else_gets_the_whole(words: list[str]) -> None:
    assert part_for(app, words) is app


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

    def whole(given: typer.Typer, _words: object) -> typer.Typer:
        return given

    monkeypatch.setattr("agentic_os.cli.entry.part_for", whole)
    wide = call(*words)

    assert (narrow.code, narrow.stdout, narrow.stderr) == (wide.code, wide.stdout, wide.stderr)
