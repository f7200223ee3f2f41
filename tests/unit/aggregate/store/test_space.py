"""Spaces: named by their roots, private, deleted without tripping over others."""

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from agentic_os.aggregate.store.space import (
    ROOTS_NAME,
    Space,
    all_spaces,
    collect_spaces,
    create_space,
    delete_space,
    space_bytes,
    space_for,
)
from agentic_os.errors import FilesError
from agentic_os.files.publishing import ExclusiveLock


def made(cache: Path, *roots: Path) -> Space:
    space = space_for(cache, roots)
    create_space(space)
    return space


def test_the_same_roots_share_a_space(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    (tmp_path / "link").symlink_to(one)
    cache = tmp_path / "cache"

    assert space_for(cache, [one, two]) == space_for(cache, [two, one, one])
    assert space_for(cache, [tmp_path / "link"]) == space_for(cache, [one])
    assert space_for(cache, [one]) != space_for(cache, [two])
    assert space_for(cache, [one]).folder == space_for(cache, [one], rules="x").folder
    assert not cache.exists()


def test_a_space_is_private_and_says_its_roots(tmp_path: Path) -> None:
    space = made(tmp_path / "cache", tmp_path)
    create_space(space)

    for folder in (tmp_path / "cache", space.folder.parent, space.folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert json.loads((space.folder / ROOTS_NAME).read_text()) == [str(tmp_path)]


def test_spaces_are_listed_whatever_lies_beside_them(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert list(all_spaces(cache)) == []
    space = made(cache, tmp_path)
    folder = space.folder.parent
    (folder / "a-file").write_text("x")
    (folder / "a-link").symlink_to(tmp_path)
    (folder / "broken").mkdir()
    (folder / "broken" / ROOTS_NAME).write_text("[1, ")
    (folder / "odd").mkdir()
    (folder / "odd" / ROOTS_NAME).write_text("1")

    found = {each.folder.name: each.roots for each in all_spaces(cache)}

    assert found == {space.folder.name: (str(tmp_path),), "broken": (), "odd": ()}


def test_only_spaces_whose_roots_have_all_vanished_are_collected(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    roots = [tmp_path / name for name in ("here", "there", "gone")]
    for root in roots:
        root.mkdir()
    keep = made(cache, tmp_path / "own")
    half = made(cache, roots[0], roots[2])
    gone = made(cache, roots[2])
    roots[2].rmdir()

    assert collect_spaces(cache, keep=keep) == (gone.folder.name,)
    assert {each.folder for each in all_spaces(cache)} == {keep.folder, half.folder}


def test_a_space_in_use_is_not_collected(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    keep, gone = made(cache, tmp_path), made(cache, tmp_path / "gone")
    lock = ExclusiveLock(gone.lock)
    assert lock.try_acquire()

    assert collect_spaces(cache, keep=keep) == ()
    lock.release()
    assert collect_spaces(cache, keep=keep) == (gone.folder.name,)


def test_a_space_that_cannot_be_deleted_stops_no_collection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    keep, gone = made(cache, tmp_path), made(cache, tmp_path / "gone")

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(shutil, "rmtree", refused)

    assert collect_spaces(cache, keep=keep) == ()
    with pytest.raises(FilesError) as raised:
        delete_space(gone)
    assert raised.value.code == "SPACE_NOT_DELETED"
    assert str(tmp_path) not in raised.value.message


def test_a_space_that_another_deletes_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = made(tmp_path / "cache", tmp_path)
    (space.folder / "file").write_bytes(b"12345")
    real = shutil.rmtree
    calls = []

    def racing(path: Path, *, ignore_errors: bool = False) -> None:
        calls.append(ignore_errors)
        real(path, ignore_errors=ignore_errors)
        if len(calls) == 1:
            raise FileNotFoundError

    monkeypatch.setattr(shutil, "rmtree", racing)

    assert delete_space(space) >= 5
    assert not space.folder.exists()
    assert calls == [False, True]


def test_bytes_of_files_that_vanish_count_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = made(tmp_path / "cache", tmp_path)
    (space.folder / "below").mkdir()
    (space.folder / "below/file").write_bytes(b"12345")
    (space.folder / "link").symlink_to(space.folder / "below/file")
    whole = space_bytes(space)
    real = os.lstat

    def vanishing(path: str) -> object:
        if path.endswith("below/file"):
            raise FileNotFoundError
        return real(path)

    monkeypatch.setattr(os, "lstat", vanishing)

    assert space_bytes(space) == whole - 5
