from pathlib import Path

import pytest

from agentic_os.files.places import Places


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def places(tmp_path: Path) -> Places:
    own = tmp_path / "own"
    return Places(
        config=own / "config",
        data=own / "data",
        cache=own / "cache",
        state=own / "state",
        aios=tmp_path / "aios",
    )


@pytest.fixture
def file(places: Places) -> Path:
    """Where projects.toml is expected; its folder exists, the file does not."""
    places.config.mkdir(parents=True, mode=0o700)
    return places.config / "projects.toml"
