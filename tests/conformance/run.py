"""The outside judges: the official conformance suite and the official inspector.

    python tests/conformance/run.py [--record]

Node (>= 22), the suite and the inspector come from npm, pinned, into ``build/conformance``; nothing
is installed elsewhere and no install script runs. Two servers of the ordinary factory listen on
loopback: the server as it is, and one with the suite's fixtures beside it. Both sit behind every
guard of the HTTP server; since the suite cannot send a token, one is put into its requests before
they reach the gate. The inspector talks to the real process, with a token of its own.

Ends with 0 only if every scenario passes, or fails as ``expected-failures.yml`` says.
"""

import argparse
import json
import logging
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import uvicorn  # noqa: E402 - after the path is set

from agentic_os.aggregate.workspace import Person  # noqa: E402 - after the path is set
from agentic_os.server.application import make_application  # noqa: E402 - after the path is set
from agentic_os.server.served import ServedPerson  # noqa: E402 - after the path is set
from agentic_os.server.transport.connections import bounded_protocol  # noqa: E402 - after the path is set
from agentic_os.server.transport.http import KEEP_ALIVE_SECONDS, HttpOptions, guarded  # noqa: E402 - after the path is set
from support.aios.builder import AiosBuilder  # noqa: E402 - after the path is set
from support.mcp.conformance_fixtures import with_fixtures  # noqa: E402 - after the path is set

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

TOOLS = ROOT / "build/conformance"
PAGE = ROOT / "docs/reference/mcp-conformance.md"
EXPECTED = Path(__file__).with_name("expected-failures.yml")
NODE = "24"
PACKAGES = (
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
)
REVISIONS = ("2025-11-25", "2026-07-28")
PLAIN = {
    "2025-11-25": (
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "tools-list",
        "resources-list",
        "prompts-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
    ),
    "2026-07-28": ("caching", "sep-2164-resource-not-found"),
}
"""What any server must pass: run on the server as it is."""
CALLS: dict[str, dict[str, str]] = {
    "search_fleet": {"query": "dunning"},
    "fleet_overview": {"budget": "4000"},
    "query_graph": {"operation": "impact", "name": "post_entry"},
    "read_working_context": {},
    "search_aios": {"query": "rollout"},
    "resolve_skill": {"intent": "ship the gate"},
}
TOKEN = "conformance-token-of-this-run"
SCENARIO_SECONDS = 600
INSPECTOR_SECONDS = 300
CONNECT_SECONDS = 120
"""How long a server may take to be there: the machine may be busy with other work."""
_SUMMARY = re.compile(r"^\s*(✓|✗)\s+([\w/-]+): (\d+) passed, (\d+) failed", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One line of the report."""

    judge: str
    subject: str
    passed: bool
    detail: str = ""


class WithToken:
    """Outermost ASGI layer: puts the token into requests, as the suite cannot."""

    def __init__(self, app: "ASGIApp") -> None:
        """Stand before ``app``."""
        self._app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Hand the request on, with the token."""
        if scope["type"] == "http":
            own = (b"authorization", f"Bearer {TOKEN}".encode())
            scope = {**scope, "headers": [*scope["headers"], own]}
        await self._app(scope, receive, send)


@contextmanager
def listening(served: ServedPerson, *, fixtures: bool) -> Iterator[str]:
    """A server on loopback, in a thread; yields its URL."""
    application = make_application(lambda: served)
    if fixtures:
        application = with_fixtures(application)
    app = guarded(application, HttpOptions(requests_per_minute=60_000), TOKEN)
    app.add_middleware(WithToken)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            port=0,
            log_level="error",
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            http=bounded_protocol(),
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + CONNECT_SECONDS
    while not server.started and time.monotonic() < until:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/mcp"
    server.should_exit = True
    thread.join(20)


def node_programs() -> dict[str, str]:
    """The environment in which ``node`` and both judges are found; installs what is missing."""
    system = {"Linux": "linux", "Darwin": "darwin"}[platform.system()]
    machine = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}[platform.machine()]
    package = f"node-{system}-{machine}"
    path = f"{TOOLS / 'node_modules' / package / 'bin'}:{os.environ['PATH']}"
    environ = {**os.environ, "PATH": path}
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm is needed to get Node and the judges")
    TOOLS.mkdir(parents=True, exist_ok=True)
    install = [npm, "install", "--prefix", str(TOOLS), "--no-audit", "--no-fund"]
    wanted = (f"{package}@{NODE}", *PACKAGES)
    stamp = TOOLS / "installed.txt"
    if not stamp.is_file() or stamp.read_text() != "\n".join(wanted):
        for one in (wanted[:1], wanted):
            subprocess.run(
                [*install, "--ignore-scripts", "--silent", *one], check=True, env=environ
            )
        stamp.write_text("\n".join(wanted))
    return environ


def suite(
    environ: dict[str, str], url: str, arguments: Sequence[str], judge: str
) -> tuple[list[Result], int]:
    """Run the conformance suite; its status is 0 when it is content."""
    command = ["node", str(TOOLS / "node_modules/@modelcontextprotocol/conformance/dist/index.js")]
    done = subprocess.run(
        [*command, "server", "--url", url, *arguments],
        env=environ,
        cwd=TOOLS,
        capture_output=True,
        text=True,
        timeout=SCENARIO_SECONDS,
        check=False,
    )
    found = [
        Result(
            judge=judge,
            subject=name,
            passed=failed == "0",
            detail=f"{passed} checks passed, {failed} failed",
        )
        for _, name, passed, failed in _SUMMARY.findall(done.stdout)
    ]
    if done.returncode:
        sys.stderr.write(done.stdout[-6_000:] + done.stderr[-2_000:])
    return found, done.returncode


