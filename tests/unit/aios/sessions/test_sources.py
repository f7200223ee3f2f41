"""Transcripts: each form read by its own rule, streamed, hostile or half written."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest

from agentic_os.aios.sessions.sources import (
    TRANSCRIPT_BYTES,
    read_transcript,
    sources_of,
)
from agentic_os.errors import AiosError
from support.aios.talk import (
    Said,
    claude_rows,
    codex_rows,
    gemini_messages,
    lines,
)

SAID: list[Said] = [("user", "Hello é"), ("assistant", "Hi."), ("user", "Bye\x1b[31m\r\nnow")]
_CONTEXT = [{"text": "<session_context>\nThis is the Gemini CLI."}]
READ = [("user", "Hello é"), ("assistant", "Hi."), ("user", "Bye<U+001B>[31m\nnow")]


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini", "gemini-lines"])
@pytest.mark.parametrize("named", [True, False])
def test_every_form(tmp_path: Path, agent: str, *, named: bool) -> None:
    if agent == "gemini":
        path = tmp_path / "tmp/app/chats/session-1.json"
        lines(path, [])
        document = {"sessionId": "s", "projectHash": "x", "messages": gemini_messages(SAID)}
        path.write_text(json.dumps(document))
        (tmp_path / "tmp/app/.project_root").write_text("/home/u/app\n")
    else:
        rows = {
            "claude-code": claude_rows(SAID),
            "codex": codex_rows(SAID),
            "gemini-lines": [
                {"sessionId": "s", "projectHash": "x"},
                *gemini_messages([*SAID[:2], ("user", "draft")]),
                {"$set": {"lastUpdated": "x"}},
                {"$set": {"messages": [{"id": "s", "type": "user", "content": _CONTEXT}]}},
                gemini_messages(SAID)[2],
                {"type": "info", "content": "loaded", "id": "i"},
            ],
        }[agent]
        path = lines(tmp_path / "one.jsonl", rows)
    found = read_transcript(path, agent.removesuffix("-lines") if named else None)
    assert [turn.said for turn in found.turns] == READ
    assert found.agent == agent.removesuffix("-lines")
    assert found.title == "Hello é"
    assert found.started_at == "2026-11-30T08:00:00.000Z"
    if agent != "gemini-lines":
        assert found.cwd == "/home/u/app"


def test_older_codex_files_and_what_was_not_said(tmp_path: Path) -> None:
    rows = [
        {"id": "c", "timestamp": "2025-06-01T00:00:00Z", "instructions": None},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"type": "message", "role": "user", "content": "<user_instructions>x"},
    ]
    found = read_transcript(lines(tmp_path / "a.jsonl", rows), "codex")
    assert [turn.said for turn in found.turns] == [("user", "Hi")]


def test_claude_side_chains_and_titles(tmp_path: Path) -> None:
    rows = [
        {"type": "user", "isMeta": True, "message": {"role": "user", "content": "Caveat"}},
        {"type": "user", "message": {"role": "user", "content": "<command-name>x"}},
        {"type": "user", "isSidechain": True, "message": {"role": "user", "content": "Side"}},
        {"type": "user", "message": {"role": "user", "content": "Real  question" + "?" * 90}},
    ]
    found = read_transcript(lines(tmp_path / "a.jsonl", rows), "claude-code")
    assert [turn.content[:8] for turn in found.turns] == ["Caveat", "<command", "Real  qu"]
    assert found.title is not None
    assert (len(found.title), found.title[:14], found.title[-3:]) == (80, "Real question?", "...")


def test_half_written_and_malformed_lines_are_passed_over(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", claude_rows(SAID[:2]))
    path.write_bytes(b"\xff\n[1]\n" + path.read_bytes() + b'{"type":"user","message":{"ro')
    found = read_transcript(path, "claude-code")
    assert [turn.said for turn in found.turns] == READ[:2]


def test_a_huge_transcript_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    tool = json.dumps(
        {"type": "user", "message": {"role": "user", "content": [{"type": "x", "d": "y" * 10**6}]}}
    )
    with path.open("w") as file:
        file.write(json.dumps(claude_rows(SAID)[1]) + "\n")
        for _ in range(200):
            file.write(tool + "\n")
        file.write("z" * (17 * 1024 * 1024) + "\n")
        file.write(json.dumps(claude_rows(SAID)[2]) + "\n")
    assert path.stat().st_size > 200 * 1024 * 1024
    tracemalloc.start()
    found = read_transcript(path, "claude-code")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [turn.said for turn in found.turns] == READ[:2]
    assert peak < 64 * 1024 * 1024


def test_what_cannot_be_read(tmp_path: Path) -> None:
    real = lines(tmp_path / "a.jsonl", claude_rows(SAID))
    (tmp_path / "link.jsonl").symlink_to(real)
    os.mkfifo(tmp_path / "pipe.jsonl")
    huge = tmp_path / "huge.jsonl"
    huge.touch()
    os.truncate(huge, TRANSCRIPT_BYTES + 1)
    lines(tmp_path / "none.jsonl", [{"a": 1}])
    words = {
        "link": "SOURCE_UNAUTHORIZED",
        "pipe": "SOURCE_UNAUTHORIZED",
        "missing": "SOURCE_UNAVAILABLE",
        "huge": "SOURCE_TOO_LARGE",
        "none": "SOURCE_INVALID",
    }
    for name, word in words.items():
        with pytest.raises(AiosError) as caught:
            read_transcript(tmp_path / f"{name}.jsonl")
        assert caught.value.code == f"DOTAIOS_SESSION_{word}"


def test_where_transcripts_lie(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    lines(home / ".claude/projects/-a/one.jsonl", [])
    lines(home / ".claude/projects/-a/agent-1.jsonl", [])
    lines(home / ".claude/projects/-a/one/subagents/two.jsonl", [])
    lines(other / "projects/-b/three.jsonl", [])
    lines(home / ".codex/sessions/2026/11/30/rollout-x.jsonl", [])
    lines(home / ".gemini/tmp/app/chats/session-x.json", [])

    def names(agent: str, **environ: str) -> list[str]:
        return [source.path.name for source in sources_of(agent, environ, home)]

    assert names("claude-code") == ["one.jsonl"]
    assert names("claude-code", CLAUDE_CONFIG_DIR=str(other)) == ["three.jsonl"]
    assert names("codex") == ["rollout-x.jsonl"]
    assert names("gemini") == ["session-x.json"]
    with pytest.raises(AiosError):
        names("eliza")
