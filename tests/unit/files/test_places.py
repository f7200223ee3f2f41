"""Places: the variable wins, then platformdirs; nothing relative, nothing created."""

from pathlib import Path

import pytest
from platformdirs import PlatformDirs

from agentic_os.errors import FilesError
from agentic_os.files.places import (
    AIOS_VARIABLE,
    APPLICATION,
    CACHE_VARIABLE,
    CONFIG_VARIABLE,
    DATA_VARIABLE,
    STATE_VARIABLE,
    places_from,
)

FIELDS = {
    "config": CONFIG_VARIABLE,
    "data": DATA_VARIABLE,
    "cache": CACHE_VARIABLE,
    "state": STATE_VARIABLE,
    "aios": AIOS_VARIABLE,
}


def test_the_variables_have_the_published_names() -> None:
    assert sorted(FIELDS.values()) == [
        "AGENTIC_OS_CACHE_DIR",
        "AGENTIC_OS_CONFIG_DIR",
        "AGENTIC_OS_DATA_DIR",
        "AGENTIC_OS_STATE_DIR",
        "DOTAIOS_PATH",
    ]


def test_without_variables_platformdirs_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    usual = PlatformDirs(APPLICATION, appauthor=False)
    places = places_from({"HOME": str(tmp_path)})
    assert places.config == usual.user_config_path
    assert places.data == usual.user_data_path
    assert places.cache == usual.user_cache_path
    assert places.state == usual.user_state_path
    assert places.aios == tmp_path / "aios"
    assert len({places.config, places.data, places.cache, places.state}) == 4


@pytest.mark.parametrize("field", FIELDS)
def test_each_variable_moves_its_own_place_only(tmp_path: Path, field: str) -> None:
    usual = places_from({"HOME": str(tmp_path)})
    moved = places_from({"HOME": str(tmp_path), FIELDS[field]: str(tmp_path / "else where")})
    for name in FIELDS:
        expected = tmp_path / "else where" if name == field else getattr(usual, name)
        assert getattr(moved, name) == expected
    assert not (tmp_path / "else where").exists()


@pytest.mark.parametrize("variable", FIELDS.values())
def test_a_relative_place_is_refused_by_name(variable: str) -> None:
    with pytest.raises(FilesError, match=variable) as caught:
        places_from({"HOME": "/h", variable: "relative/place"})
    assert caught.value.code == "PLACE_INVALID"


def test_an_empty_variable_counts_as_unset() -> None:
    assert places_from({"HOME": "/h", AIOS_VARIABLE: ""}).aios == Path("/h/aios")


@pytest.mark.parametrize(("value", "path"), [("~", "/h"), ("~/x/y", "/h/x/y")])
def test_a_leading_tilde_is_the_home_folder(value: str, path: str) -> None:
    assert places_from({"HOME": "/h", AIOS_VARIABLE: value}).aios == Path(path)


def test_another_users_home_is_not_guessed() -> None:
    with pytest.raises(FilesError):
        places_from({"HOME": "/h", AIOS_VARIABLE: "~nosuchuser/aios"})


def test_an_unset_or_relative_home_falls_back_to_the_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/system"))
    assert places_from({}).aios == Path("/system/aios")
    assert places_from({"HOME": "relative"}).aios == Path("/system/aios")


def test_an_unknown_home_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", unknown)
    with pytest.raises(FilesError) as caught:
        places_from({})
    assert caught.value.code == "PLACE_INVALID"
