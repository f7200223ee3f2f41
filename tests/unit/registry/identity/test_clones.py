"""Clones and worktrees of one project are compared by what would be read of them."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agentic_os.errors import FilesError
from agentic_os.files.fingerprints import Fingerprint
from agentic_os.files.reading import Folder
from agentic_os.registry.fleet import Fleet, load_fleet
from agentic_os.registry.identity import clones
from agentic_os.settings.values import ListedProject, Root, Settings

MakeProject = Callable[..., Path]
REMOTE = '[remote "origin"]\n\turl = https://example.org/me/shop.git\n'


@pytest.fixture
def pair(make_project: MakeProject) -> tuple[Path, Path]:
    """Two equal clones of a project with every surface."""
    made = make_project("r/b-shop", text=DESCRIPTOR)
    write(made, ".agents/memory/MEMORY.md", "- [One](one.md)\n")
    write(made, ".agents/memory/one.md", "one\n")
    write(made, ".agents/vault/deep/er/note.md", "# Note\n")
    write(made, "graphify-out/graph.json", "{}")
    write(made, ".agents/CAPABILITIES.md", "# Capabilities\n")
    write(made, ".mcp.json", "{}")
    write(made, ".git/HEAD", "ref: refs/heads/main\n")
    write(made, ".git/config", REMOTE)
    (made / ".git/objects").mkdir()
    (made / ".git/refs").mkdir()
    other = made.with_name("a-shop")
    shutil.copytree(made, other)
    return made, other


DESCRIPTOR = """\
project: {name: shop, project_init_version: 1.2.2, project_init_contract_version: 2}
memory:
  stack: obsidian-graphify
  tier: 2
  memory_path: .agents/memory
  vault_path: .agents/vault
  graph_path: graphify-out/graph.json
