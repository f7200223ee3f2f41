"""What the server answers line by line, without a client's library between (DotAIOS vector 24)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

FLEET = Path(__file__).parents[2] / "examples/fleet"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "first",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(number: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def session(*lines: bytes, answers: int, profile: str = "aios") -> list[dict[str, Any]]:
    """What a server answers to all lines of a session."""
    command = [sys.executable, "-m", "agentic_os", "serve", "--root", str(FLEET)]
    process = subprocess.Popen(
        [*command, "--profile", profile],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in (json.dumps(INITIALIZE).encode(), json.dumps(INITIALIZED).encode(), *lines):
            process.stdin.write(line + b"\n")
        process.stdin.flush()
        said = [json.loads(process.stdout.readline()) for _ in range(1 + answers)]
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(timeout=60) == 0
    assert said[0]["id"] == "first"
    return said[1:]


NO_MESSAGES = [
    (b"{bad json", -32_700),
    (b"\xff\xfe", -32_700),
    (b"[" * 5_000, -32_700),
    (b"[1]", -32_600),
    (b'"text"', -32_600),
    (b'{"jsonrpc": "1.0", "id": 3, "method": "ping"}', -32_600),
    (b'{"jsonrpc": "2.0", "id": 3}', -32_600),
]


def test_what_is_no_message_is_answered_in_order_with_the_id_null() -> None:
    lines = [line for line, _ in NO_MESSAGES]

    answers = session(*lines, request(4, "ping"), answers=len(lines) + 1)

    assert [(one["id"], one["error"]["code"]) for one in answers[:-1]] == [
        (None, code) for _, code in NO_MESSAGES
    ]
    assert answers[-1] == {"jsonrpc": "2.0", "id": 4, "result": {}}, "the session goes on"


ERRORS: list[tuple[str, dict[str, Any], int]] = [
    ("nothing/here", {}, -32_601),
    ("prompts/list", {}, -32_601),
    ("tools/call", {"arguments": {}}, -32_602),
    ("tools/call", {"name": "search_aios", "arguments": [1]}, -32_602),
    ("resources/read", {"uri": "fleet://projects"}, -32_602),
    *(
        ("tools/call", {"name": name, "arguments": arguments}, -32_602)
        for name, arguments in (
            ("nothing", {}),
            ("search_fleet", {"query": "x"}),
            ("search_aios", {"query": "x", "unknown": 1}),
            ("search_aios", {"query": "x", "limit": "three"}),
            ("search_aios", {"query": "x", "limit": True}),
            ("search_aios", {"query": "x", "limit": 3.5}),
            ("search_aios", {"follow": "ds1.x", "limit": 3}),
            ("search_aios", {"follow": "ds1.x", "query": "x"}),
            ("search_aios", {"follow": "ds1.x", "scope": "all"}),
            ("search_aios", {}),
            ("search_aios", {"query": "x", "memory": "off", "unknown": 1}),
            ("search_aios", {"query": "x"}),  # there is no AIOS folder
            ("read_working_context", {"memory": "shared", "project": "a"}),
            ("resolve_skill", {"intent": "x", "memory": "project"}),
        )
    ),
]


def test_errors_are_those_of_json_rpc(places: Path) -> None:
    lines = [request(10 + at, method, **params) for at, (method, params, _) in enumerate(ERRORS)]

    answers = session(*lines, answers=len(lines))

    codes = {one["id"]: one.get("error", {}).get("code") for one in answers}
    assert codes == {10 + at: code for at, (_, _, code) in enumerate(ERRORS)}
    assert str(places) not in json.dumps(answers)


def test_empty_lines_and_notifications_are_not_answered() -> None:
    notification = b'{"jsonrpc": "2.0", "method": "notifications/nothing"}'

    (answer,) = session(b"", b" ", notification, request(4, "ping"), answers=1)

    assert answer["id"] == 4


def test_off_is_answered_without_a_folder() -> None:
    asked = {"name": "search_aios", "arguments": {"query": "x", "memory": "off"}}

    (answer,) = session(request(3, "tools/call", **asked), answers=1)

    assert answer["result"]["structuredContent"]["receipt"] == "Memory: Off"
    assert answer["result"]["isError"] is False
