import os
from pathlib import Path

import pytest

from agentic_os.errors import RootMissingError
from agentic_os.registry.walk.enclosing import checkouts_above
from agentic_os.registry.walk.pruning import Pruning
from agentic_os.registry.walk.walking import Candidate, Walk, WalkOptions, listed_candidate, walk
from agentic_os.settings.values import Limits, Root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def make(root: Path, *paths: str) -> None:
    """Make folders; a path that does not end in a slash is an empty file."""
    for path in paths:
        target = root / path
        if path.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()


def run(root: Path, options: WalkOptions | None = None, typed: str = "typed") -> Walk:
    return walk(Root(typed=typed, path=root, origin="command line"), options or WalkOptions())


def found(walked: Walk) -> list[str]:
    return [candidate.relative for candidate in walked.candidates]


def codes(walked: Walk) -> list[tuple[str, str | None]]:
    return [(noted.code, noted.path) for noted in walked.diagnostics]


def test_projects_are_found_at_any_level_in_the_order_of_names(root: Path) -> None:
    make(root, "b/.agents/", "a/.claude/", "a/packages/y/.agents/", "a/packages/x/.agents/", "c/")
    walked = run(root)
    assert found(walked) == ["a", "a/packages/x", "a/packages/y", "b"]
    assert walked.diagnostics == ()
    assert walked.folders == 7
    assert walked.candidates[0].layouts == {".claude": "folder"}
    assert walked.candidates[0].folder == os.path.realpath(root / "a")
    assert walked.root == Path(os.path.realpath(root))


@pytest.mark.parametrize(
    "name", ["build", "dist", "target", "vendor", "venv", "virtualenv", "node_modules"]
)
def test_a_checkout_or_a_described_folder_is_a_project_whatever_its_name(
    root: Path, name: str
) -> None:
    make(root, f"a/{name}/.agents/config.yaml", f"b/{name}/.git/", f"b/{name}/in/.agents/")
    make(root, f"c/{name}/.agents/", f"c/{name}/other/.agents/config.yaml")
    walked = run(root)
    assert found(walked) == [f"a/{name}", f"b/{name}/in"]
    assert walked.pruned == 1


def test_a_root_may_itself_be_a_project_with_others_in_it(root: Path) -> None:
    make(root, ".agents/", ".claude/", "sub/.agents/")
    walked = run(root)
    assert found(walked) == ["", "sub"]
    assert walked.candidates[0].listed
    assert not walked.candidates[1].listed
    assert walked.candidates[0].layouts == {".agents": "folder", ".claude": "folder"}


@pytest.mark.parametrize(
    "above",
    [
        "node_modules",
        ".venv",
        "site-packages",
        "target",
        "dist",
        "build",
        "vendor",
        "__pycache__",
        ".hidden",
        ".claude/worktrees",
        ".agents",
        "graphify-out",
    ],
)
def test_pruned_folders_are_not_entered(root: Path, above: str) -> None:
    make(root, f"p/{above}/x/.agents/", "p/.agents/")
    assert found(run(root)) == ["p"]


@pytest.mark.parametrize("marker", ["pyvenv.cfg", "CACHEDIR.TAG"])
def test_a_closed_folder_may_be_a_project_but_nothing_below_it(root: Path, marker: str) -> None:
    make(root, f"env/{marker}", "env/x/.agents/", "env/.agents/")
    assert found(run(root)) == ["env"]


def test_a_bare_repository_is_not_entered(root: Path) -> None:
    make(root, "r.git/HEAD", "r.git/objects/x/.agents/", "r.git/refs/", "r.git/y/.agents/")
    assert found(run(root)) == []


def test_excluded_folders_are_not_entered(root: Path) -> None:
    make(root, "archive/x/.agents/", "a/old/.agents/", "a/new/.agents/", "b/old/.agents/")
    options = WalkOptions(pruning=Pruning(exclude=("archive", "a/old")))
    assert found(run(root, options)) == ["a/new", "b/old"]


def test_an_excluded_root_is_walked_all_the_same(root: Path) -> None:
    make(root, "a/.agents/")
    assert found(run(root, WalkOptions(pruning=Pruning(exclude=("root",))))) == ["a"]


def test_links_are_never_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    make(outside, "x/.agents/")
    (root / "linked").symlink_to(outside)
    (root / "loop").symlink_to(root)
    make(root, "p/")
    (root / "p/.agents").symlink_to(outside / "x/.agents")
    walked = run(root)
    assert found(walked) == ["p"]
    assert walked.candidates[0].layouts == {".agents": "link"}


@pytest.mark.parametrize("kind", ["file", "other"])
def test_a_layout_may_be_no_folder(root: Path, kind: str) -> None:
    make(root, "p/")
    if kind == "file":
        (root / "p/.agents").write_text("../elsewhere")
    else:
        os.mkfifo(root / "p/.agents")
    assert run(root).candidates[0].layouts == {".agents": kind}


