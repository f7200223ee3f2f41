"""projects.toml as a person writes it: every mistake is named with its line."""

import os
from pathlib import Path

import pytest

from support.fleet.builder import FleetBuilder
from support.process.cli_call import call


@pytest.fixture
def file(places: Path) -> Path:
    """Where the settings of the person are."""
    (places / "config").mkdir()
    return places / "config/projects.toml"


MISTAKES = {
    "misspelt key": ('roots = []\nexlude = ["x"]\n', "SETTINGS_KEY_UNKNOWN", 2),
    "misspelt table": ("[limit]\ndepth = 3\n", "SETTINGS_KEY_UNKNOWN", 1),
    "misspelt key in a table": ("[limits]\n\ndepht = 3\n", "SETTINGS_KEY_UNKNOWN", 3),
    "scalar for a list": ('# roots\nroots = "~/code"\n', "SETTINGS_TYPE_WRONG", 2),
    "number in a list": ("roots = [1]\n", "SETTINGS_TYPE_WRONG", 1),
    "text for a number": ('[limits]\ndepth = "3"\n', "SETTINGS_TYPE_WRONG", 2),
    "number out of bounds": ("[limits]\ndepth = 0\n", "SETTINGS_VALUE_INVALID", 2),
    "no such user": ('roots = ["~nosuchuser/code"]\n', "SETTINGS_PATH_INVALID", 1),
    "NUL in a path": ('roots = ["a\\u0000b"]\n', "SETTINGS_PATH_INVALID", 1),
    "not TOML": ("roots = [\n\n= 3\n", "SETTINGS_SYNTAX", 3),
    "merge markers": ("<<<<<<< HEAD\nroots = []\n", "SETTINGS_SYNTAX", 1),
    "project without a path": ('[[project]]\nid = "x"\n', "SETTINGS_VALUE_INVALID", 0),
    "malformed id": ('[[project]]\npath = "x"\nid = "A b"\n', "SETTINGS_VALUE_INVALID", 3),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_line(file: Path, mistake: str) -> None:
    text, code, line = MISTAKES[mistake]
    file.write_text(text)

    for words in (["scan"], ["search", "x"], ["roots", "list"]):
        finished = call(*words, "--json")
        assert finished.code == 1
        assert finished.document["error"]["code"] == code
        message = finished.document["error"]["message"]
        assert message.startswith("projects.toml")
        assert not line or f"line {line}" in message, message
        assert str(file.parent) not in finished.words
        assert finished.words.count("\n") <= 2


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"roots = ['\xff']\n", "SETTINGS_UNREADABLE"),
        (b"# " + b"x" * 2_000_000, "SETTINGS_UNREADABLE"),
        (b"roots = " + b"[" * 200_000, "SETTINGS_SYNTAX"),
    ],
    ids=["not-utf8", "too-large", "too-deep"],
)
def test_a_file_that_is_no_settings(file: Path, data: bytes, code: str) -> None:
    file.write_bytes(data)

    finished = call("scan", "--json")

    assert finished.code == 1
    assert finished.document["error"]["code"] == code


def test_a_pipe_in_the_place_of_the_file(file: Path) -> None:
    os.mkfifo(file)

    finished = call("scan", "--json")

    assert (finished.code, finished.document["error"]["code"]) == (1, "SETTINGS_UNREADABLE")


def test_a_missing_root_of_the_file_is_named(file: Path) -> None:
    file.write_text('roots = ["gone/away"]\n')

    finished = call("scan", "--json")

    assert finished.code == 1
    assert finished.document["error"]["code"] == "ROOT_MISSING"
    assert "gone/away" in finished.document["error"]["message"]
    assert "projects.toml" in finished.document["error"]["hint"]


def test_everything_the_file_can_say(file: Path, fleet: FleetBuilder, tmp_path: Path) -> None:
    shop = fleet.project("shop")
    shop.fact("f", "lighthouse")
    fleet.project("skipped", path="attic/skipped")
    fleet.project("deep", path="a/b/c/d/deep")
    outside = FleetBuilder(root=tmp_path / "elsewhere").project("outside")
    outside.fact("f", "lighthouse")
    file.write_text(
        f'roots = ["{fleet.root}"]\nexclude = ["attic"]\n[limits]\ndepth = 3\n'
        f'[[project]]\npath = "{shop.folder}"\nid = "the-shop"\naliases = ["store"]\n'
        f'[[project]]\npath = "{outside.folder}"\n'
    )

    found = call("scan", "--json").data

    by_name = {item["name"]: item for item in found["projects"]}
    assert set(by_name) == {"shop", "outside"}
    assert by_name["shop"]["id"] == "the-shop"
    assert [item["code"] for item in found["roots"][0]["diagnostics"]] == ["DEPTH_LIMIT"]
    assert call("search", "lighthouse", "--project", "store", "--json").data["total"] == 1
    assert call("search", "lighthouse", "--json").data["total"] == 2
    assert call("search", "lighthouse", "--json", "--root", fleet.root).data["total"] == 1


def test_roots_are_added_and_removed(file: Path, fleet: FleetBuilder, tmp_path: Path) -> None:
    fleet.project("shop")
    file.write_text("# mine\nexclude = [  'attic' ]  # old things\n")

    added = call("roots", "add", "fleet", "--json", current=tmp_path)
    again = call("roots", "add", fleet.root, "--json")
    listed = call("roots", "list")
    scanned = call("scan", "--json", current=tmp_path)
    removed = call("roots", "remove", "./fleet/", "--json", current=tmp_path)
    gone = call("roots", "remove", fleet.root)

    assert (added.data["changed"], again.data["changed"]) == (True, False)
    assert added.data["roots"] == [str(fleet.root)]
    assert listed.text == f"{fleet.root}\n"
    assert str(file) in listed.words
    assert len(scanned.data["projects"]) == 1
    assert removed.data["changed"]
    assert gone.code == 0
    assert "Nothing to change" in gone.words
    assert "# mine\nexclude = [  'attic' ]  # old things\n" in file.read_text()


def test_no_settings_at_all(places: Path, tmp_path: Path) -> None:
    listed = call("roots", "list", current=tmp_path)
    document = call("roots", "list", "--json", current=tmp_path)

    assert (listed.code, listed.text) == (0, "")
    assert "the current folder is the root" in listed.words
    assert document.data["file"] is None
    assert document.data["roots"] == []
    assert not (places / "config").exists()


def test_places_are_shown_and_can_be_moved(places: Path, tmp_path: Path) -> None:
    shown = {item["name"]: item for item in call("paths", "--json").data["places"]}
    moved = call("paths", environ={"AGENTIC_OS_CACHE_DIR": str(tmp_path / "other")})

    assert shown["config"] == {
        "name": "config",
        "path": str(places / "config"),
        "variable": "AGENTIC_OS_CONFIG_DIR",
        "exists": False,
    }
    assert set(shown) == {"config", "data", "cache", "state", "aios"}
    assert f"cache\t{tmp_path / 'other'}\tAGENTIC_OS_CACHE_DIR\tno\n" in moved.text
    assert not (places / "config").exists()


def test_the_legacy_place_of_the_file(places: Path, fleet: FleetBuilder) -> None:
    fleet.project("shop")
    (places / ".agents").mkdir()
    (places / ".agents/projects.toml").write_text(f'roots = ["{fleet.root}"]\n')

    assert len(call("scan", "--json").data["projects"]) == 1
