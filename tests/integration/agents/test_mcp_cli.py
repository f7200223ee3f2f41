"""``mcp config`` and ``mcp install``, with clients that have a command of their own and without."""

import json
import shlex
import stat
import sys
from pathlib import Path

import pytest
import tomli

from agentic_os.server.setup.clients import CLIENTS
from agentic_os.server.setup.install import BACKUP_SUFFIX
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
    entry = parsed[known.key[0]]["agentic-os"]
    command = entry["command"] if client == "opencode" else [entry["command"], *entry["args"]]
    assert command[1:] == ["serve", "--root", str(tmp_path / "my code")]
    assert f"~/{known.file}" in finished.words
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
    assert not (places / CLIENTS[client].file).exists(), "its file is its own business then"


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
    file = places / known.file
    file.parent.mkdir(parents=True, exist_ok=True)
    old = (
        '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"\n'
        if known.form == "toml"
        else f'{{\n  // mine\n  "theme": "dark",\n  "{known.key[0]}": {{"other": {{"a": 1}}}}\n}}\n'
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
