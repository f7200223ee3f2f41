"""Memories in the person's own folders: facts as any, with one switch for each harness."""

from pathlib import Path

import pytest

from agentic_os.aggregate.instructions import instructions
from agentic_os.aggregate.questions import differences, memory
from agentic_os.aggregate.workspace import Person, open_workspace
from agentic_os.registry.conventions.personal import PERSONAL
from agentic_os.registry.conventions.tables import convention_of
from agentic_os.registry.personal import slugs
from agentic_os.tiers.interface import Query
from agentic_os.tiers.place import read_place
from agentic_os.tiers.route import search
from support.fleet.builder import FleetBuilder

FIXTURES = {
    "claude-auto-index": (
        ".claude/projects/{slug}/memory/MEMORY.md",
        "# Index\n\nRain.\n",
    ),
    "claude-auto": (".claude/projects/{slug}/memory/rain.md", "---\nname: rain\n---\nzebra\n"),
    "codex-memory": (".codex/memories/MEMORY.md", "# Task Group: shop\n\nzebra cwd={shop}\n"),
    "codex-rollouts": (".codex/memories/rollout_summaries/a.md", "thread: 1\n\nzebra\n"),
    "serena-global": (".serena/memories/global/style/py.md", "# Python\n\nzebra\n"),
    "personal-claude": (".claude/CLAUDE.md", "# Mine\n\nzebra\n"),
    "personal-claude-rules": (".claude/rules/web.md", "---\npaths: '*.ts'\n---\n# Web\n\nzebra\n"),
    "personal-codex-override": (".codex/AGENTS.override.md", "# Override\n\nzebra\n"),
    "personal-codex": (".codex/AGENTS.md", "# Codex\n\nzebra\n"),
    "personal-gemini": (".gemini/GEMINI.md", "# Gemini\n\n## Gemini Added Memories\n- zebra\n"),
}
"""One file for each row of the table."""


def write(person: Person, shop: Path, *forms: str) -> None:
    for form in forms:
        path, text = FIXTURES[form]
        target = person.home / path.format(slug=slugs(str(shop))[0])
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.format(shop=shop))


