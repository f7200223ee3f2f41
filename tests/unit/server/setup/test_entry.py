from pathlib import Path

import pytest

from agentic_os.files.places import places_from
from agentic_os.server.setup.entry import Asked, needed_environ, server_entry
from agentic_os.settings.editing import add_root


@pytest.fixture
def plain(places: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment that moves nothing."""
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.delenv(f"AGENTIC_OS_{name}_DIR", raising=False)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return {"HOME": str(places)}


def test_a_plain_environment_needs_nothing(plain: dict[str, str]) -> None:
    assert needed_environ(plain) == {}


def test_whatever_moves_a_place_is_written_as_our_own_variable(
    plain: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    moved = {
        **plain,
        "AGENTIC_OS_CACHE_DIR": "~/cache",
        "DOTAIOS_PATH": "/my aios",
        "XDG_DATA_HOME": str(tmp_path),
        "UNRELATED": "x",
    }

    assert needed_environ(moved) == {
        "AGENTIC_OS_CACHE_DIR": f"{plain['HOME']}/cache",
        "AGENTIC_OS_DATA_DIR": str(tmp_path / "agentic-os"),
        "DOTAIOS_PATH": "/my aios",
    }


def test_roots_are_written_where_none_are_configured(
    plain: dict[str, str], places: Path, tmp_path: Path
) -> None:
    code = tmp_path / "code"
    code.mkdir()
    environ = {**plain, "AGENTIC_OS_CONFIG_DIR": str(tmp_path / "config")}

    def command(*roots: str) -> tuple[str, ...]:
        asked = Asked(program="p", environ=environ, home=places, current=code, roots=roots)
        return server_entry(asked).command

    assert command() == ("p", "serve", "--root", str(code))
    assert command("deep", "/other") == (
        "p",
        "serve",
        "--root",
        str(code / "deep"),
        "--root",
        "/other",
    )
    add_root(places_from(environ), str(code), current=code, home=places)
    assert command() == ("p", "serve")
