from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from agentic_os.registry.descriptor.values import Descriptor
from agentic_os.registry.identity.checkouts import Location, LocationKind
from agentic_os.registry.identity.folding import Sighting, fold
from agentic_os.registry.identity.ids import ProjectKey
from agentic_os.registry.project import Project
from agentic_os.registry.walk.walking import Candidate
from agentic_os.results import Checkout, Surfaces
from agentic_os.settings.values import ListedProject

Codes = Callable[[object], list[str]]
SHOP = ProjectKey(remote=True, origin="github.com/acme/shop")
SITE = ProjectKey(remote=True, origin="github.com/acme/site")


def sighting(
    folder: str,
    key: ProjectKey = SHOP,
    kind: LocationKind = "main",
    *,
    name: str = "",
    listed: bool = False,
    branch: str | None = None,
) -> Sighting:
    return Sighting(
        candidate=Candidate(
            folder=folder,
            root=Path("/r"),
            relative=folder.removeprefix("/r/"),
            layouts={".agents": "folder"},
            listed=listed,
        ),
        descriptor=Descriptor(layout=".agents", name=name or folder.rpartition("/")[2]),
        surfaces=Surfaces(),
        location=Location(key=key, kind=kind, branch=branch),
    )


def entry(
    path: str, pin: str | None = None, aliases: tuple[str, ...] = ()
) -> dict[str, ListedProject]:
    return {path: ListedProject(typed=path, path=Path(path), id=pin, aliases=aliases)}


def one(*sightings: Sighting, listed: dict[str, ListedProject] | None = None) -> Project:
    [project] = fold(sightings, listed or {})
    return project


def test_checkouts_of_one_key_are_one_project() -> None:
    project = one(
        sighting("/r/b", branch="main"),
        sighting("/r/a-feature", kind="worktree", branch="feature"),
        sighting("/r/c"),
    )
    assert project.folder == Path("/r/b")
    assert project.branch == "main"
    assert project.remote == "github.com/acme/shop"
    assert project.checkouts == (
        Checkout(path="/r/b", kind="main", chosen=True, branch="main"),
        Checkout(path="/r/c", kind="clone", chosen=False),
        Checkout(path="/r/a-feature", kind="worktree", chosen=False, branch="feature"),
    )


def test_listed_comes_before_main_and_main_before_the_first_path() -> None:
    worktree = sighting("/r/a", kind="worktree", listed=True)
    assert one(sighting("/r/b"), worktree).folder == Path("/r/a")
    assert one(sighting("/r/z"), sighting("/r/a", kind="worktree")).folder == Path("/r/z")
    assert one(sighting("/r/z"), sighting("/r/a", kind="submodule")).folder == Path("/r/z")
    both = (sighting("/r/z", kind="worktree"), sighting("/r/a", kind="worktree"))
    assert one(*both).folder == Path("/r/a")
    assert [checkout.kind for checkout in one(*both).checkouts] == ["worktree", "worktree"]


def test_a_folder_outside_git_is_one_plain_checkout() -> None:
    key = ProjectKey(remote=False, origin="/r/a")
    project = one(sighting("/r/a", key, "plain"))
    assert project.checkouts == (Checkout(path="/r/a", kind="plain", chosen=True),)
    assert project.remote is None


def test_different_keys_stay_different_and_come_by_name() -> None:
    projects = fold([sighting("/r/b", SITE, name="Zoo"), sighting("/r/a", SHOP, name="ant")], {})
    assert [project.name for project in projects] == ["ant", "Zoo"]
    assert projects[0].id.startswith("shop-")


def test_aliases_and_pins_of_any_checkout_hold_for_all() -> None:
    listed = entry("/r/b", "my-shop", ("s",)) | entry("/r/a", None, ("t", "s"))
    project = one(sighting("/r/a"), sighting("/r/b", kind="worktree"), listed=listed)
    assert (project.id, project.aliases) == ("my-shop", ("t", "s"))
    assert project.diagnostics == ()


def test_one_pinned_id_is_one_project(codes: Codes) -> None:
    listed = {**entry("/r/a", "shop"), **entry("/r/b", "shop")}
    project = one(sighting("/r/b", SITE, listed=True), sighting("/r/a", listed=True), listed=listed)

    assert project.id == "shop"
    assert [checkout.path for checkout in project.checkouts] == ["/r/a", "/r/b"]
    assert codes(project.diagnostics) == []


def test_of_worktrees_alone_the_default_branch_is_read() -> None:
    default = msgspec.structs.replace(
        sighting("/r/z", kind="worktree", branch="main"),
        location=Location(key=SHOP, kind="worktree", branch="main", is_default=True),
    )
    assert one(sighting("/r/a", kind="worktree", branch="experiment"), default).branch == "main"
    assert one(sighting("/r/b"), default).folder == Path("/r/b")


def test_a_pin_may_not_take_another_projects_id(codes: Codes) -> None:
    plain = one(sighting("/r/a", SHOP)).id
    listed = entry("/r/b", plain)
    projects = fold([sighting("/r/a", SHOP), sighting("/r/b", SITE)], listed)
    assert projects[0].id == plain
    assert projects[1].id != plain
    assert codes(projects[1].diagnostics) == ["ID_PIN_COLLIDES"]


def test_a_project_may_be_pinned_to_the_id_that_it_has() -> None:
    plain = one(sighting("/r/a")).id
    project = one(sighting("/r/a"), listed=entry("/r/a", plain))
    assert (project.id, project.diagnostics) == (plain, ())


def test_the_first_pin_that_fits_counts() -> None:
    listed = entry("/r/a", "first") | entry("/r/b", "second") | entry("/r/gone", "third")
    project = one(sighting("/r/a"), sighting("/r/b", kind="worktree"), listed=listed)
    assert project.id == "first"


def test_a_refused_pin_gives_way_to_one_that_fits() -> None:
    taken = one(sighting("/r/s", SITE)).id
    listed = entry("/r/a", taken) | entry("/r/b", "y")
    projects = fold(
        [sighting("/r/s", SITE), sighting("/r/a"), sighting("/r/b", kind="worktree")], listed
    )
    assert {project.id for project in projects} == {taken, "y"}
    assert [project.diagnostics for project in projects] == [(), ()]


def test_a_shared_name_is_a_warning_for_both(codes: Codes) -> None:
    projects = fold([sighting("/r/a", SHOP, name="App"), sighting("/r/b", SITE, name="app")], {})
    assert [codes(project.diagnostics) for project in projects] == [["NAME_SHARED"]] * 2
    assert projects[0].id in projects[0].diagnostics[0].message


def test_ids_that_collide_are_reported(monkeypatch: pytest.MonkeyPatch, codes: Codes) -> None:
    other = ProjectKey(remote=True, origin="github.com/zzz/shop")
    digests = {SHOP: "0" * 64, other: "0" * 8 + "1" * 56}
    monkeypatch.setattr(ProjectKey, "digest", property(lambda self: digests[self]))
    sightings = [sighting("/r/a", SHOP), sighting("/r/b", other)]
    projects = fold(sightings, {})
    assert [project.id for project in projects] == ["shop-00000000", "shop-0000000011111111"]
    assert codes(projects[1].diagnostics) == ["ID_COLLIDES"]
    pinned = fold(sightings, entry("/r/b", "other"))
    assert [project.id for project in pinned] == ["shop-00000000", "other"]
    assert pinned[1].diagnostics == ()
