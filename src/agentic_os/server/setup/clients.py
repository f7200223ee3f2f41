"""How each harness is told about the server: its file, its key, its own add command.

Facts about clients, nothing else; what is written, and how, is in ``installing``.
"""

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agentic_os.server.codes import ERRORS

Form = Literal["json", "toml"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One harness.

    ``file`` is relative to the home folder; ``key`` is the path of the table that holds servers;
    ``add`` is the client's own command, before the server's name and command line, or before the
    server's entry as JSON where the client is told so (``told_json``).
    """

    name: str
    file: str
    form: Form
    key: tuple[str, ...]
    add: tuple[str, ...] = ()
    typed: bool = False
    told_json: bool = False


_CODE_USER = (
    "Library/Application Support/Code/User" if sys.platform == "darwin" else ".config/Code/User"
)
CLIENTS: dict[str, Client] = {
    client.name: client
    for client in (
        Client(
            name="claude-code",
            file=".claude.json",
            form="json",
            key=("mcpServers",),
            add=("claude", "mcp", "add", "--scope", "user"),
        ),
        Client(
            name="codex",
            file=".codex/config.toml",
            form="toml",
            key=("mcp_servers",),
            add=("codex", "mcp", "add"),
        ),
        Client(
            name="gemini",
            file=".gemini/settings.json",
            form="json",
            key=("mcpServers",),
            add=("gemini", "mcp", "add", "-s", "user"),
        ),
        Client(name="cursor", file=".cursor/mcp.json", form="json", key=("mcpServers",)),
        Client(
            name="vscode",
            file=f"{_CODE_USER}/mcp.json",
            form="json",
            key=("servers",),
            add=("code", "--add-mcp"),
            typed=True,
            told_json=True,
        ),
        Client(name="opencode", file=".config/opencode/opencode.json", form="json", key=("mcp",)),
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


def server_entry(client: Client, command: Sequence[str]) -> dict[str, object]:
    """Make the entry of one stdio server in the client's file."""
    if client.name == "opencode":
        return {"type": "local", "command": list(command), "enabled": True}
    entry: dict[str, object] = {"command": command[0], "args": list(command[1:])}
    return {"type": "stdio", **entry} if client.typed else entry


def add_command(client: Client, server: str, command: Sequence[str]) -> tuple[str, ...]:
    """Return the client's own command that adds the server; empty if it has none."""
    if not client.add:
        return ()
    if client.told_json:
        return (*client.add, json.dumps({"name": server, **server_entry(client, command)}))
    separator = () if client.name == "gemini" else ("--",)
    return (*client.add, server, *separator, *command)


def config_block(client: Client, server: str, command: Sequence[str]) -> str:
    """Write what to paste into the client's file."""
    entry = server_entry(client, command)
    if client.form == "toml":
        import tomlkit

        table = tomlkit.table()
        for name, value in entry.items():
            table.add(name, value)
        document = tomlkit.document()
        servers = tomlkit.table(is_super_table=True)
        servers.add(server, table)
        document.add(client.key[0], servers)
        text = tomlkit.dumps(document)
    else:
        nested: object = {server: entry}
        for key in reversed(client.key):
            nested = {key: nested}
        text = json.dumps(nested, indent=2) + "\n"
    own = add_command(client, server, command)
    shown = f"# or: {shlex.join(own)}\n" if own and client.form == "toml" else ""
    return shown + text
