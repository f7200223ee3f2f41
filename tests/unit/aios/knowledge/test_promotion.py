"""Promotion: explicit, previewed, recorded once, and nothing of the person's is touched."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from agentic_os.aios.folder.json_text import JsonObject, object_lines
from agentic_os.aios.folder.system import System
from agentic_os.aios.knowledge.blocks import block_text, blocks_of, changed, matched
from agentic_os.aios.knowledge.memories import import_memories
from agentic_os.aios.knowledge.promotion import PromotionRequest, promote
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.sessions.capture import CaptureRequest, capture
from agentic_os.aios.sessions.transcripts import Transcript, read_claude
from agentic_os.aios.writing.opening import journal_of, open_for_writing
from agentic_os.aios.writing.plan import ChangeData, Proof
from agentic_os.aios.writing.undo import undo
from agentic_os.errors import AiosError
from support.aios.builder import SECRET, TODAY, AiosBuilder, tree
from support.aios.stopping import stopped_at_every_step
from support.aios.talk import claude_rows

SHARED = resolve_policy()
SUMMARY = "The beta ships on Friday."
HASH = "66b4e78c4be498b40f14ff10016e848807e6073351974ffa805f36aa57229dfc"


@pytest.fixture
def session(full: AiosBuilder) -> PromotionRequest:
    shutil.rmtree(full.root / "memory/sessions")
    found: Transcript = read_claude(claude_rows([("user", "When?"), ("assistant", "Friday.")]))
    made = capture(
        full.access(),
        SHARED,
        CaptureRequest(transcript=found, source_type="claude-code", source_path="/t.jsonl"),
    )
    assert made.session_id is not None
    return PromotionRequest(
        session=made.session_id, to="context", destination="new.md", summary=SUMMARY
    )


def proof_of(shown: ChangeData) -> Proof:
    return Proof(operation_id=shown.operation_id, plan_fingerprint=shown.plan_fingerprint)


def apply(aios: AiosBuilder, asked: PromotionRequest) -> ChangeData:
    shown = promote(aios.access(), SHARED, asked, None)
    return promote(aios.access(), SHARED, asked, proof_of(shown))


def events(aios: AiosBuilder) -> list[JsonObject]:
    rows = object_lines((aios.root / "memory/events.jsonl").read_text())
    return [row for row in rows if row is not None and row.get("type") == "memory-promotion"]


def code_of(aios: AiosBuilder, asked: PromotionRequest) -> str:
    before = tree(aios.root)
    with pytest.raises(AiosError) as caught:
        promote(aios.access(), SHARED, asked, None)
    assert tree(aios.root) == before
    return caught.value.code


def test_blocks(full: AiosBuilder, session: PromotionRequest) -> None:
    before = tree(full.root)
    shown = promote(full.access(), SHARED, session, None)
    assert tree(full.root) == before
    promote(full.access(), SHARED, session, proof_of(shown))
    text = (full.root / "context/new.md").read_text()
    source = next((full.root / "memory/sessions").rglob("*.md")).relative_to(full.root)
    assert text == (
        f"<!-- dotaios-promotion: content_hash={HASH} -->\n## Promoted evidence: {TODAY}\n\n"
        f"{SUMMARY}\n\nSource: `{source}`\n"
    )
    event = events(full)[0]
    assert event["promotion_id"] == shown.operation_id
    assert event["content_hash"] == HASH
    assert (event["destination_type"], event["destination_path"]) == ("context", "context/new.md")
    again = apply(full, session)
    assert again.changes[0].action == "keep"
    assert events(full)[1]["no_op"] is True
    assert (full.root / "context/new.md").read_text() == text
    work = (full.root / "context/work.md").read_text()
    apply(full, replace(session, destination="work.md"))
    assert (full.root / "context/work.md").read_text() == work + "\n" + text


def test_replace_remove_supersede(full: AiosBuilder, session: PromotionRequest) -> None:
    full.write("context/new.md", "# Mine\r\n\r\nBefore.\r\n")
    apply(full, session)
    path = full.root / "context/new.md"
    path.write_bytes(path.read_bytes() + b"\r\nAfter.\r\n")
    apply(full, replace(session, operation="replace", summary="On Monday."))
    text = path.read_bytes()
    assert b"On Monday." in text
    assert SUMMARY.encode() not in text
    assert text.startswith(b"# Mine\r\n\r\nBefore.\r\n")
    assert text.endswith(b"\r\nAfter.\r\n")
    assert b"\n" not in text.replace(b"\r\n", b"")
    apply(full, replace(session, operation="supersede", summary="On Tuesday."))
    blocks = blocks_of(path.read_text())
    assert len(blocks) == 2
    assert f"superseded-by={blocks[1].content_hash}" in path.read_text()
    apply(full, replace(session, operation="remove", match="On Monday."))
    apply(full, replace(session, operation="remove", match=blocks[1].content_hash[:12]))
    assert blocks_of(path.read_text()) == []
    assert path.read_bytes().startswith(b"# Mine\r\n\r\nBefore.\r\n")
    assert b"After." in path.read_bytes()
    assert code_of(full, replace(session, operation="remove", match="nowhere")) == (
        "DOTAIOS_PROMOTION_NO_MATCH"
    )


def test_other_destinations(full: AiosBuilder, session: PromotionRequest) -> None:
    apply(full, replace(session, to="project", destination=None, project="A1"))
    assert SUMMARY in (full.root / "projects/alpha/README.md").read_text()
    apply(full, replace(session, to="skill", destination="ship"))
    assert SUMMARY in (full.root / "skills/ship/SKILL.md").read_text()
    apply(full, replace(session, to="vault", destination="wiki/beta.md"))
    assert SUMMARY in (full.root / "vault/wiki/beta.md").read_text()
    apply(full, replace(session, to="signal", destination=None))
    signal = json.loads((full.root / f"memory/signals/{TODAY}.jsonl").read_text().splitlines()[-1])
    assert (signal["type"], signal["content_hash"]) == ("promoted-evidence", HASH)
    apply(full, replace(session, to="session-only", destination=None))
    assert [event["destination_type"] for event in events(full)] == [
        "project", "skill", "vault", "signal", "session-only",
    ]  # fmt: skip


def test_a_vault_outside_needs_its_grant(
    full: AiosBuilder, session: PromotionRequest, tmp_path: Path
) -> None:
    outside = tmp_path / "notes"
    outside.mkdir()
    stated = {"schema_version": "1.2.0", "vault_path": str(outside)}
    full.write("aios.json", json.dumps(stated))
    asked = replace(session, to="vault", destination="a.md")
    assert code_of(full, asked) == "DOTAIOS_EVIDENCE_ROOT_UNAUTHORIZED"
    access = full.access(vault_granted=lambda place: place == outside)
    shown = promote(access, SHARED, asked, None)
    promote(access, SHARED, asked, proof_of(shown))
    assert SUMMARY in (outside / "a.md").read_text()


def test_stopped_at_every_step_there_is_one_event(
    full: AiosBuilder, session: PromotionRequest
) -> None:
    session = replace(session, destination="work.md")
    kept = full.root.parent / "kept"
    shown = promote(full.access(), SHARED, session, None)
    shutil.copytree(full.root, kept)

    def prepare() -> None:
        for path in full.root.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(kept, full.root, dirs_exist_ok=True)

    def act(system: System) -> None:
        promote(full.access(system=system), SHARED, session, proof_of(shown))

    for _ in stopped_at_every_step(prepare, act):
        promote(full.access(), SHARED, session, proof_of(shown))
        assert len(events(full)) == 1
        assert (full.root / "context/work.md").read_text().count(SUMMARY) == 1
        assert promote(full.access(), SHARED, session, proof_of(shown)).status == "unchanged"
    assert (full.root / "memory/events.jsonl").exists()


def test_what_makes_a_preview_stale(full: AiosBuilder, session: PromotionRequest) -> None:
    session = replace(session, destination="work.md")
    for spoiled in ("context/work.md", None):
        shown = promote(full.access(), SHARED, session, None)
        path = spoiled or next((full.root / "memory/sessions").rglob("*.md")).relative_to(full.root)
        target = full.root / path
        target.write_bytes(target.read_bytes() + b"\n")
        with pytest.raises(AiosError) as caught:
            promote(full.access(), SHARED, session, proof_of(shown))
        assert caught.value.code == "DOTAIOS_PLAN_STALE"
    assert events(full) == []


@pytest.mark.parametrize(
    "change",
    [
        {"destination": "../x.md"},
        {"destination": "/x.md"},
        {"destination": "x.txt"},
        {"destination": None},
        {"destination": ".hidden/x.md"},
        {"to": "moon"},
        {"operation": "burn"},
        {"summary": "## Heading"},
        {"summary": "a\x1bb"},
        {"summary": ""},
        {"to": "skill", "destination": "nothing"},
        {"to": "project", "destination": None},
    ],
)
def test_arguments_that_are_refused(
    full: AiosBuilder, session: PromotionRequest, change: dict[str, str]
) -> None:
    assert code_of(full, replace(session, **change)) == "DOTAIOS_ARGUMENT_INVALID"


def test_links_secrets_and_unknown_sessions(full: AiosBuilder, session: PromotionRequest) -> None:
    (full.root / "context/link.md").symlink_to("work.md")
    asked = replace(session, destination="link.md")
    assert code_of(full, asked) == "DOTAIOS_WRITE_UNSAFE_TARGET"
    assert code_of(full, replace(session, summary=SECRET)) == "DOTAIOS_SECRET_FOUND"
    assert code_of(full, replace(session, session="zzzz")) == "DOTAIOS_SESSION_NOT_FOUND"
    assert code_of(full, replace(session, session=session.session[:3])) == (
        "DOTAIOS_SESSION_NOT_FOUND"
    )


def test_undo_brings_the_bytes_back(full: AiosBuilder, session: PromotionRequest) -> None:
    full.write("context/new.md", "# Existing\n")
    apply(full, session)
    with open_for_writing(full.access(), SHARED) as writer:
        journal = journal_of(writer, full.access())
        shown = undo(journal, None)
        undo(journal, proof_of(shown))
    assert (full.root / "context/new.md").read_bytes() == b"# Existing\n"


def test_a_block_ends_with_its_source() -> None:
    block = block_text("One.", "s.md", "2026-11-30")
    text = changed("# A\n", "add", block, None) + "\nMine.\n"
    found = matched(text, None, "s.md")
    assert changed(text, "remove", block, found) == "# A\n\nMine.\n"


def test_memories_of_other_agents(full: AiosBuilder, tmp_path: Path) -> None:
    home = tmp_path / "home"
    facts = {
        ".claude/projects/-a/memory/flag.md": "---\nname: f\n---\n# Flag\n\nUse --fast.\n",
        ".claude/projects/-b/memory/same.md": "### Flag\n\nUse --fast.\n",
        ".claude/projects/-a/memory/MEMORY.md": "- [f](flag.md)\n",
        ".claude/CLAUDE.md": (
            "Be brief.\n<!-- dotaios-managed:start -->\nx\n<!-- dotaios-managed:end -->\n"
        ),
        ".codex/memories/a.md": f"The key is {SECRET}\n",
        ".serena/memories/b.md": "Tests run with make.\n",
    }
    for path, text in facts.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
    before = tree(full.root)

    def run(proof: Proof | None) -> ChangeData:
        return import_memories(full.access(), SHARED, proof, environ={}, home=home)

    shown = run(None)
    assert tree(full.root) == before
    assert shown.notes == ("facts: 3", "left out because they look like secrets: 1")
    run(proof_of(shown))
    imported = {path.name: path.read_text() for path in (full.root / "context/imported").iterdir()}
    assert (
        "### Flag\n\nUse --fast.\n\nSource: `~/.claude/projects/-a/memory/flag.md`"
        in (imported["claude-code.md"])
    )
    assert "managed" not in imported["claude-md.md"]
    assert "make" in imported["serena.md"]
    assert len(events(full)) == 1
    assert run(None).status == "unchanged"
    assert str(home) not in "".join(imported.values())
