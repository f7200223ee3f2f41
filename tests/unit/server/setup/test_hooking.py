import json
import shlex
from pathlib import Path

import pytest

from agentic_os.errors import ServerError, UsageError
from agentic_os.server.setup.clients import CLIENTS, ServerEntry, client_named
from agentic_os.server.setup.hooking import (
    hooks_place,
    install_hook,
    shell_command,
    uninstall_hook,
)
from agentic_os.server.setup.install import Target

ENTRY = ServerEntry(command=("/b in/agentic-os", "hook", "session-start"))
MINE = {"hooks": [{"type": "command", "command": "echo mine"}]}
HAVING = [name for name, client in CLIENTS.items() if client.hooks is not None]


def target(folder: Path) -> Target:
    return Target(client=client_named("claude-code"), path=folder / "s.json", shown="s.json")


def hooks(folder: Path) -> list[object]:
    found: list[object] = json.loads((folder / "s.json").read_text())["hooks"]["SessionStart"]
    return found


@pytest.mark.parametrize(
    "before",
    [
        None,
        {},
        {"theme": "dark"},
        {"hooks": {"Stop": [MINE]}},
        {"hooks": {"SessionStart": []}},
        {"hooks": {"SessionStart": [MINE]}},
    ],
)
def test_a_group_is_appended_once_and_taken_out_again(
    tmp_path: Path, before: dict[str, object] | None
) -> None:
    if before is not None:
        (tmp_path / "s.json").write_text(json.dumps(before))

    done = install_hook(target(tmp_path), ENTRY, dry_run=False)
    again = install_hook(target(tmp_path), ENTRY, dry_run=False)

    assert (done.written, again.changed) == (True, False)
    assert hooks(tmp_path)[-1] == {
        "hooks": [{"type": "command", "command": "'/b in/agentic-os' hook session-start"}]
    }
    assert uninstall_hook(target(tmp_path), dry_run=False).written
    after = json.loads((tmp_path / "s.json").read_text())
    assert after.get("hooks", {}).get("SessionStart") in (None, [], [MINE])
    assert {**after, "hooks": 0} == {**(before or {}), "hooks": 0}


def test_a_command_of_before_is_brought_up_to_date_in_its_group(tmp_path: Path) -> None:
    group = {
        "hooks": [*MINE["hooks"], {"type": "command", "command": "agentic-os hook session-start"}]
    }
    (tmp_path / "s.json").write_text(json.dumps({"hooks": {"SessionStart": [group]}}))

    install_hook(target(tmp_path), ENTRY, dry_run=False)
    changed = hooks(tmp_path)
    uninstall_hook(target(tmp_path), dry_run=False)

    assert len(changed) == 1
    assert "/b in/agentic-os" in json.dumps(changed)
    assert hooks(tmp_path) == [MINE]


def test_the_environment_goes_before_the_command() -> None:
    entry = ServerEntry(command=ENTRY.command, environ={"DOTAIOS_PATH": "/my aios; rm -rf /"})

    assert shlex.split(shell_command(entry)) == [
        "env",
        "DOTAIOS_PATH=/my aios; rm -rf /",
        *ENTRY.command,
    ]


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"SessionStart": {}}}'])
def test_a_file_of_another_form_is_refused_and_kept(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.json").write_text(text)

    with pytest.raises(ServerError) as fault:
        install_hook(target(tmp_path), ENTRY, dry_run=False)

    assert fault.value.code == "CLIENT_FILE_INVALID"
    assert (tmp_path / "s.json").read_text() == text


def test_a_client_without_hooks_says_which_have_them() -> None:
    assert [hooks_place(client_named(name)) for name in HAVING]
    with pytest.raises(UsageError, match="cursor") as fault:
        hooks_place(client_named("cursor"))
    assert all(name in fault.value.hint for name in HAVING)
