"""Two machines on one folder that a sync tool keeps equal, with the copies such tools leave."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from agentic_os.aios.birth.answers import Answers
from agentic_os.aios.birth.init import InitRequest, init
from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.system import System
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.request import search_aios
from agentic_os.aios.sessions.capture import Captured, CaptureRequest, capture
from agentic_os.aios.sessions.codec import parse
from agentic_os.aios.sessions.inventory import listed, reconcile, status
from agentic_os.aios.sessions.transcripts import read_claude
from agentic_os.errors import AiosError
from support.aios.builder import NOW, tree
from support.aios.stopping import stopped_at_every_step
from support.aios.talk import Said, claude_rows

SHARED = resolve_policy()
FIRST: list[Said] = [("user", "Rename the flag"), ("assistant", "Done.")]
MORE: list[Said] = [*FIRST, ("user", "And the docs?")]
OTHER: list[Said] = [*FIRST, ("user", "Take it back.")]

Naming = Callable[[str, str], str]
NAMINGS: dict[str, Naming] = {
    "Dropbox": lambda stem, end: f"{stem} (Ada's conflicted copy 2026-11-30){end}",
    "Syncthing": lambda stem, end: f"{stem}.sync-conflict-20261130-120000-ABCDEF7{end}",
    "iCloud": lambda stem, end: f"{stem} 2{end}",
    "Nextcloud": lambda stem, end: f"{stem} (conflicted copy 2026-11-30 120000){end}",
    "OneDrive": lambda stem, end: f"{stem}-DESKTOP-É{end}",
}


@dataclass(frozen=True)
class Machine:
    access: AiosAccess

    @property
    def root(self) -> Path:
        return self.access.root

    def take(self, said: list[Said], name: str) -> Captured:
        asked = CaptureRequest(
            transcript=read_claude(claude_rows(said)),
            source_type="claude-code",
            source_path=f"{self.access.home}/.claude/projects/-app/{name}.jsonl",
        )
        return capture(self.access, SHARED, asked)

    def said(self) -> list[tuple[tuple[str, str], ...]]:
        paths = self.root.glob("memory/sessions/*/*.md")
        return sorted(parse(path.read_bytes()).said() for path in paths)


def synced(first: Machine, second: Machine, naming: Naming) -> None:
    """Bring each machine's files to the other; where both differ, the second's become copies."""
    ours, theirs = files(first.root), files(second.root)
    for name in sorted(theirs):
        target = first.root / name
        if name in ours and ours[name] != theirs[name]:
            target = target.with_name(naming(target.stem, target.suffix))
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(theirs[name])
    shutil.rmtree(second.root)
    shutil.copytree(first.root, second.root)


def files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine]:
    one, two = (
        Machine(AiosAccess(root=tmp_path / who / "aios", clock=lambda: NOW, home=tmp_path / who))
        for who in ("one", "two")
    )
    one.root.parent.mkdir()
    init(one.access, InitRequest(answers=Answers()))
    one.take(FIRST, "shared")
    shutil.copytree(one.root, two.root)
    return one, two


def settled(machine: Machine) -> None:
    """Reconcile, and see that nothing is left to do."""
    before = tree(machine.root)
    assert reconcile(machine.access, SHARED).findings
    assert tree(machine.root) == before
    assert reconcile(machine.access, SHARED, apply=True).applied
    assert reconcile(machine.access, SHARED).findings == {}
    assert not reconcile(machine.access, SHARED, apply=True).applied
    assert status(machine.access, SHARED).copies == 0


@pytest.mark.parametrize("tool", NAMINGS)
def test_what_both_captured_is_there_once(machines: tuple[Machine, Machine], tool: str) -> None:
    one, two = machines
    one.take(MORE, "shared")
    one.take([("user", "Only here")], "one")
    two.take([*MORE, ("assistant", "Also.")], "shared")
    two.take([("user", "Only there")], "two")
    synced(one, two, NAMINGS[tool])
    assert status(one.access, SHARED).copies == 1
    for machine in machines:
        settled(machine)
        assert machine.said() == sorted(
            [
                (*MORE, ("assistant", "Also.")),
                (("user", "Only here"),),
                (("user", "Only there"),),
            ]
        )
        assert len(listed(machine.access, SHARED)) == 3
        assert search_aios(machine.access, SHARED, query="there", scope="sessions").total == 1
        assert "Only there" in read_brief(machine.access, SHARED).context.markdown
        assert machine.take([("user", "Only there")], "two").outcome == "idempotent"
    ours, theirs = (files(machine.root / "memory/sessions") for machine in machines)
    assert ours == theirs


@pytest.mark.parametrize("tool", NAMINGS)
def test_two_ways_of_one_conversation_both_stay(
    machines: tuple[Machine, Machine], tool: str
) -> None:
    one, two = machines
    one.take(MORE, "shared")
    two.take(OTHER, "shared")
    synced(one, two, NAMINGS[tool])
    for machine in machines:
        settled(machine)
        assert machine.said() == sorted([tuple(MORE), tuple(OTHER)])
        rows = listed(machine.access, SHARED)
        assert len({row["conflict_group"] for row in rows}) == 1
        assert sum("conflict_of" in row for row in rows) == 1
        assert len({str(row["session_id"])[:6] for row in rows}) == 2
    ours, theirs = (files(machine.root / "memory/sessions") for machine in machines)
    assert ours == theirs


def test_both_sets_of_files_of_one_transcript_become_one(
    machines: tuple[Machine, Machine],
) -> None:
    one, two = machines
    first = one.take(FIRST, "new")
    two.take(MORE, "new")
    synced(one, two, NAMINGS["Dropbox"])
    for machine in machines:
        settled(machine)
        assert machine.said() == sorted([tuple(FIRST), tuple(MORE)])
        kept = next(row for row in listed(machine.access, SHARED) if row["turns"] == 3)
        assert "conflict_group" not in kept
    rows = [listed(machine.access, SHARED) for machine in machines]
    assert rows[0] == rows[1]
    assert first.outcome == "created"


def test_the_other_machines_document_is_not_captured_a_second_time(
    machines: tuple[Machine, Machine],
) -> None:
    one, two = machines
    two.take(FIRST, "new")
    new = files(two.root).keys() - files(one.root).keys()
    document = next(path for path in new if path.startswith("memory/sessions/"))
    shutil.copyfile(two.root / document, one.root / document)
    before = files(one.root)
    with pytest.raises(AiosError) as caught:
        one.take(MORE, "new")
    assert (caught.value.code, caught.value.path) == (
        "DOTAIOS_SESSION_RECONCILIATION_REQUIRED",
        document,
    )
    assert files(one.root) == before
    settled(one)
    assert one.take(MORE, "new").outcome == "grown"


def test_half_a_document_and_a_whole_copy(machines: tuple[Machine, Machine]) -> None:
    one, _ = machines
    path = next(one.root.glob("memory/sessions/*/*.md"))
    whole = path.read_bytes()
    path.with_name(NAMINGS["iCloud"](path.stem, path.suffix)).write_bytes(whole)
    path.write_bytes(whole[:-20])
    settled(one)
    assert path.read_bytes() == whole
    kept = [path.read_bytes() for path in one.root.glob(".dotaios/changes/copy-*")]
    assert sorted(kept) == sorted([whole, whole[:-20]])


def test_copies_of_the_stores_own_files_are_put_aside(machines: tuple[Machine, Machine]) -> None:
    one, _ = machines
    store = one.root / ".dotaios/session-store"
    (store / "store.sync-conflict-20261130-120000-ABCDEF7.lock").write_text("theirs")
    (store / "pending 2").mkdir()
    assert status(one.access, SHARED).unfinished
    settled(one)
    assert list(store.iterdir()) == []
    assert one.take(MORE, "shared").outcome == "grown"


def test_stopped_at_every_step_nothing_is_lost(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, two = machines
    one.take(MORE, "shared")
    two.take([*MORE, ("assistant", "Also.")], "shared")
    one.take(OTHER, "new")
    two.take(MORE, "new")
    synced(one, two, NAMINGS["Dropbox"])
    kept = tmp_path / "kept"
    shutil.copytree(one.root, kept)
    later = replace(one.access, clock=lambda: NOW + timedelta(minutes=1))

    def prepare() -> None:
        shutil.rmtree(one.root)
        shutil.copytree(kept, one.root)

    def act(system: System) -> None:
        reconcile(replace(one.access, system=system), SHARED, apply=True)

    for _ in stopped_at_every_step(prepare, act):
        reconcile(later, SHARED, apply=True)
        assert reconcile(later, SHARED).findings == {}
        assert one.said() == sorted([(*MORE, ("assistant", "Also.")), tuple(OTHER), tuple(MORE)])
