"""The contained writer: old bytes or new ones, nothing outside, nothing lost."""

import os
import resource
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentic_os.aios.folder.system import System
from agentic_os.aios.writing.writer import MISSING, FolderWriter
from agentic_os.errors import AiosError
from support.aios.builder import AiosBuilder
from support.aios.stopping import spawn, stopped_at_every_step

if TYPE_CHECKING:
    from collections.abc import Callable

UNSAFE = "DOTAIOS_WRITE_UNSAFE_TARGET"
CONFLICT = "DOTAIOS_WRITE_CONFLICT"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_and_replaced_files_and_their_modes(aios: AiosBuilder) -> None:
    old = aios.write("context/work.md", "old")
    old.chmod(0o640)
    with FolderWriter(aios.root) as writer:
        writer.put("context/work.md", b"new", expected=writer.see("context/work.md"))
        writer.put("deep/er/a.md", b"x", expected=MISSING)
        writer.put(".dotaios/changes/a.json", b"y", expected=MISSING)
    assert (old.read_bytes(), mode(old)) == (b"new", 0o640)
    assert mode(aios.root / "deep/er/a.md") == 0o644
    assert mode(aios.root / "deep/er") == 0o755
    assert mode(aios.root / ".dotaios/changes/a.json") == 0o600
    assert mode(aios.root / ".dotaios") == mode(aios.root / ".dotaios/changes") == 0o700
    assert not list(aios.root.rglob("*.tmp"))


class ChangingSystem(System):
    """Changes the target just before the replacement is written out."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def sync(self, handle: int) -> None:
        self.target.write_bytes(b"theirs")
        super().sync(handle)


def test_a_target_that_changes_meanwhile_is_left(aios: AiosBuilder) -> None:
    target = aios.write("context/work.md", "old")
    with FolderWriter(aios.root, system=ChangingSystem(target)) as writer:
        seen = writer.see("context/work.md")
        with pytest.raises(AiosError) as caught:
            writer.put("context/work.md", b"ours", expected=seen)
        assert (caught.value.code, caught.value.path) == (CONFLICT, "context/work.md")
        with pytest.raises(AiosError) as caught:
            writer.put("context/work.md", b"ours", expected=MISSING)
        assert caught.value.code == CONFLICT
    assert target.read_bytes() == b"theirs"
    assert not list(aios.root.rglob("*.tmp"))


@pytest.mark.parametrize("at", ["a", "a/b", "a/b/c.md"])
def test_a_link_at_any_component_is_refused(aios: AiosBuilder, tmp_path: Path, at: str) -> None:
    outside = tmp_path / "outside"
    (outside / "b").mkdir(parents=True)
    for name in ("c.md", "b/c.md"):
        (outside / name).write_text("theirs")
    (aios.root / "a/b").mkdir(parents=True)
    (aios.root / "a/b/c.md").write_text("ours")
    place = aios.root / at
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    place.symlink_to(outside / "c.md" if at.endswith(".md") else outside)
    with FolderWriter(aios.root) as writer:
        for act in (
            lambda: writer.see("a/b/c.md"),
            lambda: writer.put("a/b/c.md", b"x", expected=MISSING),
            lambda: writer.append("a/b/c.md", b"x\n"),
        ):
            with pytest.raises(AiosError) as caught:
                act()
            assert caught.value.code in {UNSAFE, CONFLICT}
    assert [path.read_text() for path in sorted(outside.rglob("*.md"))] == ["theirs", "theirs"]


@pytest.mark.parametrize("path", ["../x", "/x", "a//b", "a/./b", "a\0b", ""])
def test_paths_that_leave_the_folder(aios: AiosBuilder, path: str) -> None:
    with FolderWriter(aios.root) as writer, pytest.raises(AiosError) as caught:
        writer.put(path, b"x", expected=MISSING)
    assert caught.value.code == UNSAFE


def test_special_files_and_second_names_are_refused(aios: AiosBuilder) -> None:
    target = aios.write("a.md", "old")
    os.link(target, aios.root / "b.md")
    os.mkfifo(aios.root / "pipe")
    with FolderWriter(aios.root) as writer:
        for path in ("a.md", "pipe", "memory" if (aios.root / "memory").exists() else "pipe"):
            with pytest.raises(AiosError) as caught:
                writer.see(path)
            assert caught.value.code == UNSAFE
    assert target.read_text() == "old"


def test_a_torn_tail_is_closed_first(aios: AiosBuilder) -> None:
    log = aios.write("memory/events.jsonl", '{"ts":"1"')
    with FolderWriter(aios.root) as writer:
        writer.append("memory/events.jsonl", b'{"b":1}\n')
        writer.append("memory/events.jsonl", b'{"c":1}\n')
    assert log.read_bytes() == b'{"ts":"1"\n{"b":1}\n{"c":1}\n'


def test_a_full_disk_leaves_everything_as_it_was(aios: AiosBuilder) -> None:
    log = aios.write("memory/events.jsonl", "{}\n")
    note = aios.write("a.md", "old")

    def act() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))
        with FolderWriter(aios.root) as writer:
            changes: tuple[Callable[[], None], ...] = (
                lambda: writer.append("memory/events.jsonl", b'{"long":"line"}\n'),
                lambda: writer.put("a.md", b"far too long", expected=writer.see("a.md")),
                lambda: writer.put("new.md", b"far too long", expected=MISSING),
            )
            for change in changes:
                with pytest.raises(AiosError) as caught:
                    change()
                assert caught.value.code == "DOTAIOS_WRITE_FAILED"

    assert os.waitpid(spawn(act), 0)[1] == 0
    assert (log.read_text(), note.read_text()) == ("{}\n", "old")
    assert not (aios.root / "new.md").exists()
    assert not list(aios.root.rglob("*.tmp"))


class ReadOnlySystem(System):
    """A folder on a read-only file system."""

    def create(self, *_: object) -> int:
        raise OSError(30, os.strerror(30))


def test_a_read_only_folder(aios: AiosBuilder) -> None:
    aios.write("a.md", "old")
    with FolderWriter(aios.root, system=ReadOnlySystem()) as writer:
        seen = writer.see("a.md")
        with pytest.raises(AiosError) as caught:
            writer.put("a.md", b"x", expected=seen)
    assert caught.value.code == "DOTAIOS_WRITE_FAILED"
    assert "Read-only file system" in caught.value.message
    assert str(aios.root) not in caught.value.message


@pytest.mark.parametrize("new", [True, False])
def test_killed_at_every_step_there_are_old_bytes_or_new_ones(
    aios: AiosBuilder, *, new: bool
) -> None:
    target = aios.root / "context/work.md"

    def prepare() -> None:
        shutil.rmtree(target.parent, ignore_errors=True)
        if not new:
            aios.write("context/work.md", "old")

    def act(system: System) -> None:
        with FolderWriter(aios.root, system=system) as writer:
            writer.put("context/work.md", b"new", expected=writer.see("context/work.md"))

    for _ in stopped_at_every_step(prepare, act):
        with FolderWriter(aios.root) as writer:
            seen = writer.see("context/work.md")
            assert seen.data in ({b"", b"new"} if new else {b"old", b"new"})
            assert seen.exists or new
            writer.put("context/work.md", b"again", expected=seen)
        assert target.read_bytes() == b"again"
        assert target.stat().st_nlink == 1
