"""``hook session-start`` as the three clients start it: their input, exit code, both streams."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.aios.builder import AiosBuilder
from support.fleet.builder import FleetBuilder
from support.process.cli_call import call

MAX_ANSWER_CHARS = 9_000
SHARED: dict[str, Any] = {
    "session_id": "s-1",
    "transcript_path": "/home/me/.x/s-1.jsonl",
    "hook_event_name": "SessionStart",
}
INPUTS: dict[str, dict[str, Any]] = {
    "claude-code": SHARED | {"source": "startup", "model": "opus", "permission_mode": "default"},
    "codex": SHARED | {"source": "resume", "model": "gpt", "turn_id": None},
    "gemini": SHARED | {"source": "clear", "timestamp": "2026-11-30T12:00:00.000Z"},
}


def hook(fleet: FleetBuilder, data: bytes, current: Path) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "agentic_os", "hook", "session-start"]
    return subprocess.run(
        [*command, "--root", str(fleet.root)],
        input=data,
        capture_output=True,
        cwd=current,
        env=dict(os.environ),
        timeout=60,
        check=False,
    )


@pytest.fixture
def shop(fleet: FleetBuilder, places: Path) -> Path:
    (places / "aios").mkdir()
    AiosBuilder(places / "aios").complete()
    project = fleet.project("shop")
    project.fact("retry", "Four tries.", title="Retry", description="How often")
    return project.folder


@pytest.mark.parametrize("client", sorted(INPUTS))
def test_each_clients_input_is_answered_as_it_reads_answers(
    fleet: FleetBuilder, shop: Path, tmp_path: Path, client: str
) -> None:
    asked = INPUTS[client] | {"cwd": str(shop)}

    done = hook(fleet, json.dumps(asked).encode(), tmp_path)

    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert text.count("\n") == 1
    assert len(text.rstrip("\n")) <= MAX_ANSWER_CHARS
    answer = json.loads(text)
    assert answer.keys() == {"hookSpecificOutput"}
    assert answer["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
    assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    aios, _, block = answer["hookSpecificOutput"]["additionalContext"].partition("## Fleet: ")
    assert aios.startswith("Memory: Shared\n\n## Active Context")
    assert block.startswith("shop (`shop-")
    assert "Retry: How often" in block


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\x00", b'{"cwd": "here"}', b"x" * 70_000])
def test_bad_input_is_named_and_the_answer_is_still_one(
    fleet: FleetBuilder, shop: Path, data: bytes
) -> None:
    done = hook(fleet, data, shop)

    assert done.returncode == 0, "no client reads an answer at another code"
    assert done.stderr.decode().startswith("agentic-os: The hook")
    answer = json.loads(done.stdout)
    assert answer["systemMessage"] == done.stderr.decode().strip()
    context = answer["hookSpecificOutput"]["additionalContext"]
    assert "Retry: How often" in context, "it is about the folder that it runs in"
    assert str(shop) not in done.stderr.decode() + context


def test_the_answer_is_the_same_whoever_asks(
    fleet: FleetBuilder, shop: Path, tmp_path: Path
) -> None:
    answers = {
        hook(fleet, json.dumps(asked | {"cwd": str(shop)}).encode(), tmp_path).stdout
        for asked in INPUTS.values()
    }

    assert len(answers) == 1


def started(current: Path, script: str) -> "subprocess.CompletedProcess[bytes]":
    """The hook as a shell starts it, in surroundings that the script makes."""
    return subprocess.run(
        [
            "/bin/bash",
            "-c",
            script.replace("HOOK", f"{sys.executable} -m agentic_os hook session-start"),
        ],
        capture_output=True,
        cwd=current,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "script",
    [
        "mkdir gone; cd gone; rmdir ../gone; HOOK </dev/null",
        "HOOK <&-",
        "HOOK --no-such-option </dev/null",
        "AGENTIC_OS_CONFIG_DIR=relative HOOK </dev/null",
        "AGENTIC_OS_CACHE_DIR=/dev/null/x HOOK </dev/null",
        "echo '{' | HOOK --root /no/such/root",
        "HOOK </dev/null >/dev/full",
        "HOOK </dev/null | true; exit ${PIPESTATUS[0]}",
    ],
)
def test_whatever_happens_the_code_is_0(tmp_path: Path, script: str) -> None:
    done = started(tmp_path, script)

    assert done.returncode == 0, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    if done.stdout:
        assert json.loads(done.stdout)["hookSpecificOutput"]["hookEventName"] == "SessionStart"


def test_a_fault_of_our_own_is_said_to_the_person(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr("agentic_os.cli.actions.agents.hooks.answer", broken)

    finished = call("hook", "session-start")

    document = json.loads(finished.text)
    assert finished.code == 0
    assert "RuntimeError" in document["systemMessage"]
    assert document["hookSpecificOutput"]["additionalContext"] == ""


def test_a_bad_file_of_the_aios_folder_is_named(
    fleet: FleetBuilder, shop: Path, places: Path
) -> None:
    AiosBuilder(places / "aios").write(
        "projects/zeta/README.md", "---\nid: Z1\nname: a: b\n---\n# Z\n"
    )

    done = hook(fleet, json.dumps({"cwd": str(shop)}).encode(), shop)

    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert "projects/zeta/README.md:3" in document["systemMessage"]
    assert "Retry" in document["hookSpecificOutput"]["additionalContext"]
