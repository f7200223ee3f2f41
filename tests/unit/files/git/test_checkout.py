"""Checkouts as the real git makes them, and as nobody should."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentic_os.files.git import checkout as git
from agentic_os.files.git.checkout import (
    MAX_POINTER_BYTES,
    MAX_REMOTE_CHARS,
    normalise_remote,
    read_checkout,
)
from support.fleet.git_repository import git as run

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def make(folder: Path, *arguments: str) -> Path:
    folder.mkdir(parents=True)
    run(folder, "init", "-q", *arguments)
    run(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make(tmp_path / "repository")


# --- what the real git makes ------------------------------------------------------------


def test_a_main_checkout(repository: Path) -> None:
    run(repository, "remote", "add", "origin", "git@github.com:Owner/Repo.git")
    found = read_checkout(repository)
    assert found is not None
    assert found.kind == "main"
    assert found.git_dir == found.common_dir == repository / ".git"
    assert found.branch == "main"
    assert found.commit == run(repository, "rev-parse", "HEAD")
    assert found.remote == "git@github.com:Owner/Repo.git"


def test_a_branch_without_commits_has_no_commit(tmp_path: Path) -> None:
    run(tmp_path, "init", "-q")
    found = read_checkout(tmp_path)
    assert found is not None
    assert (found.branch, found.commit, found.remote) == ("main", None, None)


def test_a_detached_head_has_a_commit_and_no_branch(repository: Path) -> None:
    run(repository, "checkout", "-q", "--detach")
    found = read_checkout(repository)
    assert found is not None
    assert (found.branch, found.commit) == (None, run(repository, "rev-parse", "HEAD"))


@pytest.mark.parametrize("packed", [False, True])
def test_branches_are_found_loose_and_packed(repository: Path, *, packed: bool) -> None:
    run(repository, "checkout", "-q", "-b", "topic/ünïcode-1")
    run(repository, "commit", "-q", "--allow-empty", "-m", "two")
    run(repository, "tag", "-a", "-m", "t", "v1")  # a peeled line in packed-refs
    run(repository, "branch", "topic/ünïcode-10", "main")
    if packed:
        run(repository, "pack-refs", "--all")
        assert not (repository / ".git" / "refs" / "heads" / "main").exists()
    found = read_checkout(repository)
    assert found is not None
    assert found.branch == "topic/ünïcode-1"
    assert found.commit == run(repository, "rev-parse", "HEAD")


def test_a_loose_ref_wins_over_a_packed_one(repository: Path) -> None:
    run(repository, "pack-refs", "--all")
    run(repository, "commit", "-q", "--allow-empty", "-m", "two")
    found = read_checkout(repository)
    assert found is not None
    assert found.commit == run(repository, "rev-parse", "HEAD")


def test_a_linked_worktree_shares_refs_and_remote(repository: Path, tmp_path: Path) -> None:
    run(repository, "remote", "add", "origin", "https://example.org/x")
    run(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    run(tmp_path / "side", "commit", "-q", "--allow-empty", "-m", "two")
    found = read_checkout(tmp_path / "side")
    assert found is not None
    assert found.kind == "worktree"
    assert found.git_dir == repository / ".git" / "worktrees" / "side"
    assert found.common_dir == repository / ".git"
    assert found.branch == "side"
    assert found.commit == run(tmp_path / "side", "rev-parse", "HEAD")
    assert found.commit != run(repository, "rev-parse", "HEAD")
    assert found.remote == "https://example.org/x"
    main = read_checkout(repository)
    assert main is not None
    assert main.branch == "main"


@pytest.fixture
def outer(repository: Path, tmp_path: Path) -> Path:
    """A repository with a submodule, whose name has a slash."""
    outer = make(tmp_path / "outer")
    run(outer, "submodule", "add", "-q", "--name", "libs/inner", str(repository), "libs/inner")
    run(outer, "commit", "-q", "-m", "add")
    return outer


def test_a_submodule_stands_alone(outer: Path, repository: Path) -> None:
    found = read_checkout(outer / "libs" / "inner")
    assert found is not None
    assert found.kind == "submodule"
    assert found.git_dir == found.common_dir == outer / ".git" / "modules" / "libs" / "inner"
    assert found.branch == "main"
    assert found.commit == run(repository, "rev-parse", "HEAD")
    assert found.remote == str(repository)
    main = read_checkout(outer)
    assert main is not None
    assert main.kind == "main"


def test_a_worktree_of_a_submodule_is_a_worktree_of_it(outer: Path, tmp_path: Path) -> None:
    run(outer / "libs" / "inner", "worktree", "add", "-q", "-b", "w", str(tmp_path / "w"))
    found = read_checkout(tmp_path / "w")
    assert found is not None
    assert found.kind == "worktree"
    assert found.common_dir == outer / ".git" / "modules" / "libs" / "inner"
    assert found.branch == "w"


def test_a_submodule_in_a_worktree_is_a_submodule(outer: Path, tmp_path: Path) -> None:
    run(outer, "worktree", "add", "-q", "-b", "w", str(tmp_path / "w"))
    run(tmp_path / "w", "submodule", "update", "--init", "-q")
    found = read_checkout(tmp_path / "w" / "libs" / "inner")
    assert found is not None
    assert found.kind == "submodule"
    assert found.commit == run(tmp_path / "w" / "libs" / "inner", "rev-parse", "HEAD")


def test_a_separate_git_folder_is_a_main_checkout(tmp_path: Path) -> None:
    for place in ("store.git", "modules/store.git"):  # a folder that is only called modules
        git_dir = tmp_path / place
        git_dir.parent.mkdir(exist_ok=True)
        folder = make(
            tmp_path / f"checkout-{git_dir.parent.name}", "--separate-git-dir", str(git_dir)
        )
        found = read_checkout(folder)
        assert found is not None
        assert found.kind == "main"
        assert found.git_dir == git_dir
        assert found.branch == "main"
        assert found.commit == run(folder, "rev-parse", "HEAD")


def test_a_sha256_repository(tmp_path: Path) -> None:
    folder = make(tmp_path / "long", "--object-format=sha256")
    found = read_checkout(folder)
    assert found is not None
    assert found.commit == run(folder, "rev-parse", "HEAD")
    assert len(found.commit) == 64


def test_a_symbolic_branch_is_followed_to_its_commit(repository: Path) -> None:
    run(repository, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    run(repository, "symbolic-ref", "HEAD", "refs/heads/alias")
    found = read_checkout(repository)
    assert found is not None
    assert (found.branch, found.commit) == ("alias", run(repository, "rev-parse", "main"))


def test_origin_wins_over_other_remotes_and_several_others_are_none(repository: Path) -> None:
    run(repository, "remote", "add", "upstream", "https://example.org/up")
    found = read_checkout(repository)
    assert found is not None
    assert found.remote == "https://example.org/up"
    run(repository, "remote", "add", "fork", "https://example.org/fork")
    found = read_checkout(repository)
    assert found is not None
    assert found.remote is None
    run(repository, "remote", "add", "origin", "https://example.org/origin")
    run(repository, "remote", "set-url", "--add", "origin", "https://example.org/second")
    found = read_checkout(repository)
    assert found is not None
    assert found.remote == "https://example.org/origin"


def test_a_password_in_the_remote_is_not_shown_by_accident(repository: Path) -> None:
    run(repository, "remote", "add", "origin", "https://u:hunter2@example.org/x")
    found = read_checkout(repository)
    assert found is not None
    assert found.remote == "https://u:hunter2@example.org/x"
    assert "hunter2" not in repr(found)


# --- what nobody should make ------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A hand-made checkout with one commit."""
    folder = tmp_path / "checkout"
    (folder / ".git" / "refs" / "heads").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "refs" / "heads" / "main").write_text(COMMIT + "\n")
    (folder / ".git" / "config").write_text('[remote "origin"]\n\turl = https://example.org/x\n')
    return folder


