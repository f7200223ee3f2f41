"""Every writing verb hindered: stopped at each step, without space, read-only, behind links."""

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from agentic_os.aios.archives.maintenance import cleanup
from agentic_os.aios.birth.answers import Answers
from agentic_os.aios.birth.init import InitRequest, init
from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.system import System
from agentic_os.aios.intent.skills import resolve_skill
from agentic_os.aios.knowledge.audit import apply_skills, audit
from agentic_os.aios.knowledge.memories import import_memories
from agentic_os.aios.knowledge.promotion import PromotionRequest, promote
from agentic_os.aios.notes.brief import write_brief
from agentic_os.aios.notes.sections import carry, set_section
from agentic_os.aios.notes.update import update
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.request import search_aios
from agentic_os.aios.sessions.capture import CaptureRequest, capture
from agentic_os.aios.sessions.hook import MARK, change_hook
from agentic_os.aios.sessions.inventory import delete, listed, reconcile, status
from agentic_os.aios.sessions.summary import read_request, save_summary
from agentic_os.aios.sessions.transcripts import read_claude
from agentic_os.aios.skills.shipped import update_skills
from agentic_os.aios.writing.opening import journal_of, open_for_writing
from agentic_os.aios.writing.plan import ChangeData, Proof
from agentic_os.aios.writing.undo import undo
from agentic_os.errors import AiosError
from support.aios.builder import NOW
from support.aios.stopping import stopped_at_every_step
from support.aios.talk import claude_rows

SHARED = resolve_policy()
SUMMARY: Final = (
    b'{"version":1,"operation_id":"op","memory":{"mode":"shared"},'
    b'"session":{"agent":"codex","title":"T","summary":"Words."}}'
)
OPERATION: Final = "11111111-1111-4111-8111-111111111111"

Verb = Callable[[AiosAccess], object]


def exactly(preview: Callable[[Proof | None], ChangeData]) -> ChangeData:
    shown = preview(None)
    proof = Proof(operation_id=shown.operation_id, plan_fingerprint=shown.plan_fingerprint)
    return preview(proof)


def talk(access: AiosAccess, *more: str, name: str = "a") -> object:
    said = [("user", "Rename the flag"), ("assistant", "Done."), *(("user", one) for one in more)]
    asked = CaptureRequest(
        transcript=read_claude(claude_rows(said)),
        source_type="claude-code",
        source_path=f"/home/u/.claude/projects/-a/{name}.jsonl",
    )
    return capture(access, SHARED, asked)


def deletion(access: AiosAccess) -> None:
    def act() -> None:
        for row in listed(access, SHARED):
            if str(row["source_path"]).endswith("b.jsonl"):
                exactly(partial(delete, access, SHARED, str(row["session_id"])))

    try:
        act()
    except AiosError as error:
        if error.code == "DOTAIOS_SESSION_NOT_FOUND":  # a stopped deletion was finished first
            return
        if error.code != "DOTAIOS_SESSION_RECONCILIATION_REQUIRED":
            raise
        reconcile(access, SHARED, apply=True)
        act()


def promotion(access: AiosAccess) -> object:
    asked = PromotionRequest(
        session=str(listed(access, SHARED)[-1]["session_id"]),
        to="context",
        destination="work.md",
        summary="Learnt.",
    )
    return exactly(partial(promote, access, SHARED, asked))


def imported(access: AiosAccess) -> object:
    assert access.home is not None
    act = partial(import_memories, environ={}, home=access.home, folder=None)
    return exactly(lambda proof: act(access, SHARED, proof))


def undone(access: AiosAccess) -> object:
    with open_for_writing(access, SHARED) as writer:
        journal = journal_of(writer, access)
        if not journal.has(""):
            return None
        return exactly(lambda proof: undo(journal, proof))


def hooked(access: AiosAccess) -> object:
    with open_for_writing(access, SHARED) as writer:
        journal = journal_of(writer, access)
        return exactly(lambda proof: change_hook(writer, journal, proof, command=MARK))


