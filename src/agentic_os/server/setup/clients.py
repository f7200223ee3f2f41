"""How each harness is told about the server: its file, its key, its own add command.

Facts about clients, nothing else; what is written, and how, is in ``install``.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from agentic_os.server.codes import ERRORS

Form = Literal["json", "toml"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEntry:
    """What starts the server: its command line and the environment that it needs."""

    command: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file of a client: below the home folder, or below the folder that a variable names."""

    file: str
    variable: str = ""
    below: str = ""

    def path(self, environ: Mapping[str, str], home: Path) -> Path:
        """Return the file as the client itself finds it."""
        chosen = environ.get(self.variable, "") if self.variable else ""
        return Path(chosen).expanduser() / self.below if chosen else home / self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One harness.

    ``servers`` is the file that holds servers and ``key`` its table of them; ``hooks`` is the file
    of hooks. ``add`` is the client's own command, before the server's name and command line, or
    before the server's entry as JSON where the client is told so (``told_json``).
    """

    name: str
    servers: Place
    form: Form
    key: str
    hooks: Place | None = None
    add: tuple[str, ...] = ()
    typed: bool = False
    told_json: bool = False

    @property
    def environ_key(self) -> str:
        """The member of an entry that holds its environment."""
        return "environment" if self.name == "opencode" else "env"


_CODE = Place(file="Library/Application Support/Code/User/mcp.json")
if sys.platform != "darwin":
    _CODE = Place(
        file=".config/Code/User/mcp.json", variable="XDG_CONFIG_HOME", below="Code/User/mcp.json"
    )
CLIENTS: Final[dict[str, Client]] = {
    client.name: client
    for client in (
        Client(
            name="claude-code",
            servers=Place(file=".claude.json", variable="CLAUDE_CONFIG_DIR", below=".claude.json"),
            hooks=Place(
                file=".claude/settings.json", variable="CLAUDE_CONFIG_DIR", below="settings.json"
            ),
            form="json",
            key="mcpServers",
            add=("claude", "mcp", "add", "--scope", "user"),
        ),
        Client(
            name="codex",
            servers=Place(file=".codex/config.toml", variable="CODEX_HOME", below="config.toml"),
            hooks=Place(file=".codex/hooks.json", variable="CODEX_HOME", below="hooks.json"),
            form="toml",
            key="mcp_servers",
            add=("codex", "mcp", "add"),
        ),
        Client(
            name="gemini",
            servers=Place(
                file=".gemini/settings.json",
                variable="GEMINI_CLI_HOME",
                below=".gemini/settings.json",
            ),
            hooks=Place(
                file=".gemini/settings.json",
                variable="GEMINI_CLI_HOME",
                below=".gemini/settings.json",
            ),
            form="json",
            key="mcpServers",
            add=("gemini", "mcp", "add"),
        ),
        Client(
            name="cursor", servers=Place(file=".cursor/mcp.json"), form="json", key="mcpServers"
        ),
        Client(
            name="vscode",
            servers=_CODE,
            form="json",
            key="servers",
            add=("code", "--add-mcp"),
            typed=True,
            told_json=True,
        ),
        Client(
            name="opencode",
            servers=Place(
                file=".config/opencode/opencode.json",
                variable="XDG_CONFIG_HOME",
                below="opencode/opencode.json",
            ),
            form="json",
            key="mcp",
        ),
    )
}


def client_named(name: str) -> Client:
    """Return the client of a name.

    Raises:
        UsageError: ``CLIENT_UNKNOWN``.
    """
    try:
        return CLIENTS[name]
    except KeyError:
        raise ERRORS.error(
            "CLIENT_UNKNOWN",
            f"unknown client {name!r}",
            hint=f"Clients are {', '.join(CLIENTS)}.",
        ) from None


def shown_path(path: Path, home: Path) -> str:
    """Name a file for the person, with ``~`` for the home folder."""
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def members_of(client: Client, entry: ServerEntry) -> dict[str, object]:
    """Make the members of one stdio server in the client's file."""
    members: dict[str, object]
    if client.name == "opencode":
        members = {"type": "local", "command": list(entry.command), "enabled": True}
    else:
        members = {"command": entry.command[0], "args": list(entry.command[1:])}
        members = {"type": "stdio", **members} if client.typed else members
    return {**members, client.environ_key: dict(entry.environ)} if entry.environ else members


def entry_of(client: Client, members: Mapping[str, object]) -> ServerEntry:
    """Read the members of one server in the client's file.

    Raises:
        ServerError: ``CLIENT_FILE_INVALID``.
    """
    command, args = members.get("command"), members.get("args", [])
    words = command if isinstance(command, list) else [command, *_listed(args)]
    environ = members.get(client.environ_key, {})
    if not words or not all(isinstance(word, str) for word in words):
        raise ERRORS.error("CLIENT_FILE_INVALID", "the entry of the server names no command")
    return ServerEntry(
        command=tuple(str(word) for word in words),
        environ={str(key): str(value) for key, value in environ.items()}
        if isinstance(environ, dict)
        else {},
    )


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def add_command(client: Client, server: str, entry: ServerEntry) -> tuple[str, ...]:
    """Return the client's own command that adds the server; empty if it has none."""
    if not client.add:
        return ()
    if client.told_json:
        return (*client.add, json.dumps({"name": server, **members_of(client, entry)}))
    if client.name == "gemini":
        # Its -e takes every word up to the next option.
        return (*client.add, *_pairs("-e", entry), "-s", "user", server, *entry.command)
    return (*client.add, server, *_pairs("--env", entry), "--", *entry.command)


def _pairs(option: str, entry: ServerEntry) -> Sequence[str]:
    return [word for key, value in entry.environ.items() for word in (option, f"{key}={value}")]


def config_block(client: Client, server: str, entry: ServerEntry) -> str:
    """Write what to paste into the client's file."""
    members = members_of(client, entry)
    if client.form == "json":
        return json.dumps({client.key: {server: members}}, indent=2, ensure_ascii=False) + "\n"
    import tomlkit

    return tomlkit.dumps({client.key: {server: members}})
