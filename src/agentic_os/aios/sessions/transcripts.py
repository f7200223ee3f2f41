"""Transcripts as agents write them: turns out of lines, one parser a form.

Forms (all read in 2026; each is a file of its agent's own):

- Claude Code, ``~/.claude/projects/<folder>/<uuid>.jsonl``: a line of type ``user`` or
  ``assistant`` with ``message.role`` and ``message.content``, a string or blocks; side chains are
  other sessions.
- Codex, ``~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl``: ``session_meta`` first, then
  ``response_item`` with a ``message``; ``event_msg`` echoes it; older files have no envelope.
- Gemini CLI, ``~/.gemini/tmp/<project>/chats/session-*.json`` or ``.jsonl``: messages of type
  ``user`` or ``gemini``, also in ``$set``; one may be repeated under its id, the last counts.

One turn a line. A line that is no JSON object is passed over: the last one may be half written.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from agentic_os.aios.sessions.codec import Turn, title_from, without_controls

AGENTS: Final = ("claude-code", "codex", "gemini")

_NOT_SAID: Final = ("<environment_context>", "<user_instructions>", "<session_context>")
"""How what a tool tells its model, in the person's name, begins."""


@dataclass(slots=True, kw_only=True)
class Transcript:
    """What a transcript says: its turns, where it ran and when it began."""

    agent: str
    turns: list[Turn] = field(default_factory=list)
    cwd: str | None = None
    title: str | None = None

    @property
    def started_at(self) -> str | None:
        """The time of the first turn that has one."""
        return next((turn.time for turn in self.turns if turn.time), None)

    def add(self, role: str, text: str, time: object, *, titled: bool = True) -> None:
        """Add a turn that says something."""
        content = without_controls(text).strip("\n")
        if not content.strip():
            return
        stamp = time if isinstance(time, str) else None
        self.turns.append(Turn(role=role, content=content, time=stamp))
        if self.title is None and titled and role == "user" and not content.startswith("<"):
            self.title = title_from(content)


def read_claude(rows: Iterable[object]) -> Transcript:
    """Read a transcript of Claude Code."""
    found = Transcript(agent="claude-code")
    for row in _objects(rows):
        found.cwd = found.cwd or _text(row.get("cwd"))
        message = row.get("message")
        if row.get("type") not in ("user", "assistant") or row.get("isSidechain") is True:
            continue
        if isinstance(message, Mapping) and message.get("role") in ("user", "assistant"):
            text = _joined(message.get("content"), ("text",))
            meta = row.get("isMeta") is True
            found.add(str(message["role"]), text, row.get("timestamp"), titled=not meta)
    return found


def read_codex(rows: Iterable[object]) -> Transcript:
    """Read a transcript of Codex."""
    found = Transcript(agent="codex")
    for row in _objects(rows):
        payload = row.get("payload")
        if row.get("type") == "session_meta" and isinstance(payload, Mapping):
            found.cwd = found.cwd or _text(payload.get("cwd"))
            continue
        enveloped = row.get("type") == "response_item" and isinstance(payload, Mapping)
        item: Mapping[str, object] = payload if enveloped and isinstance(payload, Mapping) else row
        if item.get("type") != "message" or item.get("role") not in ("user", "assistant"):
            continue
        text = _joined(item.get("content"), ("input_text", "output_text", "text"))
        if not text.lstrip().startswith(_NOT_SAID):
            found.add(str(item["role"]), text, row.get("timestamp"))
    return found


def read_gemini(rows: Iterable[object]) -> Transcript:
    """Read a transcript of Gemini CLI, in either form."""
    found = Transcript(agent="gemini")
    messages: dict[str, Mapping[str, object]] = {}
    for at, row in enumerate(_objects(rows)):
        if row.get("kind") == "subagent":
            return Transcript(agent="gemini")
        change = row.get("$set")
        listed = (change if isinstance(change, Mapping) else row).get("messages")
        if isinstance(listed, list):
            for number, message in enumerate(listed):
                if isinstance(message, Mapping):
                    messages[_key(message, f"{at}.{number}")] = message
        elif "$set" not in row:
            messages[_key(row, str(at))] = row
    roles = {"user": "user", "gemini": "assistant"}
    for message in messages.values():
        role = roles.get(str(message.get("type")))
        text = "" if role is None else _joined(message.get("content"), None)
        if role is not None and not text.lstrip().startswith(_NOT_SAID):
            found.add(role, text, message.get("timestamp"))
    return found


READERS: Final = {"claude-code": read_claude, "codex": read_codex, "gemini": read_gemini}


def recognised(row: object) -> str | None:
    """Say which agent wrote a transcript, by one of its lines."""
    if not isinstance(row, Mapping):
        return None
    kind = row.get("type")
    if kind in ("session_meta", "response_item") or (kind == "message" and "role" in row):
        return "codex"
    if isinstance(row.get("messages"), list) or kind == "gemini" or "projectHash" in row:
        return "gemini"
    if isinstance(row.get("message"), Mapping) and kind in ("user", "assistant"):
        return "claude-code"
    return None


def _objects(rows: Iterable[object]) -> Iterator[Mapping[str, object]]:
    return (row for row in rows if isinstance(row, Mapping))


def _key(message: Mapping[str, object], default: str) -> str:
    return _text(message.get("id")) or default


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _joined(content: object, kinds: tuple[str, ...] | None) -> str:
    """Join the text blocks of a content with blank lines; ``None`` takes every block."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = (block for block in content if isinstance(block, Mapping))
    texts = (
        block["text"]
        for block in blocks
        if isinstance(block.get("text"), str) and (kinds is None or block.get("type") in kinds)
    )
    return "\n\n".join(text for text in texts if isinstance(text, str) and text)
