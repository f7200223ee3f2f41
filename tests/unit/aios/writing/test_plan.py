"""Preview, exact apply, undo: what was previewed is done, and nothing else."""

import json
import shutil
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from agentic_os.aios.folder.system import System
from agentic_os.aios.writing.changes import RECORDS, Journal
from agentic_os.aios.writing.locks import CHANGES_LOCK
from agentic_os.aios.writing.plan import Plan, Proof, Target, carry_out, carry_out_now
from agentic_os.aios.writing.undo import undo
from agentic_os.aios.writing.writer import FolderWriter
from agentic_os.errors import AiosError
from support.aios.builder import NOW, AiosBuilder, tree
from support.aios.stopping import stopped_at_every_step

EDITS = {"context/work.md": b"new", "context/new.md": b"made", "old.md": None}


def journal(writer: FolderWriter) -> Journal:
    return Journal(writer=writer, lock=CHANGES_LOCK, clock=lambda: NOW)


def plan(writer: FolderWriter) -> Plan:
    targets = tuple(
        Target(path=path, before=writer.see(path), after=after) for path, after in EDITS.items()
    )
    return Plan(operation="test", targets=targets, subject={"why": "a test"})


@pytest.fixture
def folder(aios: AiosBuilder) -> AiosBuilder:
    aios.write("context/work.md", "old")
    aios.write("old.md", "gone soon")
    return aios


def state(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*.md")}


def test_a_preview_changes_nothing_and_is_applied_exactly(folder: AiosBuilder) -> None:
    before, bytes_before = tree(folder.root), state(folder.root)
    with FolderWriter(folder.root) as writer:
        shown = carry_out(writer, plan(writer), None, journal(writer))
        assert tree(folder.root) == before
        assert [(one.action, one.path) for one in shown.changes] == [
            ("replace", "context/work.md"),
            ("create", "context/new.md"),
            ("remove", "old.md"),
        ]
        proof = Proof(operation_id=shown.operation_id, plan_fingerprint=shown.plan_fingerprint)
        wrong = Proof(operation_id="x", plan_fingerprint=shown.plan_fingerprint)
        with pytest.raises(AiosError) as caught:
            carry_out(writer, plan(writer), wrong, journal(writer))
        assert caught.value.code == "DOTAIOS_PLAN_STALE"
        assert tree(folder.root) == before
        done = carry_out(writer, plan(writer), proof, journal(writer))
        assert (done.status, done.plan_fingerprint) == ("applied", shown.plan_fingerprint)
        assert state(folder.root) == {"context/work.md": b"new", "context/new.md": b"made"}
        shown = undo(journal(writer), None)
        back = Proof(operation_id=shown.operation_id, plan_fingerprint=shown.plan_fingerprint)
        assert undo(journal(writer), back).status == "applied"
    assert state(folder.root) == bytes_before
    assert list((folder.root / ".dotaios/changes").glob("*.json")) == []


def test_what_changed_after_the_preview_makes_it_stale(folder: AiosBuilder) -> None:
    with FolderWriter(folder.root) as writer:
        shown = carry_out(writer, plan(writer), None, journal(writer))
        proof = Proof(operation_id=shown.operation_id, plan_fingerprint=shown.plan_fingerprint)
        folder.write("old.md", "edited")
        with pytest.raises(AiosError) as caught:
            carry_out(writer, plan(writer), proof, journal(writer))
        assert caught.value.code == "DOTAIOS_PLAN_STALE"
    assert state(folder.root) == {"context/work.md": b"old", "old.md": b"edited"}


def test_an_edit_after_the_change_is_never_undone(folder: AiosBuilder) -> None:
    with FolderWriter(folder.root) as writer:
        carry_out_now(writer, plan(writer), journal(writer))
        folder.write("context/work.md", "theirs")
        with pytest.raises(AiosError) as caught:
            undo(journal(writer), None)
        assert (caught.value.code, caught.value.path) == (
            "DOTAIOS_UNDO_REFUSED",
            "context/work.md",
        )
    assert (folder.root / "context/work.md").read_text() == "theirs"


def test_killed_at_every_step_a_change_can_be_undone(folder: AiosBuilder) -> None:
    kept = folder.root.parent / "kept"
    shutil.copytree(folder.root, kept)

    def prepare() -> None:
        shutil.rmtree(folder.root)
        shutil.copytree(kept, folder.root)

    def act(system: System) -> None:
        with FolderWriter(folder.root, system=system) as writer:
            carry_out_now(writer, plan(writer), journal(writer))

    for _ in stopped_at_every_step(prepare, act):
        with FolderWriter(folder.root) as writer:
            if list(folder.root.glob(".dotaios/changes/*.json")):
                shown = undo(journal(writer), None)
                back = Proof(
                    operation_id=shown.operation_id, plan_fingerprint=shown.plan_fingerprint
                )
                undo(journal(writer), back)
            assert state(folder.root) == state(kept)
            carry_out_now(writer, plan(writer), journal(writer))


def test_the_journal_is_bounded_and_reads_as_documented(folder: AiosBuilder) -> None:
    with FolderWriter(folder.root) as writer:
        for number in range(RECORDS + 3):
            target = Target(
                path="context/work.md",
                before=writer.see("context/work.md"),
                after=str(number).encode(),
            )
            carry_out_now(writer, Plan(operation="test", targets=(target,)), journal(writer))
        records = sorted((folder.root / ".dotaios/changes").glob("*.json"))
        assert len(records) == RECORDS
        record = json.loads(records[-1].read_text())
        assert record["version"] == 1
        assert set(record["targets"][0]) == {
            "path",
            "before_sha256",
            "after_sha256",
            "before_b64",
        }
        assert undo(journal(writer), None, operation=record["op"][:8]).changes


def test_a_clock_that_goes_back_does_not_hide_the_newest_change(folder: AiosBuilder) -> None:
    with FolderWriter(folder.root) as writer:
        for at, data in enumerate((b"first", b"second")):
            moment = NOW - timedelta(days=at)
            back = Journal(writer=writer, lock=CHANGES_LOCK, clock=partial(_moment, moment))
            target = Target(
                path="context/work.md", before=writer.see("context/work.md"), after=data
            )
            carry_out_now(writer, Plan(operation="test", targets=(target,)), back)
        shown = undo(journal(writer), None)
        proof = Proof(operation_id=shown.operation_id, plan_fingerprint=shown.plan_fingerprint)
        undo(journal(writer), proof)
    assert (folder.root / "context/work.md").read_bytes() == b"first"


def _moment(moment: datetime) -> datetime:
    return moment
