"""What the shell completes."""

from pathlib import Path

import pytest

from agentic_os.cli import completion
from agentic_os.cli.completion import project_names
from agentic_os.server.setup.clients import CLIENTS
from support.fleet.builder import FleetBuilder
from support.process.cli_call import call
from support.process.cli_process import run


def test_the_clients_are_those_that_can_be_set_up() -> None:
    assert sorted(completion.CLIENTS) == sorted(CLIENTS)
    having = sorted(name for name, client in CLIENTS.items() if client.hooks is not None)
    assert sorted(completion.HOOK_CLIENTS) == having


def test_words_are_completed_from_their_beginning() -> None:
    assert completion.client_names("c") == ["claude-code", "codex", "cursor"]
    assert completion.hook_client_names("g") == ["gemini"]
    assert completion.profile_names("") == ["full", "aios"]
    assert completion.source_names("pa") == ["package"]
    assert "memory" in completion.kind_names("m")
    assert completion.mode_names("se") == ["semantic"]
    assert completion.stack_names("obsidian-g") == ["obsidian-graphify", "obsidian-graphify-rag"]


def test_projects_are_those_of_the_configured_roots(fleet: FleetBuilder) -> None:
    fleet.project("shop")
    fleet.project("dock")
    call("roots", "add", fleet.root)

    assert project_names("sh")[0] == "shop"
    assert any(name.startswith("shop-") for name in project_names("shop"))
    assert project_names("nothing") == []


def test_a_root_that_is_gone_completes_nothing(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    call("roots", "add", gone)
    gone.rmdir()

    assert project_names("") == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [("agentic-os mcp config --client cu", "cursor"), ("agentic-os vault --project sh", "shop")],
)
def test_a_shell_is_told(fleet: FleetBuilder, words: str, expected: str) -> None:
    fleet.project("shop")
    call("roots", "add", fleet.root)
    environ = {
        "_AGENTIC_OS_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }

    assert expected in run(environ=environ).text.split()
