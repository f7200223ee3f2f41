import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentic_os.errors import FilesError, RootMissingError, UnknownProjectError
from agentic_os.files.reading import Folder
from agentic_os.registry.fleet import Fleet, load_fleet
from agentic_os.registry.project import project_views
from agentic_os.results import Surface, Surfaces
from agentic_os.settings.values import Limits, ListedProject, Root, RootOrigin, Settings

MakeProject = Callable[..., Path]
Codes = Callable[[object], list[str]]


def root(path: Path, origin: RootOrigin = "projects.toml") -> Root:
    return Root(typed=path.name, path=path, origin=origin)


def load(*paths: Path, settings: Settings | None = None, home: Path | None = None) -> Fleet:
    return load_fleet([root(path) for path in paths], settings or Settings(), home=home)


def listed(path: Path, pin: str | None = None, *aliases: str) -> ListedProject:
    return ListedProject(typed=path.name, path=path, id=pin, aliases=aliases)


def names(fleet: Fleet) -> list[str]:
    return [project.name for project in fleet.projects]


def test_a_fleet_and_its_view(make_project: MakeProject, tmp_path: Path) -> None:
    shop = make_project("r/shop")
    make_project("r/shop/packages/api")
    fleet = load(tmp_path / "r")
    assert names(fleet) == ["api", "shop"]
    project = fleet.projects[1]
    assert project.folder == Path(os.path.realpath(shop))
    assert (project.root, project.relative) == (Path(os.path.realpath(tmp_path / "r")), "shop")
    assert (project.layout, project.tier, project.retrieval) == (".agents", 0, True)
    assert project.surfaces == Surfaces(memory=Surface(path=".agents/memory", state="present"))
    view = fleet.view
    assert [one.id for one in view.projects] == [one.id for one in fleet.projects]
    assert view.projects[1].path == str(shop)
    assert (view.projects[1].stack, view.projects[1].contract_version) == ("auto", 2)
    assert view.roots[0].projects == 2
    assert view.roots[0].folders == 4
    assert fleet.diagnostics == ()


def test_one_bad_project_spoils_nothing_else(
    make_project: MakeProject, codes: Codes, tmp_path: Path
) -> None:
    make_project("r/good")
    make_project("r/broken", text="project: [")
    make_project("r/foreign", text="workflow: x\n")
    (tmp_path / "r/gone/.agents").mkdir(parents=True)
    fleet = load(tmp_path / "r")
    assert names(fleet) == ["broken", "good"]
    assert codes(fleet.projects[0].diagnostics) == ["DESCRIPTOR_UNPARSEABLE"]
    assert fleet.projects[1].diagnostics == ()
    assert [(noted.code, noted.path) for noted in fleet.roots[0].diagnostics] == [
        ("DESCRIPTOR_FOREIGN", "foreign/.agents/config.yaml"),
        ("DESCRIPTOR_MISSING", "gone/.agents"),
    ]


def test_a_missing_root_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RootMissingError, match="the root gone does not exist"):
        load(tmp_path / "gone")


def test_no_roots_are_an_empty_fleet() -> None:
    assert load_fleet([], Settings()) == Fleet(projects=(), roots=())


def test_roots_that_overlap_or_arrive_twice_are_counted_once(
    make_project: MakeProject, codes: Codes, tmp_path: Path
) -> None:
    make_project("r/a/p")
    make_project("r/q")
    (tmp_path / "link").symlink_to(tmp_path / "r")
    fleet = load(tmp_path / "r", tmp_path / "r/a", tmp_path / "link")
    assert names(fleet) == ["p", "q"]
    assert [view.projects for view in fleet.roots] == [1, 1, 0]
    assert codes(fleet.roots[2].diagnostics) == ["ROOT_OVERLAPS"]


def test_an_inner_root_gets_its_own_depth(make_project: MakeProject, tmp_path: Path) -> None:
    make_project("r/a/b/p")
    settings = Settings(limits=Limits(depth=1))
    assert names(load(tmp_path / "r", settings=settings)) == []
    assert names(load(tmp_path / "r", tmp_path / "r/a/b", settings=settings)) == ["p"]


def test_excludes_and_the_aios_folder(make_project: MakeProject, tmp_path: Path) -> None:
    make_project("r/a")
    make_project("r/old/b")
    make_project("r/context/c")
    fleet = load_fleet(
        [root(tmp_path / "r")], Settings(exclude=("old",)), aios=tmp_path / "r/context"
    )
    assert names(fleet) == ["a"]