"""


def write(folder: Path, path: str, text: str) -> None:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def load(folder: Path, *listed: Path) -> Fleet:
    entries = tuple(ListedProject(typed=path.name, path=path) for path in listed)
    root = Root(typed="r", path=folder, origin="projects.toml")
    return load_fleet([root], Settings(projects=entries))


def said(pair: tuple[Path, Path], *listed: Path, code: str = "CLONES_DIFFER") -> list[str]:
    [project] = load(pair[0].parent, *listed).projects
    return [item.message for item in project.diagnostics if item.code == code]


def as_worktree(main: Path, worktree: Path, branch: str) -> None:
    """Make a folder a linked worktree of another one's repository."""
    shutil.rmtree(worktree / ".git", ignore_errors=True)
    linked = main / ".git/worktrees" / branch
    linked.mkdir(parents=True)
    (linked / "commondir").write_text("../..\n")
    (linked / "gitdir").write_text(f"{worktree}/.git\n")
    (linked / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
    (worktree / ".git").write_text(f"gitdir: {linked}\n")


def test_equal_clones_are_named_by_a_note(pair: tuple[Path, Path]) -> None:
    [project] = load(pair[0].parent).projects
    [note] = project.diagnostics
    assert (note.code, note.severity) == ("CLONES_EQUAL", "info")
    assert note.message == ("2 clones of it are equal in all that is compared; a-shop is read")
    assert load(pair[0].parent, pair[0]).projects[0].diagnostics == ()


@pytest.mark.parametrize(
    ("path", "text", "part"),
    [
        (".agents/memory/one.md", "two\n", "memory"),
        (".agents/memory/two.md", "one\n", "memory"),
        (".agents/vault/deep/er/note.md", "# Other\n", "vault"),
        ("graphify-out/graph.json", "[]", "graph"),
        (".agents/CAPABILITIES.md", "", "inventory"),
        (".mcp.json", "[]", "servers"),
        (".agents/config.yaml", DESCRIPTOR.replace("shop,", "shed,"), "descriptor"),
    ],
)
def test_what_differs_is_named(pair: tuple[Path, Path], path: str, text: str, part: str) -> None:
    write(pair[1], path, text)
    assert said(pair) == [
        f"2 clones of it differ in their {part}; a-shop is read because it comes first"
    ]


def test_several_parts_are_all_named(pair: tuple[Path, Path]) -> None:
    write(pair[1], ".mcp.json", "[]")
    shutil.rmtree(pair[1] / ".agents/vault")
    assert "differ in their servers and vault;" in said(pair)[0]


def test_a_listed_clone_is_the_persons_choice(pair: tuple[Path, Path]) -> None:
    write(pair[1], ".agents/memory/one.md", "two\n")
    assert said(pair, pair[0]) == []
    assert said(pair, pair[1]) == []
    assert len(said(pair)) == 1


@pytest.mark.parametrize(
    ("path", "part"),
    [
        (".agents/memory/one.md", "memory"),
        (".agents/memory/three.md", "memory"),
        (".agents/vault/deep/er/note.md", "vault"),
        ("graphify-out/graph.json", "graph"),
        (".agents/CAPABILITIES.md", "inventory"),
        (".mcp.json", "servers"),
    ],
)
def test_worktrees_that_differ_are_named_as_clones_are(
    pair: tuple[Path, Path], path: str, part: str
) -> None:
    main, worktree = pair
    as_worktree(main, worktree, "side")
    assert load(main.parent).projects[0].diagnostics == ()

    write(worktree, path, "something else\n")

    [project] = load(main.parent).projects
    assert [checkout.kind for checkout in project.checkouts] == ["main", "worktree"]
    [warning] = project.diagnostics
    assert (warning.code, warning.severity) == ("WORKTREES_DIFFER", "warning")
    assert warning.message == (
        f"2 checkouts of one repository differ in their {part}; b-shop is read"
    )
    for listed in pair:
        assert load(main.parent, listed).projects[0].diagnostics == ()


def test_clones_and_worktrees_are_each_named(pair: tuple[Path, Path]) -> None:
    read, clone = pair[1], pair[0]
    worktree = read.with_name("c-shop")
    shutil.copytree(read, worktree)
    as_worktree(read, worktree, "side")
    write(worktree, ".agents/memory/one.md", "two\n")
    assert said(pair, code="CLONES_EQUAL")
    assert "differ in their memory; a-shop" in said(pair, code="WORKTREES_DIFFER")[0]
    # A worktree of the clone that is not read says nothing of what is read.
    shutil.rmtree(read / ".git/worktrees")
    as_worktree(clone, worktree, "side")
    assert not said(pair, code="WORKTREES_DIFFER")


def test_only_so_many_are_compared(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clones, "MAX_COMPARED_CHECKOUTS_ENTRIES", 1)
    third = pair[0].with_name("c-shop")
    shutil.copytree(pair[0], third)
    write(third, ".agents/memory/one.md", "two\n")
    assert said(pair, code="CLONES_EQUAL")[0].endswith("; 1 others were compared")
    write(pair[0], ".agents/memory/one.md", "two\n")
    assert said(pair)[0].endswith("; 1 others were compared")


def test_what_was_declined_is_not_opened(pair: tuple[Path, Path]) -> None:
    declined = DESCRIPTOR.partition("memory:")[0] + "memory: {stack: none}\n"
    for folder in pair:
        write(folder, ".agents/config.yaml", declined)
    write(pair[1], ".agents/memory/one.md", "two\n")
    assert said(pair) == []


def test_what_cannot_be_read_differs_and_stops_nothing(pair: tuple[Path, Path]) -> None:
    (pair[1] / ".agents/memory/one.md").unlink()
    os.mkfifo(pair[1] / ".agents/memory/one.md")
    assert "memory" in said(pair)[0]
    (pair[1] / ".mcp.json").unlink()
    (pair[1] / ".mcp.json").symlink_to(pair[0] / ".mcp.json")
    assert "memory and servers" in said(pair)[0]


def test_bounds(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond them files count by their size, and what lies deeper does not count."""
    monkeypatch.setattr(clones, "MAX_COMPARED_FILE_BYTES", 3)
    write(pair[1], ".agents/memory/one.md", "two\n")
    assert said(pair) == []
    write(pair[1], ".agents/memory/one.md", "three\n")
    assert "memory" in said(pair)[0]
    write(pair[1], ".agents/memory/one.md", "one\n")
    write(pair[1], ".agents/vault/deep/er/other.md", "x")
    assert "vault" in said(pair)[0]
    monkeypatch.setattr(clones, "MAX_COMPARED_DEPTH", 1)
    assert said(pair) == []
    monkeypatch.setattr(clones, "MAX_COMPARED_DEPTH", 8)
    monkeypatch.setattr(clones, "MAX_COMPARED_ENTRIES", 2)
    assert said(pair) == []


def test_a_file_that_vanishes_after_it_was_too_large(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clones, "MAX_COMPARED_FILE_BYTES", 3)
    stat = Folder.stat

    def gone(folder: Folder, relative: str) -> Fingerprint:
        if relative == "one.md":
            raise FilesError("gone", code="FILE_MISSING")
        return stat(folder, relative)

    monkeypatch.setattr(Folder, "stat", gone)
    assert said(pair) == []


def test_a_folder_that_cannot_be_entered(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    descend = Folder.descend

    def closed(folder: Folder, relative: str) -> Folder:
        if relative == "er":
            raise FilesError("closed", code="FILE_UNREADABLE")
        return descend(folder, relative)

    monkeypatch.setattr(Folder, "descend", closed)
    assert said(pair) == []


def test_a_clone_that_vanishes_meanwhile(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = clones._one_per_repository

    def slowly(group: object) -> object:
        chosen = seen(group)  # type: ignore[arg-type]
        shutil.rmtree(pair[1], ignore_errors=True)
        return chosen

    monkeypatch.setattr(clones, "_one_per_repository", slowly)
    assert "differ in their folder and graph" in said(pair)[0]