def inspect(environ: dict[str, str], target: Sequence[str], judge: str) -> list[Result]:
    """List and call every tool, list resources and prompts."""
    program = str(TOOLS / "node_modules/.bin/mcp-inspector")

    def ask(*words: str) -> tuple[bool, Any, str]:
        done = subprocess.run(
            [program, "--cli", *target, *words, "--connect-timeout", str(CONNECT_SECONDS * 1_000)],
            env=environ,
            capture_output=True,
            text=True,
            timeout=INSPECTOR_SECONDS,
            check=False,
        )
        try:
            return done.returncode == 0, json.loads(done.stdout), ""
        except ValueError:
            return False, {}, (done.stderr or done.stdout)[-300:]

    results = []
    for method, member, least in (
        ("tools/list", "tools", len(CALLS)),
        ("resources/list", "resources", 3),
        ("resources/templates/list", "resourceTemplates", 2),
        ("prompts/list", "prompts", 2),
    ):
        good, answer, said = ask("--method", method)
        count = len(answer.get(member, ()))
        results.append(
            Result(
                judge=judge,
                subject=method,
                passed=good and count == least,
                detail=said or f"{count} listed",
            )
        )
    for name, given in CALLS.items():
        words = [word for pair in given.items() for word in ("--tool-arg", "=".join(pair))]
        good, answer, said = ask("--method", "tools/call", "--tool-name", name, *words)
        passed = good and not answer.get("isError") and bool(answer.get("structuredContent"))
        results.append(
            Result(judge=judge, subject=f"tools/call {name}", passed=passed, detail=said)
        )
    return results


@contextmanager
def real_server(environ: dict[str, str], port: int, token: Path) -> Iterator[str]:
    """``agentic-os serve --http`` as a process of its own."""
    fleet = str(ROOT / "examples/fleet")
    command = [sys.executable, "-m", "agentic_os", "serve", "--root", fleet]
    process = subprocess.Popen(
        [*command, "--http", "--port", str(port), "--token-file", str(token)], env=environ
    )
    try:
        until = time.monotonic() + CONNECT_SECONDS
        while time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
                break
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(20)


def main() -> int:
    """Run all judges, print the report, record it if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--record", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--port", type=int, default=18_765, help="for the inspector's HTTP server")
    parser.add_argument("--only", choices=("suite", "inspector"), help="one of the judges")
    asked = parser.parse_args()
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    programs = node_programs()
    results: list[Result] = []
    content = True
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "aios").mkdir()
        AiosBuilder(home / "aios").complete()
        places = {
            f"AGENTIC_OS_{name}_DIR": str(home / name)
            for name in ("CONFIG", "DATA", "CACHE", "STATE")
        }
        environ = {**programs, **places, "HOME": folder, "DOTAIOS_PATH": str(home / "aios")}
        served = ServedPerson(
            person=Person(environ=environ, home=home, current=home),
            roots=(str(ROOT / "examples/fleet"),),
        )
        if asked.only != "inspector":
            with listening(served, fixtures=False) as url:
                for revision, scenarios in PLAIN.items():
                    for scenario in scenarios:
                        words = ("--scenario", scenario, "--spec-version", revision)
                        _, status = suite(programs, url, words, "")
                        results.append(
                            Result(
                                judge=f"suite, the server as it is, {revision}",
                                subject=scenario,
                                passed=status == 0,
                            )
                        )
            with listening(served, fixtures=True) as url:
                for revision in REVISIONS:
                    words = ("--requirements", revision, "--expected-failures", str(EXPECTED))
                    found, status = suite(programs, url, words, f"suite, with fixtures, {revision}")
                    results += found
                    content = content and status == 0
        if asked.only != "suite":
            token = home / "token"
            token.write_text(TOKEN)
            token.chmod(0o600)
            stdio = [sys.executable, "-m", "agentic_os", "serve", "--root"]
            results += inspect(environ, [*stdio, str(ROOT / "examples/fleet")], "inspector, stdio")
            with real_server(environ, asked.port, token) as url:
                header = ("--header", f"Authorization: Bearer {TOKEN}")
                target = [url, "--transport", "http", *header]
                results += inspect(environ, target, "inspector, HTTP")
    return report(results, content=content, record=asked.record)


def report(results: Sequence[Result], *, content: bool, record: bool) -> int:
    """Print the results; the status of the run."""
    lines = []
    for judge in dict.fromkeys(one.judge for one in results):
        own = [one for one in results if one.judge == judge]
        good = sum(one.passed for one in own)
        lines += ["", f"## {judge[0].upper()}{judge[1:]}: {good} of {len(own)}", ""]
        lines += ["| what | result |", "|---|---|"]
        lines += [
            f"| `{one.subject}` | {'passed' if one.passed else 'FAILED'}"
            f"{f' ({one.detail})' if one.detail else ''} |"
            for one in own
        ]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if record:
        head, mark, _ = PAGE.read_text(encoding="utf-8").partition("<!-- results -->\n")
        PAGE.write_text(head + mark + text, encoding="utf-8")
    exact = [one for one in results if not one.judge.startswith("suite, with fixtures")]
    return 0 if content and results and all(one.passed for one in exact) else 1


if __name__ == "__main__":
    sys.exit(main())
