import json
from pathlib import Path

import pytest
import tomli

from agentic_os.errors import ServerError, UsageError
from agentic_os.server.setup.clients import (
    CLIENTS,
    ServerEntry,
    add_command,
    client_named,
    config_block,
    entry_of,
    shown_path,
)

COMMAND = ("/bin/agentic-os", "serve", "--root", "/a b")
ENTRY = ServerEntry(command=COMMAND, environ={"DOTAIOS_PATH": "/my aios"})
HOME = Path("/home/ada")


@pytest.mark.parametrize("name", sorted(CLIENTS))
def test_the_block_parses_and_says_the_entry(name: str) -> None:
    client = client_named(name)

    text = config_block(client, "agentic-os", ENTRY)
    parsed = tomli.loads(text) if client.form == "toml" else json.loads(text)

    assert entry_of(client, parsed[client.key]["agentic-os"]) == ENTRY


def test_own_commands_end_with_the_command_line() -> None:
    assert add_command(client_named("claude-code"), "x", ENTRY)[-7:] == (
        "--env",
        "DOTAIOS_PATH=/my aios",
        "--",
        *COMMAND,
    )
    assert add_command(client_named("gemini"), "x", ENTRY)[3:] == (
        "-e",
        "DOTAIOS_PATH=/my aios",
        "-s",
        "user",
        "x",
        *COMMAND,
    )
    assert add_command(client_named("cursor"), "x", ENTRY) == ()


def test_an_unknown_client_lists_the_known() -> None:
    with pytest.raises(UsageError) as fault:
        client_named("emacs")

    assert "cursor" in fault.value.hint


@pytest.mark.parametrize(
    ("name", "variable", "expected"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "/x/.claude.json"),
        ("codex", "CODEX_HOME", "/x/config.toml"),
        ("gemini", "GEMINI_CLI_HOME", "/x/.gemini/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "/x/opencode/opencode.json"),
    ],
)
def test_a_client_is_found_where_its_variable_says(name: str, variable: str, expected: str) -> None:
    place = client_named(name).servers

    assert str(place.path({variable: "/x"}, HOME)) == expected
    assert place.path({variable: ""}, HOME) == HOME / place.file
    assert place.path({}, HOME) == HOME / place.file


def test_a_file_is_shown_from_the_home_folder() -> None:
    assert shown_path(HOME / ".claude.json", HOME) == "~/.claude.json"
    assert shown_path(Path("/x/.claude.json"), HOME) == "/x/.claude.json"


@pytest.mark.parametrize(
    "members", [{}, {"command": 1}, {"command": []}, {"command": "x", "args": [1]}]
)
def test_an_entry_without_a_command_is_refused(members: dict[str, object]) -> None:
    with pytest.raises(ServerError) as fault:
        entry_of(client_named("cursor"), members)

    assert fault.value.code == "CLIENT_FILE_INVALID"