def test_the_hand_made_checkout_is_read(checkout: Path) -> None:
    found = read_checkout(checkout)
    assert found is not None
    assert (found.branch, found.commit) == ("main", COMMIT)
    assert found.remote == "https://example.org/x"


def test_a_folder_without_git_is_no_checkout(tmp_path: Path) -> None:
    assert read_checkout(tmp_path) is None
    assert read_checkout(tmp_path / "missing") is None
    (tmp_path / "file").touch()
    assert read_checkout(tmp_path / "file") is None


@pytest.mark.parametrize(
    ("head", "branch", "commit"),
    [
        (b"", None, None),
        (b"ref: \n", None, None),
        (b"gibberish\n", None, None),
        (b"ref: ../../secret\n", None, None),
        (b"ref: refs/heads/../../config\n", None, None),
        (b"ref: refs/heads/.invalid\n", None, None),  # reftable
        (b"ref: refs/heads/a b\n", None, None),
        (b"ref: refs/heads/a\x1b[31m\n", None, None),
        (b"ref: refs/heads/a.lock\n", None, None),
        (b"ref: refs/heads/a..b\n", None, None),
        (b"ref: refs/heads/\n", None, None),
        (b"ref: refs/heads/nul\0\n", None, None),
        (b"ref: refs/heads/none\n", "none", None),
        (b"ref: refs/heads/bad\xff\n", "bad\ufffd", None),
        (b"ref: refs/heads/" + b"x" * 300 + b"\n", "x" * 300, None),
        (b"ref: refs/jj/root\n", None, None),
        (b"ref: refs/heads/main", "main", COMMIT),
        (b"ref:refs/heads/main\r\n", "main", COMMIT),
        (COMMIT.encode() + b"\n", None, COMMIT),
        (COMMIT.upper().encode() + b"\n", None, None),
        (COMMIT.encode()[:39] + b"\n", None, None),
        (COMMIT.encode() + b"0\n", None, None),
        (b"ref: refs/heads/main\n" + b" " * MAX_POINTER_BYTES, None, None),
    ],
)
def test_a_strange_head_gives_only_what_is_certain(
    checkout: Path, head: bytes, branch: str | None, commit: str | None
) -> None:
    (checkout / ".git" / "HEAD").write_bytes(head)
    found = read_checkout(checkout)
    assert found is not None
    assert (found.branch, found.commit) == (branch, commit)
    assert found.remote == "https://example.org/x"


