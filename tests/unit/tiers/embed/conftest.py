"""Models to test with: a tiny folder, and the tiny model prepared once a session."""

from pathlib import Path

import pytest

from agentic_os.tiers.embed.onnx import OnnxEmbedder, open_onnx
from agentic_os.tiers.embed.prepare.request import Prepared, prepare
from agentic_os.tiers.embed.prepare.sources import FolderSource
from support.model.tiny import write_tiny_model


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A sentence-transformers folder that can be built into a graph."""
    return write_tiny_model(tmp_path / "tiny")


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """The tiny model on a shelf; not to be changed."""
    folder = tmp_path_factory.mktemp("shared")
    source = FolderSource(folder=write_tiny_model(folder / "tiny"), name="tiny")
    return prepare(folder / "data", folder / "cache", source)


@pytest.fixture(scope="session")
def embedder(shared: Prepared) -> OnnxEmbedder:
    """The tiny model, loaded."""
    return open_onnx(shared.path, shared.manifest)
