"""Which of the person's own folders are about which project, and what is read for none."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.aggregate.fleet import Person, find_fleet
from agentic_os.registry.fleet import Fleet
from agentic_os.registry.personal import MAX_SLUG_CHARS, Paths, matched, slugs
from agentic_os.registry.project import PERSON_ID, Project, located
from support.fleet.builder import FleetBuilder
from support.fleet.git_repository import git, repository


def settings(person: Person, text: str) -> None:
    folder = Path(person.environ["AGENTIC_OS_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "projects.toml").write_text(text)


def memory(home: Path, path: Path, text: str = "It rains.") -> Path:
    folder = home / ".claude/projects" / slugs(str(path))[0] / "memory"
    folder.mkdir(parents=True)
    (folder / "rain.md").write_text(f"---\nname: rain\n---\n{text}\n")
    return folder


def found(person: Person, root: Path) -> Fleet:
    settings(
        person, f'[[root]]\npath = "{root}"\nadopt = true\n[harness_memory]\nclaude_code = true\n'
    )
    return find_fleet(person, ()).fleet


def by_name(fleet: Fleet) -> dict[str, Project]:
    return {project.name: project for project in fleet.projects}


def test_no_folder_of_the_persons_is_looked_at_before_it_is_named(
    person: Person, fleet: FleetBuilder
) -> None:
    shop = fleet.project("shop")
    memory(person.home, shop.folder)
    settings(person, f'roots = ["{fleet.root}"]\n[harness_memory]\ncodex = true\n')
    (project,) = find_fleet(person, ()).fleet.projects
    assert project.personal == ()


def test_a_memory_belongs_to_the_project_whose_path_names_it(
    person: Person, fleet: FleetBuilder
) -> None:
    shop = fleet.project("shop")
    fleet.project("desk")
    declined = fleet.project("closed", "none")
    kept = memory(person.home, shop.folder)
    memory(person.home, declined.folder)
    memory(person.home, Path("/somewhere/else"))
    projects = by_name(found(person, fleet.root))
    (place,) = projects["shop"].personal
    assert (place.prefix, place.folder) == ("@claude-code/memory", kept)
    assert located(Path("/p"), (place,), "@claude-code/memory/a/b.md") == (kept, "a/b.md")
    assert located(Path("/p"), (place,), "src/b.md") == (Path("/p"), "src/b.md")
    assert projects["desk"].personal == projects["closed"].personal == ()


def test_worktrees_share_the_memory_of_their_repository(
    person: Person, fleet: FleetBuilder, tmp_path: Path
) -> None:
    main = repository(tmp_path / "elsewhere/shop", {"AGENTS.md": "# Rules\n"})
    git(main, "worktree", "add", "-q", str(fleet.root / "fix"))
    kept = memory(person.home, main)
    (project,) = found(person, fleet.root).projects
    assert [place.folder for place in project.personal] == [kept]


@pytest.mark.parametrize("text", ["", "[", '{"autoMemoryDirectory": 3}', '{"x":' + "[" * 100_000])
def test_settings_of_a_harness_that_are_none_move_nothing(
    person: Person, fleet: FleetBuilder, text: str
) -> None:
    shop = repository(fleet.root / "shop", {"AGENTS.md": "# Rules\n"})
    kept = memory(person.home, shop)
    (person.home / ".claude/settings.json").write_text(text)
    (project,) = found(person, fleet.root).projects
    assert [place.folder for place in project.personal] == [kept]


def test_a_name_that_means_two_projects_is_named_and_read_for_none(
    person: Person, fleet: FleetBuilder
) -> None:
    fleet.project("a.b")
    fleet.project("ab", path="a/b")
    memory(person.home, fleet.root / "a.b")
    looked = found(person, fleet.root)
    assert [project.personal for project in looked.projects] == [(), ()]
    (noted,) = looked.diagnostics
    assert noted.code == "HARNESS_MEMORY_AMBIGUOUS"
    assert all(project.id in noted.message for project in looked.projects)
    assert str(person.home) not in noted.message


def test_a_repository_around_projects_means_one_only_where_there_is_one(
    person: Person, fleet: FleetBuilder
) -> None:
    repository(fleet.root / "mono", {"README.md": "# Mono\n"})
    one = fleet.project("one", path="mono/one")
    kept = memory(person.home, fleet.root / "mono")
    settings(person, f'roots = ["{fleet.root}"]\n[harness_memory]\nclaude_code = true\n')
    (project,) = find_fleet(person, ()).fleet.projects
    assert [place.folder for place in project.personal] == [kept]

    fleet.project("two", path="mono/two")
    looked = find_fleet(person, ()).fleet
    assert [item.code for item in looked.diagnostics] == ["HARNESS_MEMORY_AMBIGUOUS"]
    assert one.folder.is_dir()


def test_two_clones_of_one_project_keep_two_memories(person: Person, fleet: FleetBuilder) -> None:
    for name in ("first", "second"):
        clone = repository(fleet.root / name, {"AGENTS.md": "# Rules\n"})
        git(clone, "remote", "add", "origin", "https://example.org/o/shop.git")
        memory(person.home, clone)
    (project,) = found(person, fleet.root).projects
    assert [place.prefix for place in project.personal] == [
        "@claude-code/memory",
        "@claude-code/memory-2",
    ]


def test_what_is_about_no_project_is_the_persons(person: Person, fleet: FleetBuilder) -> None:
    fleet.project("shop")
    for path in (
        ".claude/CLAUDE.md",
        ".codex/AGENTS.md",
        ".codex/memories/MEMORY.md",
        ".codex/auth.json",
        ".gemini/GEMINI.md",
        ".serena/memories/global/style.md",
    ):
        target = person.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("# Words\n\nBe brief.\n")
    every = "".join(f"{name} = true\n" for name in ("claude_code", "codex", "gemini", "serena"))
    settings(person, f'roots = ["{fleet.root}"]\n[harness_memory]\n{every}')
    own = by_name(find_fleet(person, ()).fleet)["person"]
    assert own.id == PERSON_ID
    assert {place.prefix: place.tops for place in own.personal} == {
        "@claude-code": ("CLAUDE.md",),
        "@codex": ("AGENTS.md", "memories"),
        "@gemini-cli": ("GEMINI.md",),
        "@serena/memories/global": (),
    }
    # Roots of the command line are the whole fleet.
    assert [one.name for one in find_fleet(person, [str(fleet.root)]).fleet.projects] == ["shop"]


def test_variables_and_the_persons_settings_move_the_folders(
    person: Person, fleet: FleetBuilder, tmp_path: Path
) -> None:
    fleet.project("shop")
    moved = tmp_path / "moved"
    (moved / "notes").mkdir(parents=True)
    home = tmp_path / "claude"
    home.mkdir()
    (home / "settings.json").write_text(f'{{"autoMemoryDirectory": "{moved / "notes"}"}}')
    environ = {**person.environ, "CLAUDE_CONFIG_DIR": str(home)}
    other = Person(environ=environ, home=person.home, current=person.current)
    projects = by_name(found(other, fleet.root))
    assert projects["shop"].personal == ()
    assert [place.folder for place in projects["person"].personal] == [moved / "notes"]


PATHS = st.lists(st.text("ab.-_/", min_size=1, max_size=6).map(lambda text: f"/{text}"), max_size=5)


@given(PATHS)
def test_a_name_is_given_to_one_project_or_to_none(paths: list[str]) -> None:
    known = {f"p{at}": Paths(own=frozenset({path})) for at, path in enumerate(paths)}
    names = {slug for path in paths for slug in slugs(path)}
    result = matched(names, known)
    given_out = [name for found in result.of_project.values() for name in found]
    assert sorted((*given_out, *result.ambiguous)) == sorted(names)
    for project, found_names in result.of_project.items():
        (path,) = known[project].own
        for name in found_names:
            assert name in slugs(path)
            assert [one for one in paths if name in slugs(one)] == [path]


@pytest.mark.parametrize(("count", "means"), [(1, 1), (2, 0)])
def test_a_cut_name_means_the_path_that_begins_so(count: int, means: int) -> None:
    long = "/" + "x" * MAX_SLUG_CHARS
    known = {f"p{at}": Paths(own=frozenset({f"{long}/{at}"})) for at in range(count)}
    name = slugs(long)[0][:MAX_SLUG_CHARS] + "-k2j1h"
    result = matched([name], known)
    assert len(result.of_project) == means
    assert bool(result.ambiguous) == (count > 1)
