import getpass
from pathlib import Path

import pytest

from agentic_os.errors import SettingsError
from agentic_os.settings.paths import expanded, portable

BASE = Path("/base/folder")
HOME = Path("/people/ann")


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("~", "/people/ann"),
        ("~/a/../b", "/people/ann/b"),
        ("a", "/base/folder/a"),
        ("../a", "/base/a"),
        (".", "/base/folder"),
        ("/a//b/", "/a/b"),
        ("$HOME/x", "/base/folder/$HOME/x"),
        ("a~b", "/base/folder/a~b"),
    ],
)
def test_what_a_typed_path_means(typed: str, path: str) -> None:
    assert expanded(typed, base=BASE, home=HOME) == Path(path)


def test_another_users_home_is_looked_up() -> None:
    found = expanded(f"~{getpass.getuser()}/x", base=BASE, home=HOME)
    assert found.is_absolute()
    assert found.name == "x"
    assert "~" not in str(found)


@pytest.mark.parametrize("typed", ["", " ", "a\0b", "~no-such-user-here/x", "a\udcff", "x" * 4097])
def test_an_impossible_path_is_refused(typed: str) -> None:
    with pytest.raises(SettingsError) as caught:
        expanded(typed, base=BASE, home=HOME)
    assert caught.value.code == "SETTINGS_PATH_INVALID"
    caught.value.message.encode()


def test_paths_below_home_are_written_portably() -> None:
    assert portable(HOME / "a/b", home=HOME) == "~/a/b"
    assert portable(HOME, home=HOME) == "~"
    assert portable(Path("/srv/a"), home=HOME) == "/srv/a"
    assert portable(Path("/people/anna"), home=HOME) == "/people/anna"
