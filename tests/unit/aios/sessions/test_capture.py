"""Capturing: once each, growing in place, secrets out, nothing lost when it is stopped."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.json_text import object_lines
from agentic_os.aios.folder.system import System
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.request import search_aios
from agentic_os.aios.sessions.capture import CAPTURED_TURN_BYTES, Captured, CaptureRequest, capture
from agentic_os.aios.sessions.codec import parse
from agentic_os.aios.sessions.inventory import delete, listed, reconcile, status
from agentic_os.aios.sessions.sources import read_transcript
from agentic_os.aios.writing.plan import Proof
from agentic_os.errors import AiosError
from support.aios.builder import SECRET, AiosBuilder, RaisingLayer, tree
from support.aios.stopping import side_by_side, stopped_at_every_step
from support.aios.talk import Said, claude_rows, lines

SHARED = resolve_policy()
FIRST: list[Said] = [("user", "Rename the flag"), ("assistant", "Done.")]
MORE: list[Said] = [*FIRST, ("user", "**user**\nquoted \\ line")]
OTHER: list[Said] = [("user", "Rename the flag"), ("assistant", "Refused.")]


@pytest.fixture
def access(aios: AiosBuilder, tmp_path: Path) -> AiosAccess:
    return aios.access(home=tmp_path)


def write(access: AiosAccess, said: list[Said], name: str = "one") -> Path:
    assert access.home is not None
    return lines(access.home / f".claude/projects/-app/{name}.jsonl", claude_rows(said))


def take(access: AiosAccess, said: list[Said], name: str = "one") -> Captured:
    path = write(access, said, name)
    asked = CaptureRequest(
        transcript=read_transcript(path, "claude-code"),
        source_type="claude-code",
        source_path=os.path.realpath(path),
    )
    return capture(access, SHARED, asked)


def index(access: AiosAccess) -> list[dict[str, object]]:
    path = access.root / "memory/sessions/index.jsonl"
    text = path.read_text() if path.exists() else ""
    return [dict(row) for row in object_lines(text) if row is not None]


def bodies(access: AiosAccess) -> list[str]:
    paths = sorted(access.root.glob("memory/sessions/*/*.md"))
    return [parse(path.read_bytes()).body for path in paths]


def test_created_grown_idempotent_and_in_conflict(access: AiosAccess) -> None:
    made = take(access, FIRST)
    assert (made.outcome, made.turns, made.title) == ("created", 2, "Rename the flag")
    row = index(access)[0]
    assert row["source_path"] == "~/.claude/projects/-app/one.jsonl"
    assert row["captured_at"] == "2026-11-30T08:00:00.000Z"
    before = tree(access.root)
    assert take(access, FIRST).outcome == "idempotent"
    assert {k: v for k, v in tree(access.root).items() if "session-store" not in k} == {
        k: v for k, v in before.items() if "session-store" not in k
    }
    grown = take(access, MORE)
    assert (grown.outcome, grown.session_id, grown.path) == ("grown", made.session_id, made.path)
    assert len(index(access)) == 1
    assert take(access, FIRST).outcome == "idempotent"
    kept = bodies(access)[0]
    copy = take(access, OTHER)
    assert copy.outcome == "conflict_preserved"
    first, second = index(access)
    assert {first["conflict_group"]} == {second["conflict_group"]}
    marks = [row.get("conflict_of") for row in (first, second)]
    assert sorted(marks, key=str) == sorted([None, made.session_id], key=str)
    assert kept in bodies(access)
    assert take(access, OTHER).outcome == "idempotent"
    assert take(access, [*MORE, ("assistant", "Yes.")]).outcome == "grown"
    assert reconcile(access, SHARED).findings == {}


def test_readers_show_conflicts_and_plain_text(access: AiosAccess) -> None:
    take(access, MORE)
    take(access, OTHER)
    rows = [
        line for line in read_brief(access, SHARED).context.markdown.split("\n") if " turns" in line
    ]
    assert len(set(rows)) == 2
    found = search_aios(access, SHARED, query="quoted", scope="sessions").groups[0].hits[0]
    assert "**user** quoted \\ line" in found.texts[-1].replace("\n", " ")
    assert "\\**user**" not in found.texts[-1]


def test_secrets_and_long_turns_never_reach_the_store(access: AiosAccess) -> None:
    said = [("user", f"My token is {SECRET}"), ("assistant", "é" * CAPTURED_TURN_BYTES)]
    made = take(access, said)
    assert (made.outcome, made.redacted, made.cut) == ("created", 1, 1)
    stored = "".join(path.read_text() for path in access.root.rglob("*") if path.is_file())
    assert SECRET not in stored
    assert f"[cut: {CAPTURED_TURN_BYTES} more bytes]" in stored
    assert take(access, said).outcome == "idempotent"
    assert take(access, [*said, ("user", "and?")]).outcome == "grown"


def test_what_is_not_captured(access: AiosAccess, aios: AiosBuilder) -> None:
    assert take(access, []).reason == "empty_source"
    assert take(access, [("user", "Private chat: my taxes")]).reason == "private"
    assert take(access, [("user", "Only this project please")]).reason == "project_unverified"
    assert not list(access.root.rglob("*.md"))
    with pytest.raises(AiosError) as caught:
        capture(
            aios.access(files=RaisingLayer()),
            resolve_policy(mode="off"),
            CaptureRequest(transcript=read_transcript(write(access, FIRST)), source_type="file"),
        )
    assert caught.value.code == "DOTAIOS_MEMORY_OFF"


@pytest.mark.parametrize(
    "texts", [(FIRST,), (FIRST, MORE), (FIRST, OTHER)], ids=["create", "grow", "conflict"]
)
def test_stopped_at_every_step_the_next_capture_converges(
    access: AiosAccess, texts: tuple[list[Said], ...]
) -> None:
    for said in texts[:-1]:
        take(access, said)
    kept = access.root.parent / "kept"
    shutil.copytree(access.root, kept)
    old = bodies(access)

    def prepare() -> None:
        shutil.rmtree(access.root)
        shutil.copytree(kept, access.root)

    def act(system: System) -> None:
        take(replace(access, system=system), texts[-1])

    for _ in stopped_at_every_step(prepare, act):
        now = bodies(access)
        assert now == old or len(now) >= len(old)
        assert all(body in now for body in old) or len(texts) == 2
        assert len(index(access)) in {len(old), len(old) + 1}
        take(access, texts[-1])
        assert reconcile(access, SHARED).findings == {}
        names = {path.name for path in (access.root / ".dotaios/session-store").iterdir()}
        assert names == set()
        assert take(access, texts[-1]).outcome == "idempotent"


def test_a_deletion_stopped_at_every_step(access: AiosAccess) -> None:
    made = take(access, FIRST)
    take(access, OTHER, "two")
    kept = access.root.parent / "kept"
    shutil.copytree(access.root, kept)
    before = tree(access.root)
    shown = delete(access, SHARED, str(made.session_id)[:6], None)
    assert tree(access.root) == before

    def prepare() -> None:
        for path in access.root.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(kept, access.root, dirs_exist_ok=True)

    def act(system: System) -> None:
        apply = replace(access, system=system)
        preview = delete(apply, SHARED, str(made.session_id), None)
        proof = Proof(operation_id=preview.operation_id, plan_fingerprint=preview.plan_fingerprint)
        delete(apply, SHARED, str(made.session_id), proof)

    for _ in stopped_at_every_step(prepare, act):
        take(access, OTHER, "two")
        assert reconcile(access, SHARED).findings == {}
        assert len(index(access)) == len(bodies(access))
    assert [row["session_id"] for row in index(access)] != [made.session_id]
    proof = Proof(operation_id=shown.operation_id, plan_fingerprint=shown.plan_fingerprint)
    with pytest.raises(AiosError) as caught:
        delete(access, SHARED, str(made.session_id), proof)
    assert caught.value.code == "DOTAIOS_SESSION_NOT_FOUND"


def test_captures_side_by_side(access: AiosAccess) -> None:
    def act(number: int) -> None:
        for turn in range(3):
            take(access, [*FIRST, ("user", f"{number} {turn}")], f"s{number}-{turn}")
        take(access, FIRST, "same")

    side_by_side(*(lambda number=number: act(number) for number in range(4)))
    assert len(index(access)) == 13
    assert reconcile(access, SHARED).findings == {}


def test_an_index_that_lies_is_refused_and_written_anew(access: AiosAccess) -> None:
    made = take(access, FIRST)
    path = access.root / "memory/sessions/index.jsonl"
    good = path.read_text()
    (access.root / str(made.path)).rename(access.root / "gone.md")
    with pytest.raises(AiosError) as caught:
        take(access, MORE)
    assert caught.value.code == "DOTAIOS_SESSION_RECONCILIATION_REQUIRED"
    assert reconcile(access, SHARED).findings == {"stale_rows": 1}
    assert reconcile(access, SHARED, apply=True).applied
    assert index(access) == []
    (access.root / "gone.md").rename(access.root / str(made.path))
    path.write_text("not json\n")
    report = reconcile(access, SHARED)
    assert report.findings == {"malformed_rows": 1, "projection_missing": 1}
    assert reconcile(access, SHARED, apply=True).applied
    assert path.read_text() == good


def test_a_poisoned_store_is_left_and_can_be_reconciled(access: AiosAccess) -> None:
    made = take(access, FIRST)
    document = (access.root / str(made.path)).read_bytes()
    pending = access.root / ".dotaios/session-store/pending"
    pending.mkdir()
    zeros = "0" * 64
    manifest = {
        "format": "dotaios-session-store-transaction/v1",
        "id": "x",
        "kind": "grow",
        "target": made.path,
        "canonical_before": zeros,
        "canonical_identity_before": None,
        "canonical_after": zeros[:-1] + "1",
        "projection_before": zeros,
        "projection_identity_before": None,
        "projection_after": zeros,
    }
    (pending / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(AiosError) as caught:
        take(access, MORE)
    assert caught.value.code == "DOTAIOS_SESSION_STORE_POISONED"
    assert (access.root / str(made.path)).read_bytes() == document
    assert status(access, SHARED).unfinished
    reconcile(access, SHARED, apply=True)
    assert take(access, MORE).outcome == "grown"
    assert list((access.root / ".dotaios/changes").glob("session-poisoned-*"))


def test_listing(access: AiosAccess) -> None:
    take(access, FIRST)
    take(access, OTHER, "two")
    rows = listed(access, SHARED, agent="claude-code", limit=1)
    assert len(rows) == 1
    assert listed(access, SHARED, agent="codex") == []
    found = status(access, SHARED)
    assert (found.sessions, found.limit, found.agents) == (2, 20_000, {"claude-code": 2})
