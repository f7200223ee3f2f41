import os
from pathlib import Path

import pytest

from agentic_os.errors import SettingsError
from agentic_os.files.places import Places
from agentic_os.settings.location import load_settings, settings_file
from agentic_os.settings.values import Settings


def test_without_a_file_everything_is_default(places: Places, home: Path) -> None:
    assert load_settings(places, home=home) == Settings()
    assert settings_file(places, home=home) == places.config / "projects.toml"
    assert not places.config.exists()


def test_the_file_in_the_home_folder_is_the_second_choice(
    places: Places, home: Path, file: Path
) -> None:
    other = home / ".agents/projects.toml"
    other.parent.mkdir()
    other.write_text('roots = ["code"]')
    settings = load_settings(places, home=home)
    assert settings.file == other
    assert [root.path for root in settings.roots] == [home / ".agents/code"]
    file.write_text('roots = ["first"]')
    assert load_settings(places, home=home).file == file


def test_a_linked_file_is_read_for_dotfile_managers(
    places: Places, home: Path, file: Path, tmp_path: Path
) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text('exclude = ["x"]')
    file.symlink_to(real)
    settings = load_settings(places, home=home)
    assert settings.exclude == ("x",)
    assert settings.file == file


def test_a_byte_order_mark_is_no_key(places: Places, home: Path, file: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbfexclude = ["x"]\r\n')
    assert load_settings(places, home=home).exclude == ("x",)


def test_a_fifo_does_not_hang(places: Places, home: Path, file: Path) -> None:
    os.mkfifo(file)
    with pytest.raises(SettingsError, match="is not a regular file"):
        load_settings(places, home=home)


def test_a_folder_and_a_dangling_link_are_named(places: Places, home: Path, file: Path) -> None:
    file.mkdir()
    with pytest.raises(SettingsError, match=r"projects\.toml is not a regular file"):
        load_settings(places, home=home)
    file.rmdir()
    file.symlink_to("nowhere")
    with pytest.raises(SettingsError, match="link to a file that does not exist"):
        load_settings(places, home=home)


def test_a_loop_of_links_is_named(places: Places, home: Path, file: Path) -> None:
    file.symlink_to(file)
    with pytest.raises(SettingsError, match=r"projects\.toml cannot be read") as caught:
        load_settings(places, home=home)
    assert caught.value.code == "SETTINGS_UNREADABLE"
    assert str(file.parent) not in caught.value.message


def test_a_huge_file_and_bytes_that_are_no_text_are_refused(
    places: Places, home: Path, file: Path
) -> None:
    file.write_bytes(b"#" * 1_048_577)
    with pytest.raises(SettingsError, match="larger than 1048576 bytes"):
        load_settings(places, home=home)
    file.write_bytes(b"# ok\n# caf\xe9\n")
    with pytest.raises(SettingsError, match="line 2 is not UTF-8 text"):
        load_settings(places, home=home)
