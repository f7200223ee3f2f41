"""The tiny model on the shelf of a data directory, prepared once a process."""

import atexit
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from agentic_os.tiers.embed.prepare.request import prepare
from agentic_os.tiers.embed.prepare.sources import FolderSource
from agentic_os.tiers.embed.selection import DEFAULT_MODEL
from support.model.tiny import write_tiny_model


@lru_cache(maxsize=4)
def _prepared(seed: int) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="agentic-os-tiny-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source = FolderSource(folder=write_tiny_model(folder / "tiny", seed=seed), name=DEFAULT_MODEL)
    return prepare(folder / "data", folder / "cache", source).path


def lend_tiny(data: Path, *, seed: int = 7) -> Path:
    """Copy the tiny model, under the default model's name, to a shelf; return its folder."""
    model = _prepared(seed)
    lent = data / "models" / model.name
    shutil.copytree(model, lent)
    return lent
