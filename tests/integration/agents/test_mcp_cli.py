"""``mcp config`` and ``mcp install``, with clients that have a command of their own and without."""

import json
import os
import shlex
import stat
import sys
from pathlib import Path

import pytest
import tomli

from agentic_os.server.setup.clients import CLIENTS, entry_of
from agentic_os.server.setup.install import BACKUP_SUFFIX
from support.aios.builder import AiosBuilder
from support.fleet.builder import FleetBuilder
from support.process.cli_process import Finished, run

OWN = {name: client.add[0] for name, client in CLIENTS.items() if client.add}
RECORDER = """#!{python}
import json, os, sys
with open(os.environ["RECORD"], "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
print("noise of the client")
sys.exit(int(os.environ.get("STATUS", "0")))
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only programs there are; ``RECORD`` keeps what each was told."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("RECORD", str(tmp_path / "record"))
    return folder


def give(programs: Path, name: str) -> None:
    program = programs / name
    program.write_text(RECORDER.format(python=sys.executable))
    program.chmod(0o755)


def told(tmp_path: Path) -> list[list[str]]:
    record = tmp_path / "record"
    return [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []


def install(client: str, *words: str, environ: dict[str, str] | None = None) -> Finished:
    return run("mcp", "install", "--client", client, *words, environ=environ)


@pytest.mark.parametrize("client", sorted(CLIENTS))
@pytest.mark.usefixtures("programs")
def test_the_block_is_printed_whole(client: str, tmp_path: Path) -> None:
    finished = run("mcp", "config", "--client", client, "--root", tmp_path / "my code")

    known = CLIENTS[client]
    parsed = tomli.loads(finished.text) if known.form == "toml" else json.loads(finished.text)
    entry = entry_of(known, parsed[known.key]["agentic-os"])
    assert entry.command[1:] == ("serve", "--root", str(tmp_path / "my code"))
    assert entry.environ["AGENTIC_OS_CONFIG_DIR"] == os.environ["AGENTIC_OS_CONFIG_DIR"]
    assert f"~/{known.servers.file}" in finished.words
    assert ("Or run: " in finished.words) == (client in OWN)


@pytest.mark.parametrize("client", sorted(OWN))
def test_a_clients_own_command_adds_the_server(
    client: str, programs: Path, tmp_path: Path, places: Path
) -> None:
    give(programs, OWN[client])

    dry = install(client, "--dry-run", "--root", str(tmp_path / "my code"))
    before = told(tmp_path)
    done = install(client, "--root", str(tmp_path / "my code"))

    assert before == []
    (words,) = told(tmp_path)
    assert shlex.split(dry.text) == [OWN[client], *words] == shlex.split(done.text)
    assert "agentic-os" in " ".join(words)
    assert str(tmp_path / "my code") in " ".join(words)
    if client == "vscode":
        assert json.loads(words[-1])["name"] == "agentic-os"
    assert (dry.code, done.code) == (0, 0)
    assert "has added it" in done.words
    assert not (places / CLIENTS[client].servers.file).exists(), "its file is its own business then"


def test_a_client_that_refuses_is_named_with_its_command(programs: Path, places: Path) -> None:
    give(programs, "claude")

    finished = install("claude-code", "--json", environ={"STATUS": "3"})

    assert finished.code == 1
    error = finished.document["error"]
    assert error["code"] == "CLIENT_REFUSED"
    assert "claude mcp add" in error["hint"]
    assert not (places / ".claude.json").exists()


def test_a_client_that_cannot_be_started_is_named(programs: Path) -> None:
    program = programs / "codex"
    program.write_bytes(b"\x7fELF nonsense")
    program.chmod(0o755)

    finished = install("codex")

    assert finished.code == 1
    assert "codex could not be started [CLIENT_REFUSED]" in finished.words


@pytest.mark.parametrize("client", sorted(CLIENTS))
@pytest.mark.usefixtures("programs")
def test_without_its_command_one_key_of_its_file_is_merged(client: str, places: Path) -> None:
    known = CLIENTS[client]
    file = places / known.servers.file
    file.parent.mkdir(parents=True, exist_ok=True)
    old = (
        '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"\n'
        if known.form == "toml"
        else f'{{\n  // mine\n  "theme": "dark",\n  "{known.key}": {{"other": {{"a": 1}}}}\n}}\n'
    )
    file.write_text(old)
    file.chmod(0o644)

    dry = install(client, "--dry-run")
    unchanged = file.read_text()
    done = install(client)
    again = install(client, "--json")

    assert unchanged == old
    assert dry.text == done.text
    assert any(line.startswith("+") and "agentic-os" in line for line in dry.text.splitlines())
    assert not any(
        line.startswith("-") and not line.startswith("---")
        for line in dry.text.splitlines()
        if "other" not in line
    )
    text = file.read_text()
    assert "mine" in text, "comments stay"
    assert "other" in text
    assert "agentic-os" in text
    assert file.with_name(file.name + BACKUP_SUFFIX).read_text() == old
    assert stat.S_IMODE(file.stat().st_mode) == 0o644, "who could read it still can"
    assert (again.data["changed"], again.data["written"]) == (False, False)


@pytest.mark.usefixtures("programs")
def test_a_file_that_cannot_be_parsed_is_refused_and_kept(places: Path) -> None:
    file = places / ".cursor/mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": ')

    finished = install("cursor", "--json")

    assert finished.code == 1
    assert finished.document["error"]["code"] == "CLIENT_FILE_INVALID"
    assert file.read_text() == '{"mcpServers": '
    assert list(file.parent.iterdir()) == [file]


def test_an_unknown_client_is_a_usage_error() -> None:
    finished = install("emacs")

    assert finished.code == 64
    assert "claude-code" in finished.words


def test_a_harness_with_a_short_environment_sees_the_same_fleet(
    fleet: FleetBuilder, places: Path
) -> None:
    """Whatever moves our places, and the roots, is in the entry; ``mcp check`` starts it so."""
    fleet.project("shop").fact("f", "lighthouse")
    (places / "aios").mkdir(exist_ok=True)
    AiosBuilder(places / "aios").complete()
    run("roots", "add", fleet.root)

    installed = install("cursor")
    checked = run("mcp", "check", "--client", "cursor", "--ask", "lighthouse", "--json")
    shown = run("mcp", "check", "--client", "cursor", "--ask", "lighthouse")

    assert "lighthouse" in checked.data["answer"]
    assert checked.data["answer"] in shown.text
    assert "agentic-os mcp check --client cursor" in installed.words
    assert checked.code == 0, checked.words
    assert checked.data["projects"] == 1
    assert checked.data["aios"] == "ok"
    assert len(checked.data["tools"]) == 6


def test_the_folder_is_the_root_where_none_is_configured(fleet: FleetBuilder) -> None:
    fleet.project("shop").fact("f", "lighthouse")

    installed = run("mcp", "install", "--client", "cursor", current=fleet.root)
    checked = run("mcp", "check", "--client", "cursor")

    assert "the current folder is written as --root" in installed.words
    assert "projects\t1\n" in checked.text


def test_a_check_says_what_is_wrong(places: Path) -> None:
    missing = run("mcp", "check", "--client", "cursor")
    (places / ".cursor").mkdir()
    file = places / ".cursor/mcp.json"
    servers = {"agentic-os": {"command": sys.executable, "args": ["-c", "raise SystemExit('no!')"]}}
    file.write_text(json.dumps({"mcpServers": servers}))
    ended = run("mcp", "check", "--client", "cursor")
    servers["agentic-os"]["command"] = "/no/such/program"
    file.write_text(json.dumps({"mcpServers": servers}))
    gone = run("mcp", "check", "--client", "cursor")
    servers["agentic-os"] = {"command": "echo", "args": ["hello"]}
    file.write_text(json.dumps({"mcpServers": servers}))
    noisy = run("mcp", "check", "--client", "cursor")

    assert (missing.code, ended.code, gone.code, noisy.code) == (1, 1, 1, 1)
    assert "CLIENT_ENTRY_MISSING" in missing.words
    assert "no! [CLIENT_CHECK_FAILED]" in ended.words
    assert "cannot be started" in gone.words
    assert "printed something else" in noisy.words


def test_a_second_install_goes_into_the_file(programs: Path, places: Path) -> None:
    """A client's own command refuses an entry that is there, and would lose what was added."""
    give(programs, "claude")
    file = places / ".claude.json"
    file.write_text('{"mcpServers": {"agentic-os": {"command": "old", "env": {"MINE": "1"}}}}')

    done = install("claude-code", "--root", "/other", environ={"STATUS": "3"})

    entry = json.loads(file.read_text())["mcpServers"]["agentic-os"]
    assert done.code == 0
    assert entry["args"][-2:] == ["--root", "/other"]
    assert entry["env"]["MINE"] == "1"
    assert "already there" in install("claude-code", "--root", "/other").words


def test_a_refusal_is_shown_with_the_clients_words(programs: Path) -> None:
    give(programs, "claude")

    finished = install("claude-code", environ={"STATUS": "3"})

    assert "claude refused with status 3: noise of the client" in finished.words


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini"])
def test_the_hook_is_installed_and_taken_out(client: str, places: Path) -> None:
    place = CLIENTS[client].hooks
    assert place is not None
    done = run("hook", "install", "--client", client, "--root", "/code")
    again = run("hook", "install", "--client", client, "--root", "/code")

    said = json.loads((places / place.file).read_text())["hooks"]["SessionStart"]
    assert "hook session-start --root /code" in said[0]["hooks"][0]["command"]
    assert done.code == again.code == 0
    assert "already there" in again.words
    assert run("hook", "uninstall", "--client", client, "--json").data["written"] is True
    assert "has no such hook" in run("hook", "uninstall", "--client", client).words


def test_an_uninstalled_server_is_gone(places: Path) -> None:
    install("cursor")

    done = run("mcp", "uninstall", "--client", "cursor", "--json")

    assert done.data["written"] is True
    assert "agentic-os" not in (places / ".cursor/mcp.json").read_text()
    assert "has no such server" in run("mcp", "uninstall", "--client", "cursor").words
