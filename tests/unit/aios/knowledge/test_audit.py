"""The audit: what agents load, what a skill could learn, nothing written without asking."""

from agentic_os.aios.knowledge.audit import QUEUE, apply_skills, audit, candidate_id
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.writing.plan import Proof
from support.aios.builder import AiosBuilder, tree

SHARED = resolve_policy()
LESSON = "Lesson: always run the smoke test"


def test_budgets(aios: AiosBuilder) -> None:
    for lines, severities in ((200, []), (201, ["warn"]), (300, ["warn"]), (301, ["fail"])):
        aios.write("AGENTS.md", "one two\n" * lines)
        findings = audit(aios.access(), SHARED).findings
        assert [one.severity for one in findings] == severities
    hot = audit(aios.access(), SHARED).hot_files[0]
    assert (hot.path, hot.lines, hot.words, hot.approx_tokens) == ("AGENTS.md", 301, 602, 783)


def test_candidates_are_queued_and_applied_once(full: AiosBuilder) -> None:
    full.skill("deploy", "Deploy.", "deploy")
    skill = full.root / "skills/deploy/SKILL.md"
    skill.write_text(skill.read_text() + "\n## Field Notes\n\n## Other\n\ntext\n")
    full.jsonl(
        "memory/events.jsonl",
        {"ts": "2026-11-30T08:00:00.000Z", "skill": "deploy", "summary": LESSON},
        {"ts": "2026-11-30T08:00:01.000Z", "summary": "Never deploy on Fridays"},
        {"ts": "2026-11-01T08:00:00.000Z", "summary": "Always look twice"},
        {"ts": "2026-11-30T09:00:00.000Z", "summary": "met Sarah"},
    )
    assert candidate_id(None, "2026-11-30T08:00:00.000Z", "deploy", LESSON) == "31342bbf057c516f"
    before = tree(full.root)
    found = audit(full.access(), SHARED)
    assert next(one.id for one in found.candidates) == "31342bbf057c516f"
    assert len(found.candidates) == 2
    assert len(audit(full.access(), SHARED, all_memory=True).candidates) == 3
    truncated = audit(full.access(), SHARED, most=1)
    assert [one.code for one in truncated.findings] == ["skill-patch-candidates-truncated"]
    shown = apply_skills(full.access(), SHARED, None)
    assert tree(full.root) == before

    assert audit(full.access(), SHARED, write_queue=True).queued == 2
    queue = (full.root / QUEUE).read_text()
    assert audit(full.access(), SHARED, write_queue=True).queued == 0
    assert (full.root / QUEUE).read_text() == queue
    assert queue.count("- ID: 31342bbf057c516f") == 1

    proof = Proof(operation_id=shown.operation_id, plan_fingerprint=shown.plan_fingerprint)
    apply_skills(full.access(), SHARED, proof)
    text = skill.read_text()
    note = f"<!-- dotaios-memory-audit:id=31342bbf057c516f -->\n- {LESSON}\n"
    assert text.index(note) < text.index("## Other\n\ntext\n")
    assert "Fridays" not in text
    assert apply_skills(full.access(), SHARED, None).status == "unchanged"


def test_stale_signals_and_many_events(aios: AiosBuilder) -> None:
    aios.write("memory/signals/2026-10-01.jsonl", "{}\n")
    aios.write("memory/events.jsonl", '{"ts":"2026-11-01T00:00:00Z"}\n' * 60)
    found = audit(aios.access(), SHARED)
    assert {one.code for one in found.findings} == {"stale-signals", "many-archive-candidates"}
    assert found.archive_candidates == 10
