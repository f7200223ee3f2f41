from pathlib import Path
from typing import Any

import pytest

from agentic_os.aios.documents import skill_text
from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.intent.skill_ranking import Skill, SkillMatch, rank_skills
from agentic_os.aios.intent.skills import ROUTING_BYTES, SkillAnswer, read_skill, resolve_skill
from agentic_os.aios.policy import resolve_policy
from agentic_os.errors import AiosError
from support.aios.builder import SECRET, AiosBuilder, RaisingLayer

SHIP = Skill(
    folder="ship",
    name="ship",
    description="Prepare a release and publish it.",
    triggers=("cut a release", "publish version"),
)
NOTES = Skill(
    folder="notes",
    name="notes",
    description="Write meeting notes.",
    triggers=("meeting notes", "take notes"),
)


def ranked(intent: str, *skills: Skill) -> tuple[SkillMatch, ...]:
    return rank_skills(intent, skills or (SHIP, NOTES))


@pytest.mark.parametrize(
    ("intent", "name", "score"),
    [
        ("cut a release", "ship", 1.9),
        ("publish the version", "ship", 1.4),
        ("release", "ship", 1.566667),
        ("take meeting notes", "notes", 1.7),
        ("notes", "notes", 100.0),
        ("SHIP", "ship", 100.0),
    ],
)
def test_scores(intent: str, name: str, score: float) -> None:
    best = ranked(intent)[0]
    assert best.skill.name == name
    assert best.score == pytest.approx(score, abs=1e-6)
    assert not best.ambiguous


def test_nothing_fits() -> None:
    assert ranked("zzz") == ()
    assert ranked("the of and") == ()
    assert rank_skills("ship", ()) == ()


def test_reasons() -> None:
    assert ranked("notes")[0].reason == "exact name match"
    assert ranked("cut a release")[0].reason == 'matched trigger "cut a release"'
    assert ranked("prepare it")[0].reason == "matched description"
    inside = Skill(folder="x", name="x", description="", triggers=("ship-gates!",))
    assert ranked("e-gate", inside) == ()
    assert ranked("hip-gat", inside)[0].reason == "weak overlap"


def test_confidence_is_separation() -> None:
    assert ranked("notes")[0].confidence == 1.0
    lone = ranked("cut a release")
    assert len(lone) == 1
    assert lone[0].confidence == 1.0
    twin = Skill(folder="ship2", name="ship2", description=SHIP.description, triggers=SHIP.triggers)
    first, second = ranked("cut a release", twin, SHIP)
    assert [first.skill.name, second.skill.name] == ["ship", "ship2"]
    assert (first.confidence, first.ambiguous) == (0.5, True)
    assert second.ambiguous
    weaker = Skill(folder="w", name="w", description="", triggers=("release things today now",))
    clear, other = ranked("cut a release", SHIP, weaker)
    assert clear.confidence > 0.55
    assert (clear.ambiguous, other.ambiguous) == (False, False)


def test_two_exact_names_are_ambiguous() -> None:
    twin = Skill(folder="ship", name="Ship", description="", triggers=())
    first, second = ranked("ship", SHIP, twin)
    assert (first.confidence, first.ambiguous) == (0.5, True)
    assert second.score == 100.0
    near = Skill(folder="x", name="x", description="ship it", triggers=())
    assert ranked("ship", SHIP, near)[0].confidence == 1.0


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("name: a\ndescription: b: c\ntriggers: x, 'y z' · w", ("a", "b: c", ("x", "y z", "w"))),
        (
            "description: 'q'\ntriggers:\n  - one\n  - \"two, three\"\n",
            ("f", "q", ("one", "two, three")),
        ),
        ('triggers: [a, "b"]\n# comment\nother:\n  - no\n', ("f", "", ("a", "b"))),
        ("triggers:\n- one\n\nlicense: x\n- two\n", ("f", "", ("one",))),
        ("name:\ndescription:", ("f", "", ())),
        ("names: x", ("f", "", ())),
    ],
)
def test_routing_fields(front: str, expected: tuple[str, str, tuple[str, ...]]) -> None:
    skill = read_skill("f", f"---\n{front}\n---\nbody".encode())
    assert (skill.name, skill.description, skill.triggers) == expected


