"""Transcripts in the forms that Claude Code, Codex and Gemini CLI write.

The forms are those of the tools' own files (tests/services/test_transcripts.py makes some): Claude
Code 2.1 ``projects/*/*.jsonl`` (a user and an assistant line with ``message``), Codex CLI 0.171
``rollout-*.jsonl`` (``session_meta``, ``response_item``, ``event_msg``), Gemini CLI
``chats/session-*.json`` (one object) and ``.jsonl`` (header, ``$set``, messages).
"""

import json
from collections.abc import Iterable
from pathlib import Path

Said = tuple[str, str]


def lines(path: Path, rows: Iterable[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def minute(at: int) -> str:
    return f"2026-11-30T08:{at:02d}:00.000Z"


def claude_rows(said: Iterable[Said], cwd: str = "/home/u/app") -> list[object]:
    rows: list[object] = [{"type": "summary", "summary": "Earlier talk", "leafUuid": "x"}]
    for at, (role, text) in enumerate(said):
        content: object = text
        if role == "assistant":
            content = [
                {"type": "thinking", "thinking": "hidden"},
                {"type": "text", "text": text},
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {}},
            ]
        message = {"role": role, "content": content}
        rows.append({"type": role, "message": message, "timestamp": minute(at), "cwd": cwd})
    tool = {"role": "user", "content": [{"type": "tool_result", "content": "ok"}]}
    return [*rows, {"type": "user", "message": tool, "timestamp": minute(59), "cwd": cwd}]


def codex_rows(said: Iterable[Said], cwd: str = "/home/u/app") -> list[object]:
    rows: list[object] = [
        {"timestamp": minute(0), "type": "session_meta", "payload": {"id": "c1", "cwd": cwd}},
        _codex(0, "user", "<environment_context>\n<cwd>/x</cwd>\n</environment_context>"),
        _codex(0, "developer", "rules"),
    ]
    for at, (role, text) in enumerate(said):
        rows.append(_codex(at, role, text))
        echo = {"type": f"{'user' if role == 'user' else 'agent'}_message", "message": text}
        rows.append({"timestamp": minute(at), "type": "event_msg", "payload": echo})
    return rows


def _codex(at: int, role: str, text: str) -> object:
    kind = "output_text" if role == "assistant" else "input_text"
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"timestamp": minute(at), "type": "response_item", "payload": payload}


def gemini_messages(said: Iterable[Said]) -> list[dict[str, object]]:
    return [
        {
            "id": f"m{at}",
            "timestamp": minute(at),
            "type": "gemini" if role == "assistant" else role,
            "content": text if at % 2 else [{"text": text}],
        }
        for at, (role, text) in enumerate(said)
    ]