def test_refs_that_name_each_other_end(checkout: Path) -> None:
    (checkout / ".git" / "refs" / "heads" / "main").write_text("ref: refs/heads/other\n")
    (checkout / ".git" / "refs" / "heads" / "other").write_text("ref: refs/heads/main\n")
    found = read_checkout(checkout)
    assert found is not None
    assert (found.branch, found.commit) == ("main", None)


def link_head(folder: Path) -> None:
    (folder / ".git" / "HEAD").rename(folder / "elsewhere")
    (folder / ".git" / "HEAD").symlink_to(folder / "elsewhere")


def link_refs(folder: Path) -> None:
    (folder / ".git" / "refs").rename(folder / "elsewhere")
    (folder / ".git" / "refs").symlink_to(folder / "elsewhere")


def link_config(folder: Path) -> None:
    (folder / ".git" / "config").rename(folder / "elsewhere")
    (folder / ".git" / "config").symlink_to(folder / "elsewhere")


def fifo_head(folder: Path) -> None:
    (folder / ".git" / "HEAD").unlink()
    os.mkfifo(folder / ".git" / "HEAD")


def link_git(folder: Path) -> None:
    (folder / ".git").rename(folder / "elsewhere")
    (folder / ".git").symlink_to("elsewhere")


def fifo_git(folder: Path) -> None:
    (folder / ".git").rename(folder / "elsewhere")
    os.mkfifo(folder / ".git")


