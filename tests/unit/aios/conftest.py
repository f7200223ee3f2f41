from pathlib import Path

import pytest

from support.aios.builder import AiosBuilder


@pytest.fixture
def aios(tmp_path: Path) -> AiosBuilder:
    """An empty AIOS folder to write into."""
    return AiosBuilder(tmp_path / "folder")


@pytest.fixture
def full(tmp_path: Path) -> AiosBuilder:
    """An AIOS folder with every record type of the convention."""
    return AiosBuilder(tmp_path / "folder").complete()
