import json
import sys
from pathlib import Path

import pytest
import tomli

from agentic_os.errors import ServerError
from agentic_os.server.setup import install as installing
from agentic_os.server.setup.clients import ServerEntry, client_named
from agentic_os.server.setup.install import (
    BACKUP_SUFFIX,
    Installation,
    Target,
    install,
    install_by_client,
    uninstall,
)

COMMAND = ("agentic-os", "serve")
COMMENTED = """{
  // my servers
  "mcpServers": {
    "other": {"command": "x"}, /* last */
  },
  "theme": "dark",
}
"""
ENTRY = {"command": "agentic-os", "args": ["serve"]}


def target(home: Path, client: str) -> Target:
    known = client_named(client)
    return Target(client=known, path=home / known.servers.file, shown=f"~/{known.servers.file}")


def installed(
    home: Path, client: str, *, dry_run: bool = False, environ: dict[str, str] | None = None
) -> Installation:
    entry = ServerEntry(command=COMMAND, environ=environ or {})
    return install(target(home, client), "agentic-os", entry, dry_run=dry_run)


def write(home: Path, client: str, text: str) -> Path:
    path = home / client_named(client).servers.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_missing_file_is_made(tmp_path: Path) -> None:
    done = installed(tmp_path, "cursor")

    assert json.loads((tmp_path / ".cursor/mcp.json").read_text()) == {
        "mcpServers": {"agentic-os": ENTRY}
    }
    assert (done.written, done.backup) == (True, None)


@pytest.mark.parametrize(
    "text",
    [
        '{"mcpServers": {"other": {"command": "x"}}, "theme": "dark"}',
        COMMENTED,
        '{"theme": "dark"}',
        '{"theme": "dark", "mcpServers": {}}',
        "{}",
        '{"a": "// not a comment, } ]", "mcpServers": {"x": {"command": "}"}}}',
    ],
)
def test_one_key_is_merged_and_the_rest_stays(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, "cursor", text)

    done = installed(tmp_path, "cursor")

    new = path.read_text()
    assert done.written
    assert (tmp_path / (".cursor/mcp.json" + BACKUP_SUFFIX)).read_text() == text
    for comment in ("// my servers", "/* last */", '"theme": "dark"'):
        assert (comment in new) is (comment in text)
    assert '"agentic-os"' in new
    again = installed(tmp_path, "cursor")
    assert (again.changed, again.written) == (False, False)


def test_an_older_entry_is_replaced_in_place(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "cursor",
        '{"mcpServers": {"agentic-os": {"command": "old"}, "z": {"command": "z"}}}',
    )

    installed(tmp_path, "cursor")

    assert json.loads(path.read_text()) == {
        "mcpServers": {"agentic-os": ENTRY, "z": {"command": "z"}}
    }


def test_toml_keeps_comments(tmp_path: Path) -> None:
    path = write(tmp_path, "codex", '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"\n')

    installed(tmp_path, "codex")

    text = path.read_text()
    assert text.startswith("# mine\n")
    assert tomli.loads(text)["mcp_servers"] == {"other": {"command": "y"}, "agentic-os": ENTRY}
    assert not installed(tmp_path, "codex").changed


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    done = installed(tmp_path, "cursor", dry_run=True)

    assert "agentic-os" in done.diff
    assert not (tmp_path / ".cursor").exists()


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("cursor", "{"),
        ("cursor", "[]"),
        ("cursor", '{"mcpServers": []}'),
        ("cursor", '{"mcpServers": ' + "[" * 50_000),
        ("codex", "= nonsense"),
        ("codex", "mcp_servers = 1\n"),
    ],
)
def test_what_cannot_be_parsed_is_refused_and_kept(tmp_path: Path, client: str, text: str) -> None:
    path = write(tmp_path, client, text)

    with pytest.raises(ServerError) as fault:
        installed(tmp_path, client)

    assert fault.value.code == "CLIENT_FILE_INVALID"
    assert path.read_text() == text


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_bytes(b'{"a": "\xff"}')

    with pytest.raises(ServerError):
        installed(tmp_path, "cursor")
    path.unlink()
    path.mkdir()
    with pytest.raises(ServerError) as fault:
        installed(tmp_path, "cursor")
    assert fault.value.code == "CLIENT_FILE_UNREADABLE"


