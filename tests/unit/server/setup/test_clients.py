import json

import pytest
import tomli

from agentic_os.errors import UsageError
from agentic_os.server.setup.clients import CLIENTS, add_command, client_named, config_block

COMMAND = ("/bin/agentic-os", "serve", "--root", "/a b")


@pytest.mark.parametrize("name", sorted(CLIENTS))
def test_the_block_parses_and_holds_the_command(name: str) -> None:
    client = client_named(name)

    text = config_block(client, "agentic-os", COMMAND)
    parsed = tomli.loads(text) if client.form == "toml" else json.loads(text)
    entry = parsed[client.key[0]]["agentic-os"]

    said = entry["command"] if name == "opencode" else [entry["command"], *entry["args"]]
    assert said == list(COMMAND)


def test_own_commands_end_with_the_command_line() -> None:
    assert add_command(client_named("claude-code"), "x", COMMAND)[-5:] == ("--", *COMMAND)
    assert add_command(client_named("gemini"), "x", COMMAND)[-4:] == COMMAND
    assert add_command(client_named("cursor"), "x", COMMAND) == ()


def test_an_unknown_client_lists_the_known() -> None:
    with pytest.raises(UsageError) as fault:
        client_named("emacs")

    assert "cursor" in fault.value.hint
