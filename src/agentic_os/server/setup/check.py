"""Starting an installed entry as its harness would, and what the server then sees.

The entry is read from the client's own file and started with the short environment that harnesses
hand on, in the home folder, so that whatever is missing there shows here.
"""

import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from agentic_os.errors import AgenticOSError
from agentic_os.files import processes
from agentic_os.server.codes import ERRORS
from agentic_os.server.setup.clients import ServerEntry, entry_of
from agentic_os.server.setup.entry import KEPT_VARIABLES
from agentic_os.server.setup.install import Target, read_entry

CHECK_SECONDS: Final = 60.0
PROTOCOL: Final = "2025-11-25"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What the server answered. ``aios`` is ``ok``, or why the folder cannot be read.

    ``projects`` is ``None`` where the profile has no fleet; ``answer`` is the text that an agent
    gets for the question, where one was asked.
    """

    client: str
    file: str
    command: tuple[str, ...]
    environ: Mapping[str, str]
    server: str
    tools: tuple[str, ...]
    projects: int | None
    aios: str
    answer: str | None = None


def check(
    target: Target,
    server: str,
    environ: Mapping[str, str],
    home: Path,
    *,
    question: str | None = None,
) -> Checked:
    """Start the entry of a client's file and ask it what it sees, and a question as an agent does.

    Raises:
        ServerError: ``CLIENT_ENTRY_MISSING``, ``CLIENT_CHECK_FAILED``, ``CLIENT_FILE_INVALID``.
    """
    members = read_entry(target, server)
    if members is None:
        raise ERRORS.error(
            "CLIENT_ENTRY_MISSING",
            f"{target.shown} has no server {server!r}",
            hint=f"Run `agentic-os mcp install --client {target.client.name}`.",
        )
    entry = entry_of(target.client, members)
    short = {name: environ[name] for name in KEPT_VARIABLES if name in environ}
    with _Session(entry, {**short, **entry.environ}, home) as session:
        started = session.ask("initialize", _INITIALIZE)
        session.tell("notifications/initialized")
        tools = tuple(one["name"] for one in session.ask("tools/list", {})["tools"])
        projects = session.projects() if "fleet_overview" in tools else None
        aios = session.aios()
        answer = None if question is None else session.search(question)
    return Checked(
        client=target.client.name,
        file=target.shown,
        command=entry.command,
        environ=entry.environ,
        server=f"{started['serverInfo']['name']} {started['serverInfo']['version']}",
        tools=tools,
        projects=projects,
        aios=aios,
        answer=answer,
    )


_INITIALIZE: Final = {
    "protocolVersion": PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "agentic-os mcp check", "version": "1"},
}


class _Session:
    """A started server, asked one question after the other."""

    def __init__(self, entry: ServerEntry, environ: Mapping[str, str], home: Path) -> None:
        try:
            self._child = processes.start(
                entry.command,
                environ=environ,
                folder=home,
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except (OSError, ValueError):
            raise _failed(f"{entry.command[0]} cannot be started") from None
        self._deadline = time.monotonic() + CHECK_SECONDS
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._count = 0
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_fault: object) -> None:
        processes.end(self._child)

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request; return its result."""
        answer = self._answer(method, params)
        if "error" in answer:
            raise _failed(f"{method} was answered with an error: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def tell(self, method: str) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method})

    def projects(self) -> int:
        """Count the projects that the server sees."""
        found = self.ask("tools/call", {"name": "fleet_overview", "arguments": {}})
        document = found["structuredContent"]
        if found.get("isError"):
            raise _failed(f"the fleet cannot be read: {document['error']['code']}")
        count: int = document["data"]["total"]
        return count

    def search(self, question: str) -> str:
        """Return the text of the answer to a question, as an agent gets it."""
        asked = {"name": "search_fleet", "arguments": {"query": question}}
        found = self.ask("tools/call", asked)
        return "\n".join(one["text"] for one in found["content"] if one["type"] == "text")

    def aios(self) -> str:
        """Tell whether the working context can be read, or why not."""
        asked = {"name": "read_working_context", "arguments": {}}
        answer = self._answer("tools/call", asked)
        return "ok" if "result" in answer else str(answer["error"]["message"])

    def _answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._count += 1
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, self._deadline - time.monotonic()))
            except queue.Empty:
                raise _failed(f"the server did not answer {method} in time") from None
            if not line:
                raise _failed(f"the server ended before it answered {method}: {self._words()}")
            try:
                answer = json.loads(line)
            except ValueError:
                raise _failed("the server printed something else than the protocol") from None
            if answer.get("id") == self._count:
                found: dict[str, Any] = answer
                return found

    def _send(self, message: Mapping[str, Any]) -> None:
        stdin = self._child.process.stdin
        if stdin is not None:
            with suppress(OSError):  # it has ended; what it said is read below
                stdin.write(json.dumps(message).encode() + b"\n")

    def _read(self) -> None:
        stdout = self._child.process.stdout
        if stdout is not None:
            for line in stdout:
                self._lines.put(line)
        self._lines.put(b"")

    def _words(self) -> str:
        from agentic_os.text.fencing import one_line

        stderr = self._child.process.stderr
        said = b"" if stderr is None else stderr.read(4_096)
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return one_line(lines[-1])[:400] if lines else "it said nothing"


def _failed(message: str) -> AgenticOSError:
    return ERRORS.error("CLIENT_CHECK_FAILED", message)
