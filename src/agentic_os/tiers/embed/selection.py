"""Opens the embedder that a person chose.

A choice is, in this order: the name of a prepared model (the one prepared last, if there are
several), the name of its folder, the path of a sentence-transformers folder, or the name of a
model in the hub's cache. No choice means the default model.
"""

import difflib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.shelf import Shelf, verify

if TYPE_CHECKING:
    from agentic_os.tiers.embed.interface import Embedder
    from agentic_os.tiers.embed.manifest import Manifest

DEFAULT_MODEL = "all-MiniLM-L6-v2"

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")


def find_model(data: Path, choice: str | None = None) -> "tuple[Path, Manifest] | None":
    """Find the prepared model that a choice means, and its manifest; ``None`` if there is none."""
    wanted = choice or DEFAULT_MODEL
    sound = Shelf(data).sound()
    by_folder = next((pair for pair in sound if pair[0].name == wanted), None)
    return by_folder or next((pair for pair in sound if pair[1].name == wanted), None)


def open_embedder(data: Path, choice: str | None = None, *, threads: int = 0) -> "Embedder":
    """Open the embedder that a choice means.

    Args:
        data: the data directory, where the prepared models stand.
        choice: what the person chose; ``None`` for the default model.
        threads: processor threads for one batch; 0 leaves it to the runtime.

    Raises:
        SemanticIndexError: MODEL_MISSING (nothing was prepared; search stays lexical),
            MODEL_DAMAGED, MODEL_UNSUPPORTED or EXTRA_MISSING.
    """
    found = find_model(data, choice)
    if found is not None:
        return _open(*found, threads=threads)
    if choice is not None and "/" in choice:
        from agentic_os.tiers.embed.sentence_transformers import hub_folder, open_reference

        path = Path(choice).expanduser()
        if path.is_dir():
            return open_reference(path, path.name)
        if _HUB_NAME.fullmatch(choice):
            return open_reference(hub_folder(choice), choice)
    raise _missing(data, choice)


def _open(path: Path, manifest: "Manifest", *, threads: int) -> "Embedder":
    match manifest.backend:
        case "onnx":
            from agentic_os.tiers.embed.onnx import open_onnx

            return open_onnx(path, manifest, threads=threads)
        case "sentence-transformers":
            from agentic_os.tiers.embed.sentence_transformers import open_reference

            verify(path, manifest)
            return open_reference(path, manifest.name, recipe=manifest.recipe)


def _missing(data: Path, choice: str | None) -> SemanticIndexError:
    if choice is None or choice == DEFAULT_MODEL:
        return SemanticIndexError(
            "no embedding model is prepared",
            code="MODEL_MISSING",
            hint="Prepare it once: agentic-os model prepare",
        )
    names = sorted({manifest.name for _, manifest in Shelf(data).sound()})
    near = difflib.get_close_matches(choice, names, n=1)
    return SemanticIndexError(
        f"no embedding model is called {choice!r}",
        code="MODEL_MISSING",
        hint=f"Did you mean {near[0]!r}?" if near else "See: agentic-os model list",
    )