def switched_on(person: Person, root: Path, *names: str) -> None:
    folder = Path(person.environ["AGENTIC_OS_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    chosen = "".join(f"{name} = true\n" for name in names)
    (folder / "projects.toml").write_text(f'roots = ["{root}"]\n[harness_memory]\n{chosen}')


ALL_NAMES = ("claude_code", "codex", "gemini", "serena")


def test_every_row_has_a_fixture() -> None:
    assert set(FIXTURES) == {row.form for row in PERSONAL}


@pytest.mark.parametrize("form", sorted(FIXTURES))
def test_a_row_is_found_read_again_and_gone_when_switched_off(
    person: Person, fleet: FleetBuilder, form: str
) -> None:
    shop = fleet.project("shop").folder
    write(person, shop, form)
    word = "Rain" if form.endswith("index") else "zebra"
    switched_on(person, fleet.root, *ALL_NAMES)
    with open_workspace(person, ()) as workspace:
        answer = search(workspace, Query(text=word))
        (hit,) = answer.data.hits
        row = convention_of(hit.path)
        assert row is not None
        assert (row.form, hit.confirmed, hit.stale) == (form, True, False)
        assert (hit.project == "@person") == (not form.startswith("claude-auto"))
        assert not answer.incomplete
        place = read_place(workspace, hit.project, hit.path)
        assert any(word in line for line in place.lines)
        assert str(person.home) not in repr(hit)

    switched_on(person, fleet.root)
    with open_workspace(person, ()) as workspace:
        assert search(workspace, Query(text=word)).data.hits == ()
        assert memory(workspace).data.facts == ()


def test_an_edit_shows_and_an_unchanged_folder_is_not_read_again(
    person: Person, fleet: FleetBuilder
) -> None:
    shop = fleet.project("shop").folder
    write(person, shop, "claude-auto", "personal-claude", "personal-claude-rules")
    switched_on(person, fleet.root, "claude_code")
    with open_workspace(person, ()):
        pass
    with open_workspace(person, ()) as workspace:
        assert workspace.refreshed is not None
        assert not workspace.refreshed.changed
    rain = next((person.home / ".claude/projects").glob("*/memory/rain.md"))
    rain.write_text("---\nname: rain\n---\nokapi\n")
    with open_workspace(person, ()) as workspace:
        (hit,) = search(workspace, Query(text="okapi")).data.hits
    assert hit.name == "rain"


def test_facts_differ_link_and_lose_their_secrets_as_any(
    person: Person, fleet: FleetBuilder
) -> None:
    shop = fleet.project("shop").folder
    desk = fleet.project("desk")
    desk.fact("port", "Port: 80\n\nSee [[rain]].")
    folder = person.home / ".claude/projects" / slugs(str(shop))[0] / "memory"
    folder.mkdir(parents=True)
    (folder / "rain.md").write_text(
        "---\nname: rain\ndescription: wet\nmetadata:\n  type: feedback\n---\n"
        "Port: 8080\nThe desk project needs [[storm]].\nkey AKIAQQQQQQQQQQQQQQQQ\n"
    )
    (folder / "storm.md").write_text("---\nname: storm\n---\nIt thunders.\n")
    switched_on(person, fleet.root, "claude_code")
    with open_workspace(person, ()) as workspace:
        facts = {fact.title: fact for fact in memory(workspace, ["shop"]).data.facts}
        assert {one.key for one in differences(workspace).data.differences} == {"Port"}
    assert set(facts) == {"rain", "storm"}
    rain = facts["rain"]
    assert (rain.type, rain.description) == ("feedback", "wet")
    assert "AKIAQQQQ" not in rain.text
    assert [link.target for link in rain.links] == [
        project.id for project in workspace.fleet.projects if project.name == "desk"
    ]
    (link,) = rain.wikilinks
    assert link.path == "@claude-code/memory/storm.md"


def test_a_section_of_codex_links_the_project_whose_folder_it_names(
    person: Person, fleet: FleetBuilder
) -> None:
    shop = fleet.project("shop").folder
    write(person, shop, "codex-memory")
    (person.home / ".codex/memories/memory_summary.md").write_text("v1\n\n# Profile\n\nTerse.\n")
    switched_on(person, fleet.root, "codex")
    with open_workspace(person, ()) as workspace:
        facts = memory(workspace).data.facts
    own = {fact.title: fact for fact in facts if fact.provenance.project == "@person"}
    assert [link.text for link in own["Task Group: shop"].links] == ["shop"]
    assert own["Profile"].template is False
    assert own["memory_summary"].template


def test_what_the_person_tells_every_agent_comes_before_the_projects_own(
    person: Person, fleet: FleetBuilder
) -> None:
    shop = fleet.project("shop")
    shop.write("AGENTS.md", "# Rules\n")
    shop.write("CLAUDE.md", "# Rules of it\n")
    write(
        person,
        shop.folder,
        "personal-claude",
        "personal-claude-rules",
        "personal-codex",
        "personal-codex-override",
    )
    switched_on(person, fleet.root, "claude_code", "codex")
    with open_workspace(person, ()) as workspace:
        data = instructions(workspace, ["shop"], target="a.ts").data
    files = {one.harness: one.files for one in data.harnesses}
    assert files["claude-code"] == (
        "@person:@claude-code/CLAUDE.md",
        "@person:@claude-code/rules/web.md",
        "CLAUDE.md",
    )
    assert files["codex"] == ("@person:@codex/AGENTS.override.md", "AGENTS.md")
    assert [file.path for file in data.files] == ["AGENTS.md", "CLAUDE.md"]


def test_links_and_what_is_no_text_are_refused_in_the_persons_folders_too(
    person: Person, fleet: FleetBuilder
) -> None:
    shop = fleet.project("shop").folder
    write(person, shop, "claude-auto")
    folder = next((person.home / ".claude/projects").glob("*/memory"))
    (folder / "outside.md").symlink_to("/etc/hostname")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    switched_on(person, fleet.root, "claude_code")
    with open_workspace(person, ()) as workspace:
        answer = memory(workspace)
    assert [fact.title for fact in answer.data.facts] == ["rain"]
    assert [item.code for item in answer.omissions] == ["LINK_REFUSED"]
