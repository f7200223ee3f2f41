"""Which folders without a descriptor become projects, and what is never one."""

import os
from pathlib import Path

import pytest

from agentic_os.aggregate.fleet import Person, find_fleet
from agentic_os.registry.adoption import excludes_remote
from agentic_os.registry.fleet import Fleet, passed_over
from agentic_os.registry.project import Project
from agentic_os.settings.selection import command_line_roots
from support.fleet.builder import FleetBuilder, ProjectBuilder
from support.fleet.git_repository import git, repository

FOREIGN = "name: x\nworkflow:\n  steps: []\n"


def found(person: Person, root: Path, *, adopt: bool = True) -> Fleet:
    return find_fleet(person, command_line_roots([str(root)], adopt=adopt)).fleet


def by_name(person: Person, root: Path) -> dict[str, Project]:
    return {project.relative: project for project in found(person, root).projects}


def settings(person: Person, text: str) -> None:
    folder = Path(person.environ["AGENTIC_OS_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "projects.toml").write_text(text)


def test_a_repository_is_taken_in_only_where_the_person_says_so(
    person: Person, fleet: FleetBuilder
) -> None:
    repository(fleet.root / "shop", {"AGENTS.md": "# Rules\n", "src/main.py": "print()\n"})
    repository(fleet.root / "tool", {"main.py": "print()\n"})
    fleet.project("kept")

    closed = found(person, fleet.root, adopt=False)
    opened = by_name(person, fleet.root)

    assert [project.name for project in closed.projects] == ["kept"]
    assert passed_over(closed).startswith(
        "2 repositories without a descriptor passed over, 1 with files for agents; --adopt"
    )
    assert set(opened) == {"kept", "shop", "tool"}
    assert [opened[name].described for name in ("kept", "shop", "tool")] == [True, False, False]
    assert (opened["shop"].tier, opened["shop"].bare) == (0, False)
    assert opened["shop"].holds.found == ("AGENTS.md",)
    assert (opened["tool"].tier, opened["tool"].bare, opened["tool"].retrieval) == (
        None,
        True,
        True,
    )
    assert opened["tool"].has_corpus
    assert passed_over(found(person, fleet.root)) == ""


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        (".github/copilot-instructions.md", 1),
        (".github/instructions/py.instructions.md", 1),
        (".github/skills/x/SKILL.md", 1),
        (".vscode/mcp.json", 1),
        (".cursor/rules/a.mdc", 1),
        ("CLAUDE.md", 1),
        (".github/workflows/ci.yml", 0),
        (".vscode/settings.json", 0),
        ("src/a.py", 0),
    ],
)
def test_what_counts_as_files_for_agents(
    person: Person, fleet: FleetBuilder, path: str, counts: int
) -> None:
    repository(fleet.root / "one", {path: "x\n"})

    (root,) = found(person, fleet.root, adopt=False).roots

    assert (root.passed_over, root.passed_over_with_files) == (1, counts)


def test_what_lies_in_it_decides_the_tier(person: Person, fleet: FleetBuilder) -> None:
    for name, path, tier in (
        ("memory", ".claude/memory/MEMORY.md", 0),
        ("vault", "notes/.obsidian/app.json", 1),
        ("whole-vault", ".obsidian/app.json", 1),
        ("graph", "graphify-out/graph.json", 2),
        ("nested", "packages/api/AGENTS.md", 0),
        ("servers", ".mcp.json", None),
    ):
        project = ProjectBuilder(folder=fleet.root / name)
        project.write(path, "{}")
        git(project.folder, "init", "-q")
        one = by_name(person, fleet.root)[name]
        assert one.tier == tier, name
    projects = by_name(person, fleet.root)
    vaults = [projects[name].surfaces.vault for name in ("vault", "whole-vault")]
    assert [vault.path for vault in vaults if vault is not None] == ["notes", "."]
    assert projects["nested"].holds.nested == ("packages/api/AGENTS.md",)


