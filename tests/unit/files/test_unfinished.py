"""Folders are made whole: named when complete, synced, one maker at a time."""

import os
import stat
from pathlib import Path

import pytest

from agentic_os.errors import FilesError
from agentic_os.files import unfinished
from agentic_os.files.publishing import sync_folder
from agentic_os.files.unfinished import folder_made_whole, forget_unfinished, left_unfinished


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "parent").mkdir()
    return tmp_path / "parent" / "me"


def names(place: Path) -> list[str]:
    return [path.name for path in place.parent.iterdir()]


def test_a_folder_takes_its_name_when_it_is_complete(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "er" / "me"
    with folder_made_whole(place) as making:
        (making / "inner").mkdir()
        (making / "inner" / "file").write_bytes(b"x")
        assert not place.exists()
        assert not left_unfinished(place)  # somebody is at it
    assert (place / "inner" / "file").read_bytes() == b"x"
    assert [stat.S_IMODE(one.stat().st_mode) for one in (place, place.parent)] == [0o700, 0o700]
    assert names(place) == ["me"]


def test_every_folder_is_synced_before_the_name_and_every_parent_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut after the end must find the name, and behind it all names."""
    place = tmp_path / "made" / "me"
    done: list[str] = []
    real_replace = Path.replace

    def watched(folder: Path) -> None:
        done.append(f"sync {folder.relative_to(tmp_path)}")
        sync_folder(folder)

    def replace(self: Path, target: Path) -> Path:
        done.append("name")
        return real_replace(self, target)

    monkeypatch.setattr(unfinished, "sync_folder", watched)
    monkeypatch.setattr(Path, "replace", replace)
    with folder_made_whole(place) as making:
        (making / "keys").mkdir()
    assert done == [
        "sync made/.me.unfinished/keys",
        "sync made/.me.unfinished",
        "name",
        "sync made",
        "sync .",
    ]


def test_a_block_that_raises_leaves_nothing(place: Path) -> None:
    with pytest.raises(KeyError), folder_made_whole(place) as making:
        raise KeyError((making / "file").write_bytes(b"x"))
    with pytest.raises(FilesError, match="No space"), folder_made_whole(place):
        raise OSError(28, "No space left on device")
    with pytest.raises(FilesError) as caught, folder_made_whole(place):
        _taken_by_others(place)
    assert caught.value.code == "PUBLISH_FAILED"
    assert names(place) == ["me"]


def _taken_by_others(place: Path) -> None:
    place.mkdir()
    (place / "others").write_bytes(b"x")


def test_what_a_killed_process_left_is_deleted_by_the_next(tmp_path: Path, place: Path) -> None:
    child = os.fork()
    if child == 0:
        with folder_made_whole(place) as making:
            (making / "keys").mkdir()
            (making / "keys" / "old").write_bytes(b"secret")
            (making / "link").symlink_to(tmp_path)
            os._exit(9)
    os.waitpid(child, 0)
    assert left_unfinished(place)
    with folder_made_whole(place) as making:
        assert list(making.iterdir()) == []
    assert not left_unfinished(place)
    assert names(place) == ["me"]


def test_what_a_killed_process_left_is_forgotten_and_what_a_living_one_makes_is_not(
    place: Path,
) -> None:
    child = os.fork()
    if child == 0:
        with folder_made_whole(place) as making:
            (making / "key").write_bytes(b"secret")
            os._exit(9)
    os.waitpid(child, 0)
    forget_unfinished(place)
    assert names(place) == []
    forget_unfinished(place)  # nothing is there
    with folder_made_whole(place) as making:
        (making / "key").write_bytes(b"mine")
        forget_unfinished(place)
        assert (making / "key").exists()
    place.with_name(".me.unfinished").symlink_to(place)
    forget_unfinished(place)
    assert (place / "key").exists()


def test_one_process_at_a_time(place: Path) -> None:
    with folder_made_whole(place) as making:
        (making / "file").write_bytes(b"x")
        with pytest.raises(FilesError) as caught, folder_made_whole(place):
            raise AssertionError
        assert caught.value.code == "FOLDER_BUSY"
        assert (making / "file").exists()
    assert (place / "file").exists()


def test_a_link_in_the_place_is_not_followed(tmp_path: Path, place: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine").write_bytes(b"x")
    place.with_name(".me.unfinished").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FilesError), folder_made_whole(place):
        raise AssertionError
    assert (tmp_path / "elsewhere" / "mine").exists()
    assert not left_unfinished(place)
