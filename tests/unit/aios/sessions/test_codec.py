"""The document of a session: the convention's bytes, and any text comes back."""

import hashlib
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.aios.sessions.codec import (
    Session,
    Turn,
    conflict_group,
    decode_body,
    encode_body,
    parse,
    render,
    row_of,
    title_from,
    without_controls,
)
from agentic_os.errors import AiosError

SOURCE = "/home/u/.claude/projects/-home-u-app/0f1e2d3c-4b5a-4678-8901-234567890abc.jsonl"
TURNS = (
    Turn(role="user", content="Rename the flag", time="2026-11-30T08:00:00.000Z"),
    Turn(role="assistant", content="Done.", time="2026-11-30T08:01:00.000Z"),
)
SESSION = Session(
    session_id="a1b2c3d4",
    agent="claude-code",
    captured_at="2026-11-30T08:00:00.000Z",
    source_type="claude-code",
    source_path=SOURCE,
    project="app",
    project_id="p-1",
    title="Rename the flag",
    body=encode_body(TURNS),
    turns=2,
)


def test_the_bytes_of_the_convention() -> None:
    data = render(SESSION)
    assert len(data) == 378
    assert hashlib.sha256(data).hexdigest() == (
        "939efe11bf358a7b56cccef502ba9649202c078b5ce2ad16f998f58b95dfbfcb"
    )
    assert SESSION.content_hash == "9af8f24fa1ecedb4"
    assert SESSION.path == ("memory/sessions/2026-11-30/2026-11-30T08-00-00_claude-code_a1b2c3.md")
    assert parse(data) == SESSION
    assert conflict_group(SOURCE) == "source-1d9c38f29f94740b"
    assert list(row_of(SESSION)) == [
        "session_id", "agent", "captured_at", "source_type", "source_path", "project",
        "project_id", "turns", "title", "path", "content_hash",
    ]  # fmt: skip


def test_a_grown_body() -> None:
    more = Turn(role="user", content="**user**\nquoted \\ line", time="2026-11-30T08:05:00.000Z")
    body = encode_body((*TURNS, more))
    assert body.endswith("**user · 08:05**\n\n\\**user**\nquoted \\ line\n")
    assert hashlib.sha256(body.encode()).hexdigest()[:16] == "eb615cf385e5169b"
    assert decode_body(body, 3)[2].content == more.content


def test_a_saved_summary() -> None:
    summary = Session(
        session_id="0badcafe",
        agent="codex",
        captured_at="2026-11-30T08:00:00.000Z",
        source_type="save-session",
        title="T",
        body="# T\n\nOne line.",
        turns=0,
        operation_id="save-1",
        request_hash="853f638ce85d4e6dc591e1b69fd8cea73bab6ac5bcc1ad1f26f1e7bd3510f55c",
    )
    data = render(summary)
    assert hashlib.sha256(data).hexdigest() == (
        "2a11d014031eae03478c6a4d3d40f2bbb5c63296c0fb9b2dfd860592ce12628c"
    )
    assert (len(data), summary.content_hash) == (263, "0c86841c5c0d6297")
    assert summary.path.endswith(
        "_c767736efe5cb2bca8016f47a878b9f6ecbf4c05f87809ce6076593e16cf1f98.md"
    )
    assert parse(data) == summary


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\r") | st.sampled_from("\\*·\n user:--- "),
    min_size=1,
    max_size=60,
).map(without_controls)
MARKED = st.sampled_from(["**user**", "\\**user · 08:00**", "---", "", "x", "\\\\"]) | TEXTS


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), MARKED), min_size=1, max_size=6))
def test_any_turns_come_back(said: list[tuple[str, str]]) -> None:
    turns = [Turn(role=role, content=text) for role, text in said]
    body = encode_body(turns)
    assert [turn.said for turn in decode_body(body, len(turns))] == said
    session = replace(SESSION, body=body, turns=len(turns), title=title_from("x"))
    assert parse(render(session)) == session


@given(st.text(max_size=200), st.text(max_size=80), st.text(max_size=80))
def test_any_fields_come_back_or_are_refused(title: str, project: str, source: str) -> None:
    session = replace(SESSION, title=title, project=project, source_path=source)
    with suppress(AiosError):  # a field that cannot be kept is refused before it is written
        assert parse(render(session)) == session


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ("---\nagent", "agent", "FRONTMATTER_MISSING"),
        ("schema: 1\n---", "schema: 1\n--", "FRONTMATTER_INVALID"),
        ("turns: 2", "turns: 3", "TURN_COUNT_MISMATCH"),
        ("turns: 2", "turns: x", "FIELD_INVALID"),
        ("turns: 2", "turns: 2\nturns: 2", "FRONTMATTER_INVALID"),
        ("agent: claude-code", "agent: Claude", "FIELD_INVALID"),
        ("agent: claude-code", "agent: &a claude-code", "FRONTMATTER_UNSAFE"),
        ("schema: 1", "schema: 2", "FRONTMATTER_REQUIRED"),
        ("schema: 1", "extra: 1\nschema: 1", "FRONTMATTER_INVALID"),
        ("2026-11-30T08:00:00.000Z", "2026-13-30T08:00:00.000Z", "FIELD_INVALID"),
        ("**user · 08:00**", "x\n**user · 08:00**", "BODY_INVALID"),
        ("Done.", "Do\x1bne.", "BODY_INVALID"),
        ("Done.", "x" * 1024 * 1024, "DOCUMENT_TOO_LARGE"),
    ],
)
def test_what_is_no_document(before: str, after: str, word: str) -> None:
    data = render(SESSION).decode().replace(before, after, 1).encode()
    with pytest.raises(AiosError) as caught:
        parse(data)
    assert caught.value.code == f"DOTAIOS_SESSION_{word}"


def test_bytes_that_are_not_utf_8() -> None:
    with pytest.raises(AiosError) as caught:
        parse(b"\xff")
    assert caught.value.code == "DOTAIOS_SESSION_UTF8_INVALID"