def test_a_descriptor_wins_and_an_opt_out_is_final(person: Person, fleet: FleetBuilder) -> None:
    for stack, path in (("none", "declined"), (None, "silent"), ("auto", "kept")):
        project = fleet.project(path, stack)
        git(project.folder, "init", "-q")
        project.write("AGENTS.md", "# Rules\n")
        project.write(".claude/memory/a.md", "text")
        # What lies below it outside git is a part of it, whatever it holds.
        project.write("part/.claude/memory/b.md", "text")
    opened = by_name(person, fleet.root)
    assert set(opened) == {"declined", "silent", "kept"}
    assert all(project.described for project in opened.values())
    assert [opened[name].retrieval for name in ("declined", "silent", "kept")] == [
        False,
        False,
        True,
    ]


def test_an_unreadable_descriptor_may_hide_an_opt_out(person: Person, fleet: FleetBuilder) -> None:
    outside = fleet.root.parent / "outside"
    outside.mkdir()
    for name in ("linked", "linked-folder", "large", "foreign", "empty", "plain"):
        project = ProjectBuilder(folder=fleet.root / name)
        project.write("AGENTS.md", "# Rules\n")
        git(project.folder, "init", "-q")
    (fleet.root / "linked/.agents").mkdir()
    (fleet.root / "linked/.agents/config.yaml").symlink_to(outside / "config.yaml")
    (fleet.root / "linked-folder/.agents").symlink_to(outside)
    ProjectBuilder(folder=fleet.root / "large").write(".agents/config.yaml", "x" * 300_000)
    ProjectBuilder(folder=fleet.root / "foreign").write(".agents/config.yaml", FOREIGN)
    (fleet.root / "empty/.agents").mkdir()
    (fleet.root / "plain/.agents").write_text("../x")
    opened = found(person, fleet.root)
    assert {project.name for project in opened.projects} == {"foreign", "empty", "plain"}
    assert not any(project.described for project in opened.projects)
    codes = {item.code for root in opened.roots for item in root.diagnostics}
    assert codes == {"DESCRIPTOR_REFUSED", "DESCRIPTOR_TOO_LARGE"}