def test_depth_is_bounded_and_said(root: Path) -> None:
    make(root, "a/b/c/.agents/", "a/b/d/", "a/b/node_modules/", "x/y/.agents/", "x/y/z/")
    walked = run(root, WalkOptions(limits=Limits(depth=2)))
    assert found(walked) == ["x/y"]
    assert codes(walked) == [("DEPTH_LIMIT", "a/b/c")]
    assert walked.diagnostics[0].message == (
        "3 folders deeper than 2 levels were not entered, first a/b/c"
    )
    assert found(run(root, WalkOptions(limits=Limits(depth=3)))) == ["a/b/c", "x/y"]


def test_the_number_of_folders_is_bounded_and_said(root: Path) -> None:
    make(root, "a/.agents/", "b/.agents/", "c/.agents/")
    walked = run(root, WalkOptions(limits=Limits(folders=3)))
    assert found(walked) == ["a", "b"]
    assert walked.folders == 3
    assert codes(walked) == [("FOLDER_LIMIT", "c")]
    assert "after 3 folders, before c" in walked.diagnostics[0].message


def test_the_entries_of_a_folder_are_bounded_and_layouts_still_seen(root: Path) -> None:
    make(root, ".agents/", ".git/", *(f"f{n}" for n in range(50)))
    walked = run(root, WalkOptions(limits=Limits(entries=10)))
    assert found(walked) == [""]
    assert walked.candidates[0].checkouts == (os.path.realpath(root),)
    assert codes(walked) == [("ENTRY_LIMIT", ".")]
    assert "the root has more than 10 entries" in walked.diagnostics[0].message


def test_what_a_layout_is_is_told_even_where_the_listing_was_cut(root: Path) -> None:
    make(root, "p/", "p/.claude/", *(f"p/f{n}" for n in range(50)))
    (root / "p/.agents").symlink_to(root)
    os.mkfifo(root / "p/.git")
    walked = run(root, WalkOptions(limits=Limits(entries=3)))
    assert walked.candidates[0].layouts == {".agents": "link", ".claude": "folder"}
    assert walked.candidates[0].checkouts == ()


def test_a_bound_that_is_just_met_is_not_reported(root: Path) -> None:
    make(root, "a/b/", "f")
    walked = run(root, WalkOptions(limits=Limits(depth=2, folders=3, entries=2)))
    assert walked.folders == 3
    assert walked.diagnostics == ()


