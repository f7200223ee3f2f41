"""Which harnesses are on this machine, and whether the server is set up in each."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agentic_os.errors import AgenticOSError
from agentic_os.server.setup.clients import CLIENTS, Client, shown_path
from agentic_os.server.setup.install import Target, has_entry

SERVER: Final = "agentic-os"
_PROGRAMS: Final = {
    "claude-code": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "cursor": "cursor",
    "vscode": "code",
    "opencode": "opencode",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """A harness that was found by its program or its file."""

    client: Client
    is_set_up: bool


def harnesses(environ: Mapping[str, str], home: Path) -> tuple[Harness, ...]:
    """Return the harnesses of this machine; a file that cannot be read counts as not set up."""
    found = []
    for client in CLIENTS.values():
        path = client.servers.path(environ, home)
        program = shutil.which(_PROGRAMS[client.name], path=environ.get("PATH", ""))
        if program is None and not path.is_file():
            continue
        target = Target(client=client, path=path, shown=shown_path(path, home))
        try:
            is_set_up = has_entry(target, SERVER)
        except AgenticOSError:
            is_set_up = False
        found.append(Harness(client=client, is_set_up=is_set_up))
    return tuple(found)
