"""Engines that misbehave, for tests; they speak the protocol by hand and start fast.

``engine_hostile.py WAY [FILE]``: behaves until its search is called, then in its own way. FILE is
where it leaves marks, or where its answer stands.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}
SLEEPER = "import time\ntime.sleep(120)\n"


def say(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(request: dict[str, Any], result: object) -> None:
    say({"jsonrpc": "2.0", "id": request["id"], "result": result})


def text_result(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": False}


def tools(way: str) -> list[dict[str, Any]]:
    if way == "no-tool":
        return [{"name": "find", "inputSchema": SCHEMA}]
    if way == "other-tool":
        return [
            {"name": "search_files", "inputSchema": {"type": "object", "properties": {}}},
            {"name": "search_code", "inputSchema": SCHEMA},
        ]
    if way == "evil-schema":
        evil = {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:1/schema"}}}
        return [{"name": "search", "inputSchema": SCHEMA, "outputSchema": evil}]
    return [{"name": "search", "inputSchema": SCHEMA}]


def start_sleeper(mark: str) -> None:
    child = subprocess.Popen([sys.executable, "-c", SLEEPER])
    Path(mark).write_text(f"{os.getpid()} {child.pid}")


def hang(_: dict[str, Any], mark: str) -> None:
    start_sleeper(mark)
    time.sleep(120)


def flood(_: dict[str, Any], __: str) -> None:
    while True:
        sys.stdout.write("x" * 65_536)


def many_lines(_: dict[str, Any], __: str) -> None:
    while True:
        sys.stdout.write("{}\n" * 10_000)


def error(request: dict[str, Any], _: str) -> None:
    say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -1, "message": "\x1b[2J"}})


def leave_child(request: dict[str, Any], mark: str) -> None:
    start_sleeper(mark)
    answer(request, text_result("[]"))


def leave_daemon(request: dict[str, Any], mark: str) -> None:
    child = subprocess.Popen([sys.executable, "-c", SLEEPER], start_new_session=True)
    Path(mark).write_text(f"{child.pid}")
    answer(request, text_result("[]"))


def deaf(request: dict[str, Any], mark: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Path(mark).write_text(f"{os.getpid()}")
    answer(request, text_result("[]"))
    time.sleep(120)


def rows(request: dict[str, Any], mark: str) -> None:
    answer(request, text_result(Path(mark).read_text() if mark else "[]"))


CALLED: dict[str, Callable[[dict[str, Any], str], None]] = {
    "hang": hang,
    "crash": lambda *_: os._exit(7),
    "flood": flood,
    "many-lines": many_lines,
    "error": error,
    "huge": lambda request, _: answer(request, text_result("x" * 5_000_000)),
    "nonsense": lambda request, _: answer(request, text_result("no \x1b[2J list here")),
    "wrong-shape": lambda request, _: answer(request, {"content": 5}),
    "is-error": lambda request, _: answer(request, {**text_result("words"), "isError": True}),
    "says-failed": lambda request, _: answer(request, text_result('{"success": false}')),
    "deep": lambda request, _: answer(request, text_result("[" * 100_000)),
    "leave-child": leave_child,
    "leave-daemon": leave_daemon,
    "deaf": deaf,
}


def begin(way: str, mark: str) -> None:
    """What an engine does before it listens."""
    if way == "hears-nothing":
        os.close(0)
    if way in {"mute", "hears-nothing"}:
        Path(mark).write_text(str(os.getpid()))
        time.sleep(120)
    if way == "exit":
        sys.exit(0)
    if way == "noise":
        sys.stdout.write("\x1b[31mWelcome to the engine\x1b[0m\n")
        say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"x": 1}})
        sys.stderr.write("\x1b[31mloading...\n")


def main() -> None:
    way, mark = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    begin(way, mark)
    for line in sys.stdin:
        request = json.loads(line)
        match request.get("method"):
            case "initialize":
                version = request["params"]["protocolVersion"] if way != "old" else "1999-01-01"
                info = {"name": "hostile", "version": "1"}
                capabilities: dict[str, Any] = {"tools": {}}
                answer(
                    request,
                    {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info},
                )
                if way == "asks":
                    say({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})
            case "tools/list":
                if way == "endless-pages":
                    answer(request, {"tools": [], "nextCursor": "again"})
                else:
                    answer(request, {"tools": tools(way)})
            case "tools/call":
                CALLED.get(way, rows)(request, mark)
            case _:
                pass


if __name__ == "__main__":
    main()