def test_an_unreadable_folder_is_reported_and_the_rest_goes_on(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(root, "a/x/.agents/", "b/.agents/")
    really_open = os.open

    def refuse(path: str, flags: int, *rest: int) -> int:
        if str(path).endswith("/a"):
            raise PermissionError(13, "Permission denied")
        return really_open(path, flags, *rest)

    monkeypatch.setattr(os, "open", refuse)
    walked = run(root)
    assert found(walked) == ["b"]
    assert codes(walked) == [("FOLDER_UNREADABLE", "a")]
    assert walked.diagnostics[0].message == "a cannot be listed: Permission denied"


def test_a_folder_that_went_away_between_two_listings_is_no_news(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(root, "a/", "b/.agents/")
    really_open = os.open

    def vanish(path: str, flags: int, *rest: int) -> int:
        if str(path).endswith("/a"):
            raise FileNotFoundError(2, "No such file or directory")
        return really_open(path, flags, *rest)

    monkeypatch.setattr(os, "open", vanish)
    walked = run(root)
    assert found(walked) == ["b"]
    assert walked.diagnostics == ()


def test_a_folder_that_became_a_link_is_not_followed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(root, "a/", "b/.agents/")
    make(tmp_path / "outside", ".agents/")
    really_open = os.open

    def swap(path: str, flags: int, *rest: int) -> int:
        if str(path).endswith("/a"):
            (root / "a").rmdir()
            (root / "a").symlink_to(tmp_path / "outside")
        return really_open(path, flags, *rest)

    monkeypatch.setattr(os, "open", swap)
    walked = run(root)
    assert found(walked) == ["b"]
    assert codes(walked) == [("FOLDER_UNREADABLE", "a")]


def test_an_entry_whose_kind_cannot_be_told_is_passed_over(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentic_os.registry.walk import listing

    make(root, "a/.agents/", "odd/")
    really_file = listing._file_under

    def fail(fd: int, entry: "os.DirEntry[str]", found: listing.Listing) -> None:
        if entry.name == "odd":
            raise OSError
        really_file(fd, entry, found)

    monkeypatch.setattr(listing, "_file_under", fail)
    assert found(run(root)) == ["a"]


def test_a_missing_root_is_named_as_it_was_typed(root: Path) -> None:
    make(root, "page")
    for path in (root / "gone", root / "page"):
        with pytest.raises(RootMissingError) as caught:
            run(path, typed="~/gone")
        assert caught.value.message == "the root ~/gone does not exist or is not a folder"
        assert str(root) not in caught.value.message
        assert caught.value.hint == "it comes from the command line"


def test_a_root_may_be_reached_through_a_link(root: Path, tmp_path: Path) -> None:
    make(root, "a/.agents/")
    (tmp_path / "link").symlink_to(root)
    walked = run(tmp_path / "link")
    assert walked.root == Path(os.path.realpath(root))
    assert found(walked) == ["a"]


def test_a_root_that_arrives_twice_is_counted_once(root: Path, tmp_path: Path) -> None:
    make(root, "a/.agents/")
    (tmp_path / "link").symlink_to(root)
    options = WalkOptions()
    assert found(run(root, options)) == ["a"]
    again = run(tmp_path / "link", options)
    assert (found(again), again.folders) == ([], 0)
    assert codes(again) == [("ROOT_OVERLAPS", ".")]


def test_overlapping_roots_share_what_was_seen(root: Path) -> None:
    make(root, "a/b/.agents/", "c/.agents/")
    options = WalkOptions()
    assert found(run(root / "a", options)) == ["b"]
    outer = run(root, options)
    assert found(outer) == ["c"]
    assert outer.diagnostics == ()


def test_an_aios_folder_is_skipped_and_said(root: Path) -> None:
    make(root, "mine/aios.json", "mine/x/.agents/", "mine/.agents/", "b/.agents/", "aios/.agents/")
    walked = run(root, WalkOptions(aios=root / "aios"))
    assert found(walked) == ["b"]
    assert codes(walked) == [("AIOS_FOLDER_SKIPPED", "aios"), ("AIOS_FOLDER_SKIPPED", "mine")]
    assert found(run(root / "aios", WalkOptions(aios=root / "aios"))) == []


def test_the_checkouts_of_a_candidate_are_known_nearest_first(root: Path) -> None:
    make(root, "m/.git/", "m/a/sub/.git", "m/a/sub/p/.agents/", "m/q/.agents/", "r/.agents/")
    walked = run(root)
    real = os.path.realpath(root)
    assert {candidate.relative: candidate.checkouts for candidate in walked.candidates} == {
        "m/a/sub/p": (f"{real}/m/a/sub", f"{real}/m"),
        "m/q": (f"{real}/m",),
        "r": (),
    }


def test_a_checkout_may_begin_above_the_root(root: Path) -> None:
    make(root, ".git/", "a/b/.agents/")
    assert run(root / "a").candidates[0].checkouts == (os.path.realpath(root),)
    assert run(root / "a", WalkOptions(home=root)).candidates[0].checkouts == ()


def test_the_git_of_the_home_folder_encloses_nothing(root: Path) -> None:
    make(root, ".git/", "a/.agents/", ".agents/")
    walked = run(root, WalkOptions(home=root))
    assert [candidate.checkouts for candidate in walked.candidates] == [(), ()]


def test_a_linked_git_is_no_checkout(root: Path) -> None:
    make(root, "a/.agents/", "g/")
    (root / "a/.git").symlink_to(root / "g")
    assert run(root).candidates[0].checkouts == ()
    assert checkouts_above(str(root / "a"), home=None) == ()


def test_looking_up_ends_at_the_top_and_after_a_bound(root: Path) -> None:
    assert checkouts_above("/", home=None) == ()
    deep = root.joinpath(*["d"] * 70)
    deep.mkdir(parents=True)
    make(root, ".git/")
    assert checkouts_above(str(deep), home=None) == ()
    assert checkouts_above(str(root / "d/d"), home=None) == (str(root),)


def test_the_file_systems_own_root_can_be_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentic_os.registry.walk import walking as discovery
    from agentic_os.registry.walk.listing import Listing

    listings = {
        "/": Listing({}, set(), ["a"]),
        "/a": Listing({".agents": "folder"}, set(), []),
    }
    opened: list[str] = []

    def listed(_: object, path: str, relative: str) -> Listing | None:
        opened.append(f"{path} {relative}")
        return listings[path]

    monkeypatch.setattr(discovery._Run, "_list", listed)
    assert found(run(Path("/"))) == ["a"]
    assert opened == ["/ ", "/a a"]


def test_progress_is_reported_now_and_then_and_at_the_end(root: Path) -> None:
    make(root, *(f"d{n:03}/" for n in range(300)), "d000/.agents/")
    calls: list[tuple[int, int]] = []
    run(root, WalkOptions(progress=lambda folders, projects: calls.append((folders, projects))))
    assert calls == [(256, 1), (301, 1)]


def test_names_that_are_no_text_are_walked_and_shown_safely(root: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    make(root, f"{name}/.agents/", "esc\x1b[31m/sub/.agents/")
    walked = run(root, WalkOptions(limits=Limits(depth=1)))
    assert found(walked) == [name]
    assert codes(walked) == [("DEPTH_LIMIT", "esc<U+001B>[31m/sub")]
    walked.diagnostics[0].message.encode()


def test_a_listed_project_is_looked_at_without_a_walk(root: Path) -> None:
    make(root, ".git/", "p/.agents/", "p/.claude", "p/x/.agents/")
    real = os.path.realpath(root)
    found = listed_candidate(root / "p")
    assert found is not None
    assert found[0] == Candidate(
        folder=f"{real}/p",
        root=Path(real) / "p",
        relative="",
        layouts={".agents": "folder", ".claude": "file"},
        checkouts=(real,),
        listed=True,
    )
    assert listed_candidate(root / "gone") is None
    assert listed_candidate(root / "p/.claude") is None