def test_worktrees_fold_and_submodules_are_parts(
    person: Person, fleet: FleetBuilder, tmp_path: Path
) -> None:
    library = repository(tmp_path / "library", {"AGENTS.md": "# Library\n"})
    shop = repository(fleet.root / "shop", {"AGENTS.md": "# Shop\n"})
    git(shop, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    git(shop, "worktree", "add", "-q", str(fleet.root / "shop-next"), "-b", "next")
    repository(shop / "third_party/copy", {"AGENTS.md": "# Copy\n"})
    repository(shop / "own-clone", {"AGENTS.md": "# Own\n"})

    opened = found(person, fleet.root)

    assert {project.relative for project in opened.projects} == {"shop/own-clone", "shop"}
    whole = next(project for project in opened.projects if project.relative == "shop")
    assert [one.kind for one in whole.checkouts] == ["main", "worktree"]
    assert whole.holds.nested == ("lib/AGENTS.md",)


def test_a_clone_of_an_opted_out_project_is_not_read(person: Person, fleet: FleetBuilder) -> None:
    """An old clone has no descriptor yet: the one that has one speaks for both."""
    for name in ("a-old", "b-new"):
        folder = repository(fleet.root / name, {"AGENTS.md": f"# {name}\n"})
        git(folder, "remote", "add", "origin", "https://example.org/o/shop.git")
    fleet.project("shop", "none", path="b-new")
    (project,) = found(person, fleet.root).projects
    assert (project.relative, project.described, project.retrieval) == ("b-new", True, False)
    assert [Path(one.path).name for one in project.checkouts] == ["b-new", "a-old"]


def test_outside_git_the_topmost_folder_and_those_of_their_own(
    person: Person, fleet: FleetBuilder
) -> None:
    builder = ProjectBuilder(folder=fleet.root / "notes")
    builder.write("CLAUDE.md", "# Top\n")
    builder.write("part/AGENTS.md", "# Part\n")
    builder.write("own/.serena/memories/a.md", "text")
    ProjectBuilder(folder=fleet.root / "quiet").write("README.md", "# Quiet\n")
    opened = by_name(person, fleet.root)
    assert set(opened) == {"notes", "notes/own"}
    assert opened["notes"].holds.nested == ("part/AGENTS.md",)


def test_the_home_folder_is_no_project(person: Person, fleet: FleetBuilder) -> None:
    home = Person(environ=person.environ, home=fleet.root, current=person.current)
    ProjectBuilder(folder=fleet.root).write(".claude/CLAUDE.md", "mine")
    git(fleet.root, "init", "-q")
    assert found(home, fleet.root).projects == ()


def test_switches_of_one_project(person: Person, fleet: FleetBuilder) -> None:
    for name in ("one", "two", "three"):
        repository(fleet.root / name, {"AGENTS.md": "# Rules\n", ".mcp.json": "{}"})
    settings(
        person,
        f'[[root]]\npath = "{fleet.root}"\nadopt = true\n'
        f'[[project]]\npath = "{fleet.root}/two"\nadopt = false\n'
        f'[[project]]\npath = "{fleet.root}/three"\naliases = ["drei"]\n'
        'surfaces = ["capabilities"]\n',
    )
    fleet_now = find_fleet(person, ()).fleet
    projects = {project.name: project for project in fleet_now.projects}
    assert set(projects) == {"one", "three"}
    assert passed_over(fleet_now) == ""
    assert projects["three"].aliases == ("drei",)
    assert projects["three"].wants("capabilities")
    assert not projects["three"].wants("instructions")
    assert projects["one"].only is None


def test_one_repository_by_its_path(person: Person, fleet: FleetBuilder) -> None:
    repository(fleet.root / "one", {"AGENTS.md": "# Rules\n"})
    repository(fleet.root / "two", {"AGENTS.md": "# Rules\n"})
    settings(
        person,
        f'[[project]]\npath = "{fleet.root}/one"\nadopt = true\n'
        f'[[project]]\npath = "{fleet.root}/two"\n',
    )
    listed = find_fleet(person, ()).fleet
    assert [project.name for project in listed.projects] == ["one"]
    assert [item.code for item in listed.diagnostics] == ["LISTED_PROJECT_MISSING"]
    assert "adopt = true" in listed.diagnostics[0].hint
    below = found(person, fleet.root, adopt=False)
    assert [project.name for project in below.projects] == ["one"]


def test_clones_of_other_people_are_left_out(person: Person, fleet: FleetBuilder) -> None:
    for name, owner in (("mine", "me"), ("theirs", "them")):
        folder = repository(fleet.root / name, {"AGENTS.md": "# Rules\n"})
        git(folder, "remote", "add", "origin", f"git@github.com:{owner}/{name}.git")
    settings(person, 'exclude_remotes = ["github.com/Them"]\n')
    assert [project.name for project in found(person, fleet.root).projects] == ["mine"]


@pytest.mark.parametrize(
    ("pattern", "remote", "out"),
    [
        ("github.com/them", "github.com/them/x", True),
        ("github.com/them/*", "github.com/them/x", True),
        ("github.com/the", "github.com/them/x", False),
        ("*/x", "gitlab.com/a/x", True),
        ("github.com/them", None, False),
    ],
)
def test_remotes(pattern: str, remote: str | None, out: bool) -> None:
    assert excludes_remote([pattern], remote) is out


def test_a_root_inside_a_checkout(person: Person, fleet: FleetBuilder) -> None:
    repository(fleet.root, {"AGENTS.md": "# Top\n", "packages/api/AGENTS.md": "# Api\n"})
    inside = found(person, fleet.root / "packages")
    assert [project.name for project in inside.projects] == ["api"]


def test_a_folder_that_cannot_be_opened(person: Person, fleet: FleetBuilder) -> None:
    name = os.fsdecode(b"od\xff")
    repository(fleet.root / name, {"AGENTS.md": "# Rules\n"})
    (project,) = found(person, fleet.root).projects
    assert project.name.isprintable()