def test_a_skill_without_front_matter() -> None:
    assert read_skill("f", b"# Skill\n") == Skill(folder="f", name="f", description="", triggers=())
    with pytest.raises(AiosError) as caught:
        read_skill("f", b"---\nname: x\n")
    assert caught.value.code == "DOTAIOS_FRONTMATTER_INVALID"


def resolve(
    aios: AiosBuilder, intent: str = "cut a release", project: str | None = None, limit: int = 1
) -> SkillAnswer:
    policy = resolve_policy(project=project)
    return resolve_skill(aios.access(), policy, intent=intent, limit=limit)


def test_resolving_a_skill_of_the_folder(full: AiosBuilder) -> None:
    full.skill("_draft", "cut a release", "cut a release")
    (full.root / "skills/linked").symlink_to(full.root / "skills/ship")
    (full.root / "skills/empty").mkdir()
    answer = resolve(full, limit=10)
    (match,) = answer.matches
    assert match.as_json() == {
        "name": "ship",
        "description": "Prepare a release and publish it.",
        "triggers": ["cut a release", "publish version"],
        "score": 1.9,
        "confidence": 1.0,
        "ambiguous": False,
        "reason": 'matched trigger "cut a release"',
        "resource": "skills/ship/SKILL.md",
    }
    assert answer.receipt == "Memory: Shared"
    assert resolve(full, project="A1").receipt == "Memory: This project"


def test_what_fails(full: AiosBuilder) -> None:
    def code(**options: Any) -> str:
        with pytest.raises(AiosError) as caught:
            resolve(full, **options)
        return caught.value.code

    assert code(intent=" ") == "DOTAIOS_ARGUMENT_INVALID"
    assert code(intent="x" * 501) == "DOTAIOS_ARGUMENT_INVALID"
    assert code(limit=0) == "DOTAIOS_ARGUMENT_INVALID"
    assert code(project="nobody") == "DOTAIOS_PROJECT_SELECTOR_UNKNOWN"
    full.write("skills/open/SKILL.md", "---\nname: x\n" + "a" * ROUTING_BYTES + "\n---\n")
    assert code() == "DOTAIOS_EVIDENCE_FRONTMATTER_INVALID"
    full.write("skills/open/SKILL.md", b"---\nname: \xff\n---\n")
    assert code() == "DOTAIOS_EVIDENCE_INVALID_UTF8"
    (full.root / "skills/open/SKILL.md").unlink()
    (full.root / "skills/open/SKILL.md").symlink_to(full.root / "aios.json")
    assert code() == "DOTAIOS_EVIDENCE_PATH_UNSAFE"
    (full.root / "aios.json").unlink()
    assert code() == "DOTAIOS_FOLDER_MISSING"


def test_a_folder_without_skills(aios: AiosBuilder) -> None:
    assert resolve(aios).matches == ()


def test_routing_text_that_holds_a_secret(full: AiosBuilder) -> None:
    full.skill("leaky", f"cut a release with {SECRET}", "cut a release")
    answer = resolve(full, limit=10)
    assert [match.skill.name for match in answer.matches] == ["ship"]
    assert answer.withheld == 1


def test_off_touches_nothing() -> None:
    access = AiosAccess(root=Path("/nowhere"), files=RaisingLayer())
    answer = resolve_skill(access, resolve_policy(mode="off"), intent="x")
    assert (answer.memory, answer.matches) == ("off", ())
    assert answer.notice is not None


def test_hidden_characters_of_what_is_shown_are_counted(aios: AiosBuilder) -> None:
    aios.skill("ship", "Cut a rel\u202eease", "cut\u200b it")
    aios.skill("other", "Nothing\u200b alike", "zzz")
    found = resolve_skill(aios.access(), resolve_policy(), intent="ship")
    assert found.hidden_characters == 2
    assert '"hiddenCharacters": 2' in skill_text(found, 6000)
