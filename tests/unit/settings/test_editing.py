import stat
from pathlib import Path

import pytest

from agentic_os.errors import FilesError, RootMissingError, SettingsError
from agentic_os.files.places import Places
from agentic_os.files.publishing import ExclusiveLock
from agentic_os.settings.editing import add_grant, add_root, remove_grant, remove_root
from agentic_os.settings.values import Grant

WRITTEN = """\
# my projects
roots = [
  "~/code",  # day work
  # a word of mine
  "../work",
]
exclude = ["archive"]  # done with

[limits] # small machine
depth = 3

[[project]]
path = "~/code/shop"
aliases = ["storefront"]
"""


@pytest.fixture
def code(home: Path) -> Path:
    folder = home / "code"
    folder.mkdir()
    return folder


def test_the_first_root_makes_the_file(places: Places, home: Path, code: Path) -> None:
    edit = add_root(places, "code", current=home, home=home)
    file = places.config / "projects.toml"
    assert (edit.file, edit.changed) == (file, True)
    assert file.read_text() == 'roots = ["~/code"]\n'
    assert [root.path for root in edit.settings.roots] == [code]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_adding_a_root_keeps_everything_else(
    places: Places, home: Path, file: Path, tmp_path: Path
) -> None:
    file.write_text(WRITTEN)
    new = tmp_path / "elsewhere"
    new.mkdir()
    assert add_root(places, str(new), current=home, home=home).changed
    assert file.read_text() == WRITTEN.replace('  "../work",\n', f'  "../work",\n  "{new}",\n')


@pytest.mark.parametrize("typed", ["code", "~/code", "./code/", "linked"])
def test_adding_a_root_twice_changes_nothing(
    places: Places, home: Path, code: Path, file: Path, typed: str
) -> None:
    (home / "linked").symlink_to(code)
    file.write_text(WRITTEN)
    edit = add_root(places, typed, current=home, home=home)
    assert not edit.changed
    assert file.read_text() == WRITTEN


def test_a_typed_tilde_is_kept(places: Places, home: Path, code: Path) -> None:
    (code / "x").mkdir()
    edit = add_root(places, "~/code/../code/x", current=home, home=home)
    assert edit.file.read_text() == 'roots = ["~/code/../code/x"]\n'


def test_a_root_that_is_missing_or_a_file_is_named_as_typed(
    places: Places, home: Path, file: Path
) -> None:
    (home / "page").write_text("x")
    for typed in ("gone", "page"):
        with pytest.raises(RootMissingError, match=f"the root {typed} does not exist"):
            add_root(places, typed, current=home, home=home)
    assert not file.exists()


@pytest.mark.parametrize("typed", ["~/code", "code"])
def test_removing_a_root_keeps_everything_else(
    places: Places, home: Path, file: Path, typed: str
) -> None:
    file.write_text(WRITTEN)
    edit = remove_root(places, typed, current=home, home=home)
    assert edit.changed
    assert file.read_text() == WRITTEN.replace('  "~/code",  # day work\n', "")
    again = remove_root(places, typed, current=home, home=home)
    assert not again.changed


def test_removing_a_root_that_is_nowhere_makes_no_file(
    places: Places, home: Path, file: Path
) -> None:
    assert not remove_root(places, "x", current=home, home=home).changed
    assert not file.exists()


def test_every_entry_that_means_the_folder_is_removed(
    places: Places, home: Path, file: Path
) -> None:
    file.write_text('roots = ["~/a", "b", "~/./a"]\n')
    edit = remove_root(places, "a", current=home, home=home)
    assert [root.typed for root in edit.settings.roots] == ["b"]


def test_a_grant_is_written_once_and_replaces_a_void_one(
    places: Places, home: Path, file: Path
) -> None:
    file.write_text(WRITTEN)
    first = Grant(project="shop", endpoint="ccc mcp")
    assert add_grant(places, first, home=home).changed
    assert not add_grant(places, first, home=home).changed
    other = Grant(project="site", endpoint="http://127.0.0.1:1")
    assert add_grant(places, other, home=home).changed
    moved = Grant(project="shop", endpoint="ccc mcp --fast")
    edit = add_grant(places, moved, home=home)
    assert set(edit.settings.grants) == {other, moved}
    assert not edit.settings.granted("shop", "ccc mcp")
    assert file.read_text().startswith(WRITTEN)