def test_a_clients_own_command_is_run_or_only_told() -> None:
    codex, command = target(Path("/nowhere"), "codex"), (sys.executable, "-c", "print('noise')")

    dry = install_by_client(codex, ("no-such-program",), dry_run=True)
    done = install_by_client(codex, command, dry_run=False)

    assert (dry.written, dry.command) == (False, ("no-such-program",))
    assert (done.written, done.command, done.diff) == (True, command, "")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ((sys.executable, "-c", "raise SystemExit(3)"), "refused with status 3"),
        (
            (sys.executable, "-c", "raise SystemExit('\\x1b[1mIt already exists.\\n See --help.')"),
            r"status 1: <U\+001B>\[1mIt already exists. / See --help.",
        ),
        ((sys.executable, "-c", "import time; time.sleep(60)"), "did not end within"),
        (("/no/such/program",), "could not be started"),
    ],
)
def test_a_clients_command_that_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr(installing, "ADD_SECONDS", 60 if "sleep" not in command[-1] else 0.2)

    with pytest.raises(ServerError, match=said) as fault:
        install_by_client(target(Path("/nowhere"), "codex"), command, dry_run=False)

    assert fault.value.code == "CLIENT_REFUSED"
    assert "Run it yourself: " in fault.value.hint


@pytest.mark.parametrize(
    ("client", "text"),
    [
        (
            "cursor",
            (
                '{"mcpServers": {"agentic-os": {"command": "old", "args": ["serve"], // mine\n'
                '  "env": {"TOKEN": "mine", "AGENTIC_OS_CONFIG_DIR": "/old"}, "timeout": 9}}}'
            ),
        ),
        (
            "codex",
            (
                '[mcp_servers.agentic-os]\ncommand = "old"\nargs = ["serve"]\ntimeout = 9  # mine\n'
                '[mcp_servers.agentic-os.env]\nTOKEN = "mine"\nAGENTIC_OS_CONFIG_DIR = "/old"\n'
            ),
        ),
    ],
)
def test_what_the_person_added_to_our_entry_stays(tmp_path: Path, client: str, text: str) -> None:
    path = write(tmp_path, client, text)

    done = installed(
        tmp_path, client, environ={"AGENTIC_OS_CONFIG_DIR": "/new", "DOTAIOS_PATH": "/a"}
    )

    new = path.read_text()
    parsed = tomli.loads(new) if client == "codex" else json.loads(new.replace("// mine", ""))
    entry = parsed[client_named(client).key]["agentic-os"]
    assert done.written
    assert "mine" in new
    assert entry == {
        "command": "agentic-os",
        "args": ["serve"],
        "timeout": 9,
        "env": {"TOKEN": "mine", "AGENTIC_OS_CONFIG_DIR": "/new", "DOTAIOS_PATH": "/a"},
    }


def test_a_server_that_the_person_switched_off_stays_off(tmp_path: Path) -> None:
    path = write(
        tmp_path, "opencode", '{"mcp": {"agentic-os": {"type": "local", "enabled": false}}}'
    )

    installed(tmp_path, "opencode")

    assert json.loads(path.read_text())["mcp"]["agentic-os"] == {
        "type": "local",
        "enabled": False,
        "command": list(COMMAND),
    }


@pytest.mark.parametrize("client", ["cursor", "codex"])
def test_uninstalling_leaves_the_rest(tmp_path: Path, client: str) -> None:
    old = '# mine\n[mcp_servers.other]\ncommand = "y"\n' if client == "codex" else COMMENTED
    path = write(tmp_path, client, old)
    nothing = uninstall(target(tmp_path, client), "agentic-os", dry_run=False)
    installed(tmp_path, client)

    done = uninstall(target(tmp_path, client), "agentic-os", dry_run=False)

    assert not nothing.changed
    assert done.written
    assert "agentic-os" not in path.read_text()
    for word in ("mine" if client == "codex" else "// my servers", "other"):
        assert word in path.read_text()
    assert not uninstall(target(tmp_path / "empty", client), "agentic-os", dry_run=False).changed