def test_listed_projects_outside_the_roots_belong_to_the_fleet(
    make_project: MakeProject, tmp_path: Path
) -> None:
    make_project("r/a")
    outside = make_project("elsewhere/b")
    make_project("elsewhere/b/nested")
    settings = Settings(projects=(listed(outside, "bee", "honey"),))
    fleet = load(tmp_path / "r", settings=settings)
    assert names(fleet) == ["a", "b"]
    assert (fleet.projects[1].id, fleet.projects[1].aliases) == ("bee", ("honey",))
    assert fleet.projects[1].root == fleet.projects[1].folder
    assert fleet.find("honey", current=tmp_path).id == "bee"


def test_roots_of_the_command_line_are_the_whole_fleet(
    make_project: MakeProject, tmp_path: Path
) -> None:
    inside = make_project("r/a")
    outside = make_project("elsewhere/b")
    settings = Settings(
        projects=(listed(outside), listed(inside, "pinned"), listed(tmp_path / "gone"))
    )
    fleet = load_fleet([root(tmp_path / "r", "command line")], settings)
    assert [project.id for project in fleet.projects] == ["pinned"]
    assert fleet.diagnostics == ()


@pytest.mark.parametrize("what", ["gone", "a file", "no project", "stopped"])
def test_a_listed_project_that_is_none_is_a_warning(
    tmp_path: Path, codes: Codes, what: str
) -> None:
    path = tmp_path / "here"
    if what == "a file":
        path.touch()
    elif what != "gone":
        path.mkdir()
    if what == "stopped":
        (path / ".agents").mkdir()
    fleet = load(settings=Settings(projects=(listed(path),)))
    expected = ["DESCRIPTOR_MISSING"] if what == "stopped" else []
    assert codes(fleet.diagnostics) == [*expected, "LISTED_PROJECT_MISSING"]
    assert fleet.diagnostics[-1].message == "no project at here, which projects.toml lists"


def test_a_listed_project_met_by_a_walk_is_not_reported_twice(
    make_project: MakeProject, tmp_path: Path
) -> None:
    folder = make_project("r/a")
    fleet = load(tmp_path / "r", settings=Settings(projects=(listed(folder, None, "x"),)))
    assert names(fleet) == ["a"]
    assert fleet.projects[0].aliases == ("x",)
    assert fleet.diagnostics == ()


