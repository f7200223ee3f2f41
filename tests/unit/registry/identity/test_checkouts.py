"""Identity in real git checkouts: producer contract, section 7; users, section C."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentic_os.files.git.checkout import read_checkout
from agentic_os.registry.identity.checkouts import CheckoutReader, Location
from agentic_os.registry.walk.walking import WalkOptions, walk
from agentic_os.settings.values import Root

MakeProject = Callable[..., Path]


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., None]:
    """Run git with nobody's configuration."""
    program = shutil.which("git")
    assert program is not None
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }

    def run(folder: Path, *words: str) -> None:
        subprocess.run(
            [program, "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *words],
            cwd=folder,
            env=environment,
            check=True,
            capture_output=True,
        )

    return run


Git = Callable[..., None]


@pytest.fixture
def commit(git: Git) -> Callable[[Path], None]:
    """Make a folder a repository and commit all of it."""

    def run(folder: Path) -> None:
        git(folder, "init")
        git(folder, "add", "-A")
        git(folder, "commit", "-m", "x")

    return run


def locate(root: Path) -> dict[str, Location]:
    """Locate every candidate below a folder, by relative path."""
    reader = CheckoutReader()
    walked = walk(Root(typed="r", path=root, origin="command line"), WalkOptions())
    return {candidate.relative: reader.locate(candidate) for candidate in walked.candidates}


def test_a_clone_is_known_by_its_remote_whatever_its_folder_is_called(
    make_project: MakeProject, git: Git, commit: Callable[[Path], None], tmp_path: Path
) -> None:
    for folder, remote in (
        ("r/one", "git@github.com:Acme/Shop.git"),
        ("r/two", "https://user:secret@github.com/acme/shop/"),
    ):
        commit(make_project(folder))
        git(tmp_path / folder, "remote", "add", "origin", remote)
    found = locate(tmp_path / "r")
    assert found["one"].key == found["two"].key
    assert found["one"].key.text == "github.com/acme/shop/"
    assert found["one"].remote == "github.com/acme/shop"
    assert found["one"].kind == "main"
    assert found["one"].branch == "main"
    assert len(found["one"].commit or "") == 40


def test_projects_of_a_monorepo_are_told_apart_by_their_sub_path(
    make_project: MakeProject, git: Git, commit: Callable[[Path], None], tmp_path: Path
) -> None:
    make_project("r/mono/packages/api")
    commit(make_project("r/mono"))
    git(tmp_path / "r/mono", "remote", "add", "origin", "https://example.org/acme/mono")
    found = locate(tmp_path / "r")
    assert found["mono"].key.text == "example.org/acme/mono/"
    assert found["mono/packages/api"].key.text == "example.org/acme/mono/packages/api"
    inner = locate(tmp_path / "r/mono/packages")
    assert inner["api"].key == found["mono/packages/api"].key


@pytest.mark.parametrize("remote", ["", "https://example.org/acme/shop"])
def test_a_linked_worktree_has_the_key_of_its_main_checkout(
    make_project: MakeProject,
    git: Git,
    commit: Callable[[Path], None],
    tmp_path: Path,
    remote: str,
) -> None:
    commit(make_project("r/shop"))
    if remote:
        git(tmp_path / "r/shop", "remote", "add", "origin", remote)
    git(tmp_path / "r/shop", "worktree", "add", "../feature", "-b", "feature")
    found = locate(tmp_path / "r")
    assert found["feature"].key == found["shop"].key
    assert (found["feature"].kind, found["feature"].branch) == ("worktree", "feature")
    assert found["feature"].commit == found["shop"].commit
    if not remote:
        assert found["shop"].key.origin == os.path.realpath(tmp_path / "r/shop")
        assert found["shop"].remote is None


def test_a_separate_git_folder_is_one_checkout_with_its_worktrees(
    make_project: MakeProject, git: Git, tmp_path: Path
) -> None:
    shop = make_project("r/shop")
    git(shop, "init", "--separate-git-dir", str(tmp_path / "store.git"))
    git(shop, "add", "-A")
    git(shop, "commit", "-m", "x")
    git(shop, "worktree", "add", str(tmp_path / "r/feature"), "-b", "feature")
    found = locate(tmp_path / "r")
    assert found["feature"].key == found["shop"].key


def test_a_submodule_stands_alone_and_its_worktree_folds_with_it(
    make_project: MakeProject, git: Git, commit: Callable[[Path], None], tmp_path: Path
) -> None:
    commit(make_project("lib"))
    commit(make_project("r/app"))
    git(tmp_path / "r/app", "submodule", "add", str(tmp_path / "lib"), "libs/lib")
    git(tmp_path / "r/app/libs/lib", "worktree", "add", str(tmp_path / "r/lib-feature"), "-b", "f")
    found = locate(tmp_path / "r")
    assert found["app/libs/lib"].kind == "submodule"
    assert found["app/libs/lib"].key != found["app"].key
    assert found["app/libs/lib"].key.subpath == ""
    assert found["lib-feature"].key == found["app/libs/lib"].key
    assert found["lib-feature"].kind == "worktree"


def test_outside_git_the_path_is_the_key(make_project: MakeProject, tmp_path: Path) -> None:
    folder = make_project("r/plain")
    location = locate(tmp_path / "r")["plain"]
    assert location.key.text == os.path.realpath(folder)
    assert (location.kind, location.branch, location.commit) == ("plain", None, None)


def test_a_git_that_vanished_is_no_checkout_and_the_next_one_counts(
    make_project: MakeProject, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project("r/outer/inner")
    git(tmp_path / "r/outer", "init")
    git(tmp_path / "r/outer/inner", "init")
    calls: list[str] = []

    def read(folder: Path) -> object:
        calls.append(folder.name)
        return None if folder.name == "inner" else read_checkout(folder)

    monkeypatch.setattr("agentic_os.registry.identity.checkouts.read_checkout", read)
    location = locate(tmp_path / "r")["outer/inner"]
    assert location.key.subpath == "inner"
    assert calls == ["inner", "outer"]


def test_each_checkout_is_read_once(
    make_project: MakeProject, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        make_project(f"r/mono/{name}")
    git(tmp_path / "r/mono", "init")
    calls: list[Path] = []

    def read(folder: Path) -> object:
        calls.append(folder)
        return read_checkout(folder)

    monkeypatch.setattr("agentic_os.registry.identity.checkouts.read_checkout", read)
    assert len(locate(tmp_path / "r")) == 3
    assert len(calls) == 1