VERBS: dict[str, Verb] = {
    "update": lambda access: update(access, SHARED, "new", record_id="r"),
    "brief": lambda access: write_brief(access, SHARED),
    "daily set": lambda access: set_section(access, SHARED, "Focus", "Ship", replace=True),
    "daily carry": lambda access: carry(access, SHARED),
    "capture": lambda access: talk(access, name="new"),
    "capture grown": lambda access: talk(access, "And now?"),
    "capture delete": deletion,
    "capture reconcile": lambda access: reconcile(access, SHARED, apply=True),
    "save-summary": lambda access: save_summary(access, read_request(SUMMARY)),
    "cleanup": lambda access: cleanup(access, SHARED),
    "audit": lambda access: audit(access, SHARED, all_memory=True, write_queue=True),
    "apply-skills": lambda access: exactly(
        lambda proof: apply_skills(access, SHARED, proof, all_memory=True)
    ),
    "promote": promotion,
    "import": imported,
    "skills update": lambda access: exactly(partial(update_skills, access, SHARED)),
    "undo": undone,
    "hook": hooked,
}


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which every verb finds something to do."""
    place = tmp_path_factory.mktemp("lived")
    access = reached(place)
    fact = place / ".claude/projects/-a/memory/style.md"
    fact.parent.mkdir(parents=True)
    fact.write_text("Releases are named by date.\n")
    init(access, InitRequest(answers=Answers(name="Ada")))
    talk(access)
    talk(access, "Other.", name="b")
    set_section(access, SHARED, "Carry-over", "- open")
    for number in range(60):
        update(access, SHARED, f"Always look at {number}")
    with (access.root / "memory/events.jsonl").open("a") as file:
        file.write(
            '{"ts":"2026-11-30T08:00:00.000Z","type":"update","skill":"today",'
            '"summary":"Lesson: always run it"}\n'
        )
    (access.root / "memory/signals/2026-10-01.jsonl").write_text('{"summary":"stale"}\n')
    (access.root / "skills/closeday/SKILL.md").unlink()
    row = access.root / "memory/sessions/index 2.jsonl"
    row.write_text("{}\n")
    return place


@pytest.fixture
def place(lived: Path, tmp_path: Path) -> Path:
    return restored(lived, tmp_path / "place")


def reached(place: Path, system: System | None = None) -> AiosAccess:
    access = AiosAccess(root=place / "aios", clock=lambda: NOW, home=place)
    return access if system is None else replace(access, system=system)


def restored(lived: Path, place: Path) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(lived, place, symlinks=True)
    return place


def outcome(root: Path) -> dict[str, bytes]:
    """What the person keeps: every byte but ids, clocks and what was put aside."""
    kept = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        passing = name.startswith((".dotaios", "memory/sessions", "memory/events")) or (
            ".lock." in name  # the next taker of the lock removes it
        )
        if path.is_file() and not passing:
            kept[name] = path.read_bytes()
    return kept


def texts(root: Path) -> str:
    """Every line of the log, its archives and the sessions."""
    paths = [*root.glob("memory/events*.jsonl"), *root.glob("memory/sessions/*/*.md")]
    return "".join(path.read_text() for path in paths)


def answers(access: AiosAccess) -> None:
    """The reading verbs answer, and no update is lost or doubled."""
    assert listed(access, SHARED)
    assert status(access, SHARED).sessions
    assert "Ada" in read_brief(access, SHARED).context.markdown
    assert search_aios(access, SHARED, query="flag", scope="sessions").total >= 1
    assert resolve_skill(access, SHARED, intent="plan my day").matches
    found = texts(access.root)
    for number in range(60):
        assert found.count(f'"Always look at {number}"') == 1
    assert "Rename the flag" in found


@pytest.mark.parametrize("verb", VERBS)
def test_stopped_at_every_step_the_next_run_converges(
    lived: Path, place: Path, tmp_path: Path, verb: str
) -> None:
    through = reached(restored(lived, tmp_path / "through"))
    VERBS[verb](through)
    expected = outcome(through.root)
    act = lambda system: VERBS[verb](reached(place, system))  # noqa: E731
    for _ in stopped_at_every_step(lambda: restored(lived, place), act):
        if verb != "cleanup":  # its own test looks at every moment in between
            answers(reached(place))
        for left in place.rglob(".*.tmp"):
            os.utime(left, (0, 0))
        VERBS[verb](reached(place))
        answers(reached(place))
        now = outcome(place / "aios")
        assert now == expected


class FullSystem(System):
    """A disk without space from the n-th new byte on."""

    def __init__(self, left: int, code: int = errno.ENOSPC) -> None:
        self.left = left
        self.code = code

    def _spend(self) -> None:
        if self.left <= 0:
            raise OSError(self.code, os.strerror(self.code))
        self.left -= 1

    def create(self, folder: int, name: str, mode: int) -> int:
        self._spend()
        return super().create(folder, name, mode)

    def write(self, handle: int, data: bytes | memoryview) -> int:
        self._spend()
        return super().write(handle, data)

    def make_folder(self, folder: int, name: str, mode: int) -> None:
        self._spend()
        super().make_folder(folder, name, mode)


@pytest.mark.parametrize("verb", VERBS)
def test_without_space_it_is_refused_and_nothing_is_lost(
    lived: Path, place: Path, tmp_path: Path, verb: str
) -> None:
    through = reached(restored(lived, tmp_path / "through"))
    VERBS[verb](through)
    left = 0
    while True:
        restored(lived, place)
        try:
            VERBS[verb](reached(place, FullSystem(left)))
        except AiosError as error:
            refused = error
        else:
            break
        assert refused.code in {"DOTAIOS_WRITE_FAILED", "DOTAIOS_SESSION_STORE_IO"}, left
        assert str(place) not in refused.message
        if verb != "cleanup":
            answers(reached(place))
        VERBS[verb](reached(place))
        answers(reached(place))
        assert outcome(place / "aios") == outcome(through.root)
        left += 1
    assert left > 0


@pytest.mark.parametrize("verb", VERBS)
def test_a_read_only_folder_is_left_as_it_is(place: Path, verb: str) -> None:
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    with pytest.raises(AiosError) as caught:
        VERBS[verb](reached(place, FullSystem(0, errno.EROFS)))
    assert caught.value.code in {"DOTAIOS_WRITE_FAILED", "DOTAIOS_SESSION_STORE_IO"}
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "at",
    [
        "memory", "memory/daily", "memory/signals", "memory/sessions", "memory/events.jsonl",
        "memory/sessions/index.jsonl", ".dotaios", ".dotaios/changes", ".dotaios/session-store",
        "context", "context/work.md", "skills", "skills/today",
    ],
)  # fmt: skip
def test_nothing_is_written_through_a_link(place: Path, tmp_path: Path, at: str) -> None:
    outside = tmp_path / "outside"
    linked = place / "aios" / at
    linked.rename(outside)
    linked.symlink_to(outside)
    before = _state(outside)
    for verb in VERBS.values():
        with suppress(AiosError):
            verb(reached(place))
    assert _state(outside) == before


def _state(place: Path) -> dict[str, bytes]:
    if place.is_file():
        return {"": place.read_bytes()}
    return {
        path.relative_to(place).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in place.rglob("*")
    }