def test_grants_are_taken_back(places: Places, home: Path, file: Path) -> None:
    file.write_text(WRITTEN)
    add_grant(places, Grant(project="shop", endpoint="ccc mcp"), home=home)
    edit = remove_grant(places, "shop", home=home)
    assert edit.changed
    assert edit.settings.grants == ()
    assert "grant" not in file.read_text()
    assert not remove_grant(places, "shop", home=home).changed


def test_grants_written_inline_are_edited_too(places: Places, home: Path, file: Path) -> None:
    file.write_text('grant = [{ project = "a", endpoint = "x" }] # short\n')
    edit = add_grant(places, Grant(project="b", endpoint="y"), home=home)
    assert edit.settings.granted("a", "x")
    assert edit.settings.granted("b", "y")
    assert remove_grant(places, "a", home=home).settings.grants == (
        Grant(project="b", endpoint="y"),
    )
    assert "# short" in file.read_text()


def test_an_empty_grant_is_refused(places: Places, home: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        add_grant(places, Grant(project="a", endpoint=" "), home=home)
    assert caught.value.code == "SETTINGS_VALUE_INVALID"


def test_a_file_with_a_fault_is_never_written(
    places: Places, home: Path, code: Path, file: Path
) -> None:
    assert code.is_dir()
    file.write_text("rots = []\n")
    with pytest.raises(SettingsError, match="line 1"):
        add_root(places, "code", current=home, home=home)
    assert file.read_text() == "rots = []\n"


def test_a_linked_file_is_written_through_its_link_and_keeps_its_mode(
    places: Places, home: Path, code: Path, file: Path, tmp_path: Path
) -> None:
    assert code.is_dir()
    real = tmp_path / "dotfiles.toml"
    real.write_text("# mine\n")
    real.chmod(0o644)
    file.symlink_to(real)
    add_root(places, "code", current=home, home=home)
    assert file.is_symlink()
    assert real.read_text() == '# mine\nroots = ["~/code"]\n'
    assert stat.S_IMODE(real.stat().st_mode) == 0o644


def test_the_file_in_the_home_folder_is_edited_where_it_lies(
    places: Places, home: Path, code: Path
) -> None:
    assert code.is_dir()
    other = home / ".agents/projects.toml"
    other.parent.mkdir(mode=0o755)
    other.write_text("")
    edit = add_root(places, "code", current=home, home=home)
    assert edit.file == other
    assert other.read_text() == 'roots = ["~/code"]\n'
    assert not places.config.exists()
    assert stat.S_IMODE(other.parent.stat().st_mode) == 0o755


def test_windows_line_ends_stay(places: Places, home: Path, code: Path, file: Path) -> None:
    assert code.is_dir()
    file.write_bytes(b'roots = ["a"]\r\n# x\r\n')
    add_root(places, "code", current=home, home=home)
    assert file.read_bytes() == b'roots = ["a", "~/code"]\r\n# x\r\n'


def test_a_second_writer_waits_for_the_first(
    places: Places, home: Path, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert code.is_dir()
    places.state.mkdir(parents=True, mode=0o700)
    monkeypatch.setattr("agentic_os.settings.editing.LOCK_WAIT_SECONDS", 0.01)
    with (
        ExclusiveLock(places.state / "projects.toml.lock"),
        pytest.raises(FilesError, match="held by process"),
    ):
        add_root(places, "code", current=home, home=home)
    assert add_root(places, "code", current=home, home=home).changed


def test_what_only_one_toml_library_understands_is_not_edited(
    places: Places, home: Path, code: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tomlkit
    from tomlkit.exceptions import ParseError

    def parse(_: str) -> None:
        raise ParseError(1, 2, "odd")

    assert code.is_dir()
    file.write_text("")
    monkeypatch.setattr(tomlkit, "parse", parse)
    with pytest.raises(SettingsError, match="can be read but not edited: odd") as caught:
        add_root(places, "code", current=home, home=home)
    assert caught.value.hint == "edit it by hand"