def empty_git(folder: Path) -> None:
    (folder / ".git").rename(folder / "elsewhere")
    (folder / ".git").mkdir()


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (link_head, (None, None, "https://example.org/x")),
        (link_refs, ("main", None, "https://example.org/x")),
        (link_config, ("main", COMMIT, None)),
        (fifo_head, (None, None, "https://example.org/x")),
        (link_git, (None, None, None)),
        (fifo_git, (None, None, None)),
        (empty_git, (None, None, None)),
    ],
)
def test_links_and_special_files_give_nothing(
    checkout: Path,
    damage: Callable[[Path], None],
    expected: tuple[str | None, str | None, str | None],
) -> None:
    damage(checkout)
    found = read_checkout(checkout)
    assert found is not None
    assert found.kind == "main"
    assert (found.branch, found.commit, found.remote) == expected


@pytest.mark.parametrize(
    "pointer",
    [
        b"",
        b"gitdir:",
        b"gitdir: \n",
        b"worktree: elsewhere\n",
        b"gitdir: nul\0\n",
        b"gitdir: missing\n",
        b"gitdir: .git\n",  # itself
        b"gitdir: " + b"x" * MAX_POINTER_BYTES,
        b"\xff\xfe",
    ],
)
def test_a_broken_git_file_is_a_checkout_of_which_nothing_is_known(
    tmp_path: Path, pointer: bytes
) -> None:
    (tmp_path / ".git").write_bytes(pointer)
    found = read_checkout(tmp_path)
    assert found is not None
    assert (found.kind, found.branch, found.commit, found.remote) == ("main", None, None, None)


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
@pytest.mark.parametrize("absolute", [True, False])
def test_a_git_file_may_be_absolute_or_relative(
    checkout: Path, tmp_path: Path, ending: str, *, absolute: bool
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    apart = tmp_path / "repository"
    (checkout / ".git").rename(apart)
    target = str(apart) if absolute else "../repository"
    (other / ".git").write_bytes(f"gitdir: {target}{ending}".encode())
    found = read_checkout(other)
    assert found is not None
    assert (found.git_dir, found.branch, found.commit) == (apart, "main", COMMIT)


@pytest.mark.parametrize("target", ["../checkout/.git", "../checkout/.git/", "../checkout", "../x"])
def test_a_git_file_cannot_claim_the_repository_of_another_checkout(
    checkout: Path, tmp_path: Path, target: str
) -> None:
    thief = tmp_path / "thief"
    thief.mkdir()
    (thief / ".git").write_text(f"gitdir: {target}\n")

    found = read_checkout(thief)

    assert checkout.is_dir()
    assert found is not None
    assert (found.git_dir, found.common_dir) == (thief / ".git", thief / ".git")
    assert (found.branch, found.commit, found.remote) == (None, None, None)


def test_a_git_file_cannot_claim_the_submodule_of_another_checkout(
    outer: Path, tmp_path: Path
) -> None:
    thief = tmp_path / "thief"
    thief.mkdir()
    (thief / ".git").write_text("gitdir: ../outer/.git/modules/libs/inner\n")

    found = read_checkout(thief)

    assert outer.is_dir()
    assert found is not None
    assert (found.kind, found.git_dir) == ("main", thief / ".git")
    assert (found.branch, found.commit, found.remote) == (None, None, None)


@pytest.mark.parametrize("noted", ["", "/somewhere/else/.git", "a\0b"])
def test_a_worktree_that_its_repository_does_not_know_is_none(tmp_path: Path, noted: str) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "commondir").write_text("../gone\n")
    (private / "HEAD").write_text("ref: refs/heads/main\n")
    (private / "gitdir").write_text(noted)
    (tmp_path / ".git").write_text("gitdir: private\n")

    found = read_checkout(tmp_path)

    assert found is not None
    assert (found.kind, found.branch) == ("main", None)


