"""The bundled skills: updated where they are ours, kept where they are the person's."""

import re

import pytest

from agentic_os.aios.birth.answers import Answers
from agentic_os.aios.birth.init import InitRequest, init
from agentic_os.aios.intent.skill_ranking import Skill
from agentic_os.aios.intent.skills import read_skill
from agentic_os.aios.policy import resolve_policy
from agentic_os.aios.skills.catalogue import catalogue
from agentic_os.aios.skills.shipped import NAMES, shipped_text, skill_path, update_skills
from agentic_os.aios.writing.plan import Proof
from support.aios.builder import AiosBuilder, tree

SHARED = resolve_policy()


@pytest.mark.parametrize("name", NAMES)
def test_the_texts_are_skills(name: str) -> None:
    skill = read_skill(name, shipped_text(name))
    assert (skill.name, bool(skill.description), len(skill.triggers) > 1) == (name, True, True)


def test_catalogue_files() -> None:
    skill = Skill(folder="x", name="ship", description="Ships.", triggers=("a|b", "c"))
    made = {path: data.decode() for path, data in catalogue({"x": skill}).items()}
    assert "| a\\|b · c | `skills/x/SKILL.md` |" in made["skills/RESOLVER.md"]
    assert "## ship\n\nShips.\nRead `skills/x/SKILL.md`." in made["skills/INDEX.md"]
    assert made["skills/_registry.json"] == '{\n  "skills": [\n    "x"\n  ]\n}\n'


def test_a_changed_skill_stays(aios: AiosBuilder) -> None:
    (aios.root / "aios.json").unlink()
    init(aios.access(), InitRequest(answers=Answers()))
    access = aios.access()
    assert update_skills(access, SHARED, None).status == "unchanged"
    aios.write(skill_path("today"), "---\nname: today\n---\nmine\n")
    (aios.root / skill_path("closeday")).unlink()
    before = tree(aios.root)
    shown = update_skills(access, SHARED, None)
    assert tree(aios.root) == before
    assert shown.notes == ("kept as the person left it: skills/today/SKILL.md",)
    proof = Proof(operation_id=shown.operation_id, plan_fingerprint=shown.plan_fingerprint)
    update_skills(access, SHARED, proof)
    assert (aios.root / skill_path("today")).read_text().endswith("mine\n")
    assert (aios.root / skill_path("closeday")).read_bytes() == shipped_text("closeday")


def test_the_commands_that_the_texts_name_exist() -> None:
    import typer

    from agentic_os.cli.app import application

    group = typer.main.get_command(application("aios"))
    for name in NAMES:
        for words in re.findall(r"agentic-os aios ([a-z]+)", shipped_text(name).decode()):
            assert words in group.commands["aios"].commands  # type: ignore[attr-defined]