def test_a_listed_checkout_is_the_one_that_is_read(
    make_project: MakeProject, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        folder = make_project(f"r/{name}", name="same")
        (folder / ".git").mkdir()
        (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
        (folder / ".git/config").write_text('[remote "origin"]\n\turl = https://h.org/x/same\n')
    assert load(tmp_path / "r").projects[0].folder.name == "a"
    settings = Settings(projects=(listed(tmp_path / "r/b"),))
    [project] = load(tmp_path / "r", settings=settings).projects
    assert project.folder.name == "b"
    assert [checkout.chosen for checkout in project.checkouts] == [True, False]
    assert project.branch == "main"
    nested = load(tmp_path / "r", tmp_path / "r/b")
    assert nested.projects[0].folder.name == "b"


def test_the_persons_own_agents_folder_is_no_project_that_stopped(tmp_path: Path) -> None:
    home = tmp_path / "person"
    (home / ".agents").mkdir(parents=True)
    (home / ".agents/projects.toml").touch()
    assert load(home, home=home).roots[0].diagnostics == ()
    assert len(load(home).roots[0].diagnostics) == 1


def test_a_folder_that_cannot_be_opened_is_reported(
    make_project: MakeProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project("r/a")
    make_project("r/b")
    make_project("r", name="top")
    really_open = Folder.open

    def refuse(path: Path) -> Folder:
        if path.name in {"b", "r"}:
            raise FilesError("Permission denied", code="FILE_UNREADABLE")
        return really_open(path)

    monkeypatch.setattr(Folder, "open", refuse)
    fleet = load(tmp_path / "r")
    assert names(fleet) == ["a"]
    assert [(noted.code, noted.path) for noted in fleet.roots[0].diagnostics] == [
        ("FOLDER_UNREADABLE", "."),
        ("FOLDER_UNREADABLE", "b"),
    ]


def test_an_earlier_run_saves_reading(
    make_project: MakeProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project("r/a")
    make_project("r/b", text="workflow: x\n")
    roots = [root(tmp_path / "r")]
    first = load_fleet(roots, Settings(), clock=lambda: 2**62)
    assert sorted(os.path.relpath(path, tmp_path) for path in first.known) == [
        "r/a/.agents/config.yaml",
        "r/b/.agents/config.yaml",
    ]

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a file was read")

    monkeypatch.setattr(Folder, "read", never)
    second = load_fleet(roots, Settings(), known=first.known)
    assert second == first
    assert second.known == first.known


def test_progress_is_reported(make_project: MakeProject, tmp_path: Path) -> None:
    make_project("r/a")
    calls: list[tuple[int, int]] = []
    load_fleet(
        [root(tmp_path / "r")],
        Settings(),
        progress=lambda folders, projects: calls.append((folders, projects)),
    )
    assert calls == [(2, 1)]


def test_a_project_is_found_by_word_and_by_path(make_project: MakeProject, tmp_path: Path) -> None:
    shop = make_project("r/shop")
    fleet = load(tmp_path / "r")
    assert fleet.find("SHOP", current=tmp_path) is fleet.projects[0]
    assert fleet.containing(shop / "src/x.py") is fleet.projects[0]
    assert fleet.containing(tmp_path) is None
    with pytest.raises(UnknownProjectError):
        fleet.find("nothing", current=tmp_path)


def test_the_view_shows_no_secret_and_no_unprintable_path(
    make_project: MakeProject, tmp_path: Path
) -> None:
    memory = (
        "stack: obsidian-graphify-rag\nvault_path: v\ngraph_path: g.json\n"
        "rag_endpoint: https://ann:hunter2hunter2@rag.example.org/mcp"
    )
    make_project(os.path.join("r", os.fsdecode(b"caf\xe9")), memory, name="cafe")  # noqa: PTH118
    fleet = load(tmp_path / "r")
    assert project_views(fleet.projects) == fleet.view.projects
    [view] = fleet.view.projects
    assert view.path.endswith("/caf<U+DCE9>")
    view.path.encode()
    assert view.surfaces.rag is not None
    assert "hunter2" not in view.surfaces.rag.path
    assert view.description is not None


def test_what_the_person_allows_is_shown(make_project: MakeProject, tmp_path: Path) -> None:
    memory = (
        "stack: obsidian-graphify-rag\nvault_path: v\ngraph_path: g.json\n"
        "rag_endpoint: https://ann:hunter2hunter2@rag.example.org/mcp"
    )
    make_project("r/a", memory)
    settings = Settings(redaction_allow=frozenset({"hunter2hunter2"}))
    [view] = load(tmp_path / "r", settings=settings).view.projects
    assert view.surfaces.rag is not None
    assert view.surfaces.rag.path == "https://ann:hunter2hunter2@rag.example.org/mcp"


def test_a_project_without_description_or_endpoint(
    make_project: MakeProject, tmp_path: Path
) -> None:
    make_project("r/a", text="project:\n  name: a\n  project_init_version: 1\n", index=False)
    [view] = load(tmp_path / "r").view.projects
    assert (view.description, view.stack, view.tier) == (None, "unknown", None)
    assert view.surfaces == Surfaces()


def test_names_hold_no_secret_and_say_so(make_project: MakeProject, tmp_path: Path) -> None:
    secret = "ghp_q7Zx3Lm9Pw4KaB5cD8eF1gH2iJ6kL0mN9o11"
    folder = make_project(
        f"r/{secret}", text=f"project: {{name: x {secret}, project_init_version: 1}}\n"
    )
    (folder / ".git/refs").mkdir(parents=True)
    (folder / ".git/objects").mkdir()
    (folder / ".git/HEAD").write_text(f"ref: refs/heads/{secret}\n")

    fleet = load(tmp_path / "r")
    allowed = load(tmp_path / "r", settings=Settings(redaction_allow=frozenset({secret})))

    [project] = fleet.projects
    assert (project.name, project.branch) == (
        "x [redacted:github-token]",
        "[redacted:github-token]",
    )
    assert [item.message for item in project.diagnostics if item.code == "NAME_HOLDS_SECRET"] == [
        "a secret (github-token) stands in the project's name",
        "a secret (github-token) stands in the branch's name",
        "a secret (github-token) stands in the folder's name",
    ]
    assert secret not in str(fleet.view)
    assert allowed.projects[0].name == f"x {secret}"
