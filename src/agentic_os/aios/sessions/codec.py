r"""The document of a captured session and its row in the index (DotAIOS convention, sessions).

Pure functions. A document is front matter of a closed set of scalars and a body: for each turn a
line ``**role**`` or ``**role · HH:MM**``, a blank line and the content. A content line that would
read as such a marker, or starts with a backslash, gets one backslash before it
(``escaped-lines-v1``). ``content_hash`` is over the body as it is written.

>>> body = encode_body([Turn(role="user", content="**user**", time="2026-11-30T08:05:00Z")])
>>> print(body, end="")
**user · 08:05**
<BLANKLINE>
\**user**
>>> decode_body(body, 1)
(Turn(role='user', content='**user**', time='08:05'),)
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from agentic_os.aios.folder.front_matter import FRONT_MATTER_BYTES
from agentic_os.aios.folder.json_text import JsonObject, instant_ms
from agentic_os.aios.folder.tree import SESSIONS
from agentic_os.aios.sessions.faults import session_fault

DOCUMENT_BYTES: Final = 1024 * 1024
TURN_BYTES: Final = 256 * 1024
TURNS: Final = 10_000
TITLE_CHARS: Final = 80
ENCODING: Final = "escaped-lines-v1"

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,127}")
OPERATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_HEX = re.compile(r"[0-9a-f]{64}")
_MARKER = re.compile(r"\*\*([a-z][a-z0-9_-]{0,31})(?: · (\d{2}:\d{2}))?\*\*")
_PLAIN = re.compile(r"[A-Za-z~/_][A-Za-z0-9_./:+~-]*|\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d)")
_WORDS_OF_YAML: Final = frozenset(
    {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "~"}
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_KEYS: Final = (
    "agent",
    "session_id",
    "operation_id",
    "request_hash",
    "captured_at",
    "source_type",
    "source_path",
    "project",
    "project_id",
    "turns",
    "body_encoding",
    "title",
    "schema",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn; ``time`` is an ISO time, or ``HH:MM`` of a stored one."""

    role: str
    content: str
    time: str | None = None

    @property
    def said(self) -> tuple[str, str]:
        """What makes two turns the same: role and content, not the time."""
        return (self.role, self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A captured session. A summary has no turns; its ``body`` is free text."""

    session_id: str
    agent: str
    captured_at: str
    source_type: str
    body: str
    turns: int
    source_path: str | None = None
    project: str | None = None
    project_id: str | None = None
    title: str | None = None
    operation_id: str | None = None
    request_hash: str | None = None

    @property
    def path(self) -> str:
        """Where the document lies, relative to the folder."""
        agent = re.sub(r"[^a-z0-9]", "-", self.agent)
        stamp = self.captured_at[:19].replace(":", "-")
        suffix = "" if self.operation_id is None else f"_{sha256(self.operation_id)}"
        name = f"{stamp}_{agent}_{self.session_id[:6]}{suffix}.md"
        return f"{SESSIONS}/{self.captured_at[:10]}/{name}"

    @property
    def content_hash(self) -> str:
        """The first 16 hex digits of the body's SHA-256."""
        return sha256(self.body)[:16]

    def said(self) -> tuple[tuple[str, str], ...]:
        """Return what the turns say."""
        return tuple(turn.said for turn in decode_body(self.body, self.turns))


def sha256(text: str) -> str:
    """Return the lower-case hex SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def encode_body(turns: Sequence[Turn]) -> str:
    """Write the body of turns."""
    return "\n\n".join(f"{_marker(turn)}\n\n{_escaped(turn.content)}" for turn in turns) + "\n"


def decode_body(body: str, count: int) -> tuple[Turn, ...]:
    """Read the turns of a body.

    Raises:
        AiosError: DOTAIOS_SESSION_BODY_INVALID, DOTAIOS_SESSION_TURN_COUNT_MISMATCH.
    """
    if count == 0:
        return ()
    lines = body.split("\n")
    starts = [at for at, line in enumerate(lines) if _MARKER.fullmatch(line)]
    if not starts or starts[0] != 0 or lines[-1] != "":
        raise session_fault("BODY_INVALID")
    if len(starts) != count:
        raise session_fault("TURN_COUNT_MISMATCH")
    turns = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        found = _MARKER.fullmatch(lines[start])
        block = lines[start + 1 : end]
        if found is None or len(block) < 3 or block[0] or block[-1]:  # noqa: PLR2004 - two blanks
            raise session_fault("BODY_INVALID")
        content = [line.removeprefix("\\") for line in block[1:-1]]
        turns.append(Turn(role=found[1], content="\n".join(content), time=found[2]))
    return tuple(turns)


def render(session: Session) -> bytes:
    """Write a document.

    Raises:
        AiosError: DOTAIOS_SESSION_DOCUMENT_TOO_LARGE, DOTAIOS_SESSION_FIELD_INVALID.
    """
    summary = session.operation_id is not None
    values: dict[str, str | int | None] = {
        "agent": session.agent,
        "session_id": session.session_id,
        "operation_id": session.operation_id,
        "request_hash": session.request_hash,
        "captured_at": session.captured_at,
        "source_type": session.source_type,
        "source_path": session.source_path,
        "project": session.project,
        "project_id": session.project_id,
        "turns": session.turns,
        "body_encoding": ENCODING if session.turns else None,
        "title": session.title,
        "schema": 1,
    }
    lines = [
        f"{name}: {_scalar(name, value, quoted=summary)}"
        for name, value in values.items()
        if value is not None
    ]
    data = "\n".join(["---", *lines, "---", "", session.body]).encode("utf-8")
    if len(data) > DOCUMENT_BYTES:
        raise session_fault("DOCUMENT_TOO_LARGE")
    _check(session)
    return data


def parse(data: bytes) -> Session:
    """Read a document, strictly.

    Raises:
        AiosError: DOTAIOS_SESSION_* of what is wrong with it.
    """
    if len(data) > DOCUMENT_BYTES:
        raise session_fault("DOCUMENT_TOO_LARGE")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise session_fault("UTF8_INVALID") from None
    if not text.startswith("---\n"):
        raise session_fault("FRONTMATTER_MISSING")
    end = text.find("\n---\n", 3)
    if end < 0 or end > FRONT_MATTER_BYTES:
        raise session_fault("FRONTMATTER_INVALID")
    values = _fields(text[4:end])
    body = text[end + 5 :].removeprefix("\n")
    required = ("agent", "session_id", "captured_at", "source_type", "turns", "schema")
    if any(name not in values for name in required) or values["schema"] != "1":
        raise session_fault("FRONTMATTER_REQUIRED")
    if not values["turns"].isascii() or not values["turns"].isdigit():
        raise session_fault("FIELD_INVALID")
    session = Session(
        session_id=values["session_id"],
        agent=values["agent"],
        captured_at=values["captured_at"],
        source_type=values["source_type"],
        body=body,
        turns=int(values["turns"]),
        source_path=values.get("source_path"),
        project=values.get("project"),
        project_id=values.get("project_id"),
        title=values.get("title"),
        operation_id=values.get("operation_id"),
        request_hash=values.get("request_hash"),
    )
    encoded = values.get("body_encoding") == ENCODING
    if encoded != bool(session.turns):
        raise session_fault("FIELD_INVALID")
    _check(session)
    decode_body(body, session.turns)
    return session


def row_of(session: Session) -> JsonObject:
    """Make the index row of a session, without the marks of a conflict."""
    row: JsonObject = {
        "session_id": session.session_id,
        "agent": session.agent,
        "captured_at": session.captured_at,
        "source_type": session.source_type,
    }
    for name in ("source_path", "project", "project_id"):
        value = getattr(session, name)
        if value is not None:
            row[name] = value
    row |= {
        "turns": session.turns,
        "title": session.title,
        "path": session.path,
        "content_hash": session.content_hash,
    }
    if session.operation_id is not None:
        row |= {"operation_id": session.operation_id, "request_hash": session.request_hash}
    return row


def conflict_group(source_path: str) -> str:
    """Name the group of sessions that one source left."""
    return f"source-{sha256(source_path)[:16]}"


def title_from(text: str) -> str:
    """Make a title: white space collapsed, at most 80 characters."""
    words = " ".join(text.split())
    return words if len(words) <= TITLE_CHARS else words[: TITLE_CHARS - 3] + "..."


def without_controls(text: str) -> str:
    """Spell control characters out, which a body may not hold; line ends become LF."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub(lambda found: f"<U+{ord(found.group()):04X}>", plain)


def unescaped(text: str) -> str:
    """Take the backslashes of ``escaped-lines-v1`` away, to show a part of a body."""
    return "\n".join(line.removeprefix("\\") for line in text.split("\n"))


def _marker(turn: Turn) -> str:
    time = turn.time or ""
    shown = time[11:16] if len(time) > len("HH:MM") else time
    return f"**{turn.role} · {shown}**" if re.fullmatch(r"\d\d:\d\d", shown) else f"**{turn.role}**"


def _escaped(content: str) -> str:
    return "\n".join(
        f"\\{line}" if line.startswith("\\") or _MARKER.fullmatch(line) else line
        for line in content.split("\n")
    )


def _scalar(name: str, value: str | int, *, quoted: bool) -> str:
    if isinstance(value, int):
        return str(value)
    always = quoted or name in {"session_id", "title"}
    if always or not _PLAIN.fullmatch(value) or value.lower() in _WORDS_OF_YAML:
        return json.dumps(value, ensure_ascii=False)
    return value


def _fields(block: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for line in block.split("\n"):
        name, colon, value = line.partition(":")
        value = value.strip()
        if not colon or name not in _KEYS or name in values or not value:
            raise session_fault("FRONTMATTER_INVALID")
        if value[0] in "&*!|>{[%@`'":
            raise session_fault("FRONTMATTER_UNSAFE")
        if value.startswith('"'):
            try:
                value = json.loads(value)
            except ValueError:
                raise session_fault("FRONTMATTER_INVALID") from None
        values[name] = value
    return values


def _check(session: Session) -> None:
    limits = {"project": 128, "project_id": 200, "title": 512, "source_path": 4096}
    texts = [(name, getattr(session, name)) for name in limits]
    try:
        date.fromisoformat(session.captured_at[:10])
    except ValueError:
        raise session_fault("FIELD_INVALID") from None
    valid = (
        _NAME.fullmatch(session.agent)
        and _NAME.fullmatch(session.source_type)
        and _ID.fullmatch(session.session_id)
        and instant_ms(session.captured_at) is not None
        and "T" in session.captured_at
        and 0 <= session.turns <= TURNS
        and all(
            text is None or (0 < len(text) <= limits[name] and not _CONTROL.search(text))
            for name, text in texts
        )
        and (session.operation_id is None) == (session.request_hash is None)
        and (session.operation_id is None or OPERATION.fullmatch(session.operation_id))
        and (session.request_hash is None or _HEX.fullmatch(session.request_hash))
        and (session.operation_id is None or session.turns == 0)
    )
    if not valid:
        raise session_fault("FIELD_INVALID")
    if _CONTROL.search(session.body):
        raise session_fault("BODY_INVALID")