def test_a_worktree_whose_common_folder_is_gone_keeps_its_branch(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "commondir").write_text("../gone\n")
    (tmp_path / "private" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "private" / "gitdir").write_text(f"{tmp_path / '.git'}\n")
    (tmp_path / ".git").write_text("gitdir: private\n")
    found = read_checkout(tmp_path)
    assert found is not None
    assert found.kind == "worktree"
    assert found.common_dir == tmp_path / "gone"
    assert (found.branch, found.commit, found.remote) == ("main", None, None)


def test_refs_of_one_worktree_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "private" / "refs" / "bisect").mkdir(parents=True)
    (tmp_path / "private" / "commondir").write_text("../common\n")
    (tmp_path / "private" / "HEAD").write_text("ref: refs/bisect/bad\n")
    (tmp_path / "private" / "refs" / "bisect" / "bad").write_text(COMMIT)
    (tmp_path / "private" / "gitdir").write_text(f"{tmp_path / '.git'}\n")
    (tmp_path / ".git").write_text("gitdir: private\n")
    found = read_checkout(tmp_path)
    assert found is not None
    assert (found.branch, found.commit) == (None, COMMIT)


@pytest.mark.parametrize(
    ("packed", "commit"),
    [
        (f"{COMMIT} refs/heads/main\n", COMMIT),
        (f"{COMMIT} refs/heads/main", COMMIT),
        (f"# pack-refs with: peeled fully-peeled sorted \n{COMMIT} refs/heads/main\n", COMMIT),
        (f"{COMMIT} refs/heads/main2\n{COMMIT} refs/heads/mai\n", None),
        (f"x{COMMIT} refs/heads/main\n", None),
        (f"# {COMMIT} refs/heads/main\n", None),
        ("refs/heads/main\n", None),
        (" refs/heads/main\n", None),
        ("", None),
    ],
)
def test_packed_refs_are_whole_lines(checkout: Path, packed: str, commit: str | None) -> None:
    (checkout / ".git" / "refs" / "heads" / "main").unlink()
    (checkout / ".git" / "packed-refs").write_text(packed)
    found = read_checkout(checkout)
    assert found is not None
    assert found.commit == commit


