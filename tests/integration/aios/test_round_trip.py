"""Ninety days in a folder that ``init`` made, then read by every verb and by another reader."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from agentic_os.aios.archives.maintenance import cleanup, is_due
from agentic_os.aios.birth.answers import Answers
from agentic_os.aios.birth.init import InitRequest, init
from agentic_os.aios.context.brief import read_brief
from agentic_os.aios.context.lean import read_lean
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.system import System
from agentic_os.aios.follow.request import follow_source
from agentic_os.aios.intent.skills import resolve_skill
from agentic_os.aios.knowledge.audit import audit
from agentic_os.aios.knowledge.promotion import PromotionRequest, promote
from agentic_os.aios.notes.brief import write_brief
from agentic_os.aios.notes.sections import carry, set_section
from agentic_os.aios.notes.update import update
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.search.request import search_aios
from agentic_os.aios.search.values import MarkdownHit
from agentic_os.aios.sessions.capture import CaptureRequest, capture
from agentic_os.aios.sessions.inventory import reconcile
from agentic_os.aios.sessions.transcripts import read_claude
from agentic_os.aios.writing.plan import Proof
from support.aios.builder import AiosBuilder
from support.aios.convention import body_hash, records, sessions, turns
from support.aios.talk import claude_rows

DAYS, PROJECTS, UPDATES, SESSIONS = 90, 5, 30, 6
START = datetime(2026, 9, 1, 9, 0, tzinfo=UTC)
SHARED = resolve_policy()


class QuickSystem(System):
    """A system that does not wait for the disk: nothing is stopped here."""

    def sync(self, handle: int) -> None:
        """Leave it to the system."""


def said(day: int, number: int) -> list[tuple[str, str]]:
    return [
        ("user", f"Question {number} of day {day}?\n**user**\n\\ backslash"),
        ("assistant", f"Answer {number} of day {day}."),
    ]


def talk(access: AiosAccess, day: int, number: int, *, grown: bool) -> None:
    rows = said(day, number) + ([("user", "Thanks.")] if grown else [])
    asked = CaptureRequest(
        transcript=read_claude(claude_rows(rows)),
        source_type="claude-code",
        source_path=f"/home/u/.claude/projects/-a/{day}-{number}.jsonl",
        project=f"app-{number % PROJECTS}",
    )
    capture(access, SHARED, asked)


def promoted(access: AiosAccess, session: str, day: int) -> None:
    asked = PromotionRequest(
        session=session, to="context", destination="learnt.md", summary=f"Learnt on day {day}."
    )
    shown = promote(access, SHARED, asked, None)
    proof = Proof(operation_id=shown.operation_id, plan_fingerprint=shown.plan_fingerprint)
    promote(access, SHARED, asked, proof)


def _moment(now: datetime) -> datetime:
    return now


def live_a_day(access: AiosAccess, day: int) -> None:
    for number in range(UPDATES):
        policy = resolve_policy(project=f"app-{number % PROJECTS}")
        update(access, policy, f"update {number} of day {day}, é, open")
        if is_due(access, SHARED):
            cleanup(access, SHARED)
    for number in range(SESSIONS):
        talk(access, day, number, grown=False)
    talk(access, day, 0, grown=True)
    write_brief(access, SHARED)
    set_section(access, SHARED, "Carry-over", f"- item of day {day}")
    carry(access, SHARED)
    if day % 7 == 0:
        row = next(row for row, _, _ in sessions(access.root))
        promoted(access, str(row["session_id"]), day)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> AiosAccess:
    root = tmp_path_factory.mktemp("life") / "aios"
    access = AiosAccess(root=root, clock=lambda: START, system=QuickSystem(), home=Path("/home/u"))
    init(access, InitRequest(answers=Answers(name="Ada", work="The gate")))
    builder = AiosBuilder.__new__(AiosBuilder)
    builder.root = root
    for number in range(PROJECTS):
        builder.project(f"app-{number}", f"# App {number}\n\nDoes {number}.\n", id=f"p-{number}")
    for day in range(DAYS):
        now = START + timedelta(days=day)
        live_a_day(replace(access, clock=partial(_moment, now)), day)
    last = START + timedelta(days=DAYS - 1, hours=8)
    return replace(access, clock=lambda: last)


def test_every_reading_verb_answers(lived: AiosAccess) -> None:
    brief = read_brief(lived, SHARED)
    assert brief.migration.status == "current"
    assert brief.context.markdown.count(f" of day {DAYS - 1}, é, open") == 8
    assert "Brief of" not in brief.context.markdown
    assert f"item of day {DAYS - 2}" in brief.context.markdown
    project = read_brief(lived, resolve_policy(project="app-3"))
    assert "App 3" in project.context.markdown
    assert "app-2" not in project.context.markdown
    assert read_lean(lived).text()
    assert resolve_skill(lived, SHARED, intent="close the day").matches[0].skill.name == "closeday"
    for query, scope, total in (
        ("update 7 of day 3,", "memory", 1),
        ("Question 2 of day 80?", "sessions", 1),
        ("Learnt on day 70.", "context", 1),
    ):
        answer = search_aios(lived, SHARED, query=query, scope=scope)
        assert answer.complete
        hits = [hit for group in answer.groups for hit in group.hits if query[:-1] in str(hit)]
        assert len(hits) >= total
    found = search_aios(lived, SHARED, query="Learnt on day 70", scope="context").groups[0].hits[0]
    assert isinstance(found, MarkdownHit)
    assert found.evidence is not None
    assert found.evidence.follow is not None
    page = follow_source(lived, SHARED, reference=found.evidence.follow)
    assert "Learnt on day 70" in str(page.as_json())
    assert audit(lived, SHARED, all_memory=True).hot_files
    assert reconcile(lived, SHARED).findings == {}


def test_another_reader_finds_every_line_once(lived: AiosAccess) -> None:
    for family in ("events", "signals"):
        updates = [row for row in records(lived.root, family) if row["type"] == "update"]
        assert len(updates) == DAYS * UPDATES
        assert len({row["record_id"] for row in updates}) == DAYS * UPDATES
        assert Counter(row["project_id"] for row in updates) == dict.fromkeys(
            (f"p-{number}" for number in range(PROJECTS)), DAYS * UPDATES // PROJECTS
        )
    events = Counter(row["type"] for row in records(lived.root, "events"))
    assert events["memory-promotion"] == (DAYS + 6) // 7
    assert events["brief"] == DAYS
    assert events["memory.maintenance"] > 0
    live = (lived.root / "memory/events.jsonl").read_text().splitlines()
    assert len(live) <= 110
    assert len(list((lived.root / "memory/signals").iterdir())) <= 32
    found = list(sessions(lived.root))
    assert len(found) == DAYS * SESSIONS
    ids = [row["session_id"] for row, _, _ in found]
    assert len({str(one)[:6] for one in ids}) == len(ids)
    for row, front, body in found:
        assert row["content_hash"] == body_hash(body)
        assert (front["session_id"], int(front["turns"])) == (row["session_id"], row["turns"])
        assert str(row["source_path"]).startswith("~/.claude/")
        day, number = str(row["source_path"]).split("/")[-1].removesuffix(".jsonl").split("-")
        assert turns(body)[:2] == said(int(day), int(number))
        assert row["turns"] == (3 if number == "0" else 2)
        assert row["project"] == f"app-{int(number) % PROJECTS}"
    notes = sorted((lived.root / "memory/daily").glob("*.md"))
    assert len(notes) == DAYS + 1
    assert all("## Brief" in note.read_text() for note in notes)