@pytest.mark.parametrize("name", ["MAX_CONFIG_BYTES", "MAX_PACKED_REFS_BYTES"])
def test_what_is_too_large_is_passed_over(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (checkout / ".git" / "refs" / "heads" / "main").unlink()
    (checkout / ".git" / "packed-refs").write_text(f"{COMMIT} refs/heads/main\n")
    monkeypatch.setattr(git, name, 20)
    found = read_checkout(checkout)
    assert found is not None
    assert (found.commit is None) == (name == "MAX_PACKED_REFS_BYTES")
    assert (found.remote is None) == (name == "MAX_CONFIG_BYTES")


# --- remotes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/Owner/Repo",
        "https://github.com/owner/repo.git",
        "https://github.com/owner/repo/",
        "https://github.com/owner/repo.git/",
        "HTTPS://GitHub.com//owner///repo",
        "https://user:secret@github.com/owner/repo",
        "https://token@github.com:443/owner/repo.git?x=1#y",
        "http://www.github.com/owner/repo",
        "git://github.com/owner/repo.git",
        "git@github.com:owner/repo.git",
        "git@github.com:/owner/repo.git",
        "github.com:owner/repo",
        "ssh://git@github.com/owner/repo.git",
        "ssh://git@github.com:22/owner/repo.git",
        "ssh://git@ssh.github.com:443/owner/repo.git",
        "git+ssh://git@github.com/owner/repo",
        "https://github.com./owner/repo",
        "  https://github.com/owner/repo\n",
    ],
)
def test_every_way_to_write_a_remote_is_one_remote(url: str) -> None:
    assert normalise_remote(url) == "github.com/owner/repo"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://git.example.org/Team/Sub/Repo.git", "git.example.org/Team/Sub/Repo"),
        ("git@gitlab.com:Group/Sub/Repo.git", "gitlab.com/group/sub/repo"),
        ("git@bitbucket.org:Team/Repo", "bitbucket.org/team/repo"),
        ("ssh://git@altssh.bitbucket.org:443/t/r", "bitbucket.org/t/r"),
        ("ssh://git@altssh.gitlab.com:443/t/r", "gitlab.com/t/r"),
        ("ssh://git@[2001:DB8::1]:22/r.git", "2001:db8::1/r"),
        ("git@[2001:db8::1]:r.git", "2001:db8::1/r"),
        ("https://host/~user/r", "host/~user/r"),
        ("file://server/share/r.git", "server/share/r"),
        ("https://host/r.git.git", "host/r.git"),
        ("gh:owner/repo", "gh/owner/repo"),
    ],
)
def test_other_hosts_keep_the_case_of_their_paths(url: str, expected: str) -> None:
    assert normalise_remote(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "   ",
        "relative/path",
        "../sibling",
        "./x:y",
        "C:/Users/me/repo",
        "C:\\Users\\me\\repo",
        "https://github.com",
        "https://github.com/",
        "https:///path",
        "https://host/../x",
        "host:",
        "ext::sh -c evil",
        "hg::https://host/x",
        "https://host/a b",
        "https://host/\x1b[31m",
        "https://host/" + "x" * MAX_REMOTE_CHARS,
        "/",
        "file:///",
    ],
)
def test_what_is_no_address_gives_none(url: str) -> None:
    assert normalise_remote(url) is None


def test_local_repositories_are_equal_for_their_clones_and_keep_their_path_secret() -> None:
    ways = [
        "/home/me/src/repo",
        "/home/me/src/repo.git",
        "/home/me/src/repo/.git",
        "/home/me//src/./repo/",
        "/home/me/other/../src/repo",
        "file:///home/me/src/repo.git",
        "file://localhost/home/me/src/repo",
    ]
    found = {normalise_remote(way) for way in ways}
    assert len(found) == 1
    (only,) = found
    assert only is not None
    assert only.startswith("localhost/")
    assert only.endswith("/repo")
    assert "home" not in only
    assert normalise_remote("/home/you/src/repo") != only


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com-work:Acme/Shop.git",
        "ssh://git@ssh.github.com:443/acme/shop.git",
        "git@ssh.github.com:acme/shop",
        "https://github.com/acme/shop/",
    ],
)
def test_every_door_of_a_host_is_the_host(url: str) -> None:
    assert normalise_remote(url) == "github.com/acme/shop"


@pytest.mark.parametrize(
    "url",
    [
        "https://dev.azure.com/Org/Proj/_git/repo",
        "https://org@dev.azure.com/org/proj/_git/repo",
        "git@ssh.dev.azure.com:v3/org/proj/repo",
        "ssh://git@ssh.dev.azure.com:22/v3/org/proj/repo",
        "https://org.visualstudio.com/proj/_git/repo",
        "https://org.visualstudio.com/DefaultCollection/proj/_git/repo",
        "org@vs-ssh.visualstudio.com:v3/org/proj/repo",
    ],
)
def test_every_address_of_an_azure_repository_is_one(url: str) -> None:
    assert normalise_remote(url) == "dev.azure.com/org/proj/repo"


def test_an_azure_project_may_go_without_its_name() -> None:
    assert normalise_remote("https://dev.azure.com/org/_git/repo") == "dev.azure.com/org/repo/repo"
    assert normalise_remote("https://example.org/a/_git/b") == "example.org/a/_git/b"
    assert normalise_remote("git@github.community:acme/shop") == "github.community/acme/shop"
