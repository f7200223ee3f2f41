"""The reference backend: sentence-transformers, for any model it can open.

Imported only where it is chosen (it brings torch, some seconds and some hundred megabytes).
Nothing is fetched unless the person's environment asks for it: the hub is told to stay offline
before its library is imported. Code that a model brings is never run, and weights come from
safetensors files alone.
"""

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.interface import Recipe
from agentic_os.tiers.embed.manifest import MAX_FILES_ENTRIES, ModelFile, is_file_path
from agentic_os.tiers.embed.noise import noise_aside, stay_offline
from agentic_os.tiers.embed.shelf import describe
from agentic_os.tiers.embed.weights.layout import read_layout

if TYPE_CHECKING:
    from agentic_os.tiers.embed.interface import Vectors

BATCH_TEXTS = 32

_WEIGHTS = ".safetensors"
_KEPT = frozenset({_WEIGHTS, ".json", ".txt", ".model"})
_LEFT_OUT = frozenset({"onnx", "openvino"})


class ReferenceEmbedder:
    """A model that sentence-transformers runs; calls are made one after another."""

    __slots__ = ("_lock", "_model", "_name", "_recipe")

    def __init__(self, name: str, model: Any, recipe: Recipe) -> None:
        """Take a loaded ``SentenceTransformer`` and what describes it."""
        self._name = name
        self._model = model
        self._recipe = recipe
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        return int(self._model.get_sentence_embedding_dimension())

    @property
    def max_tokens(self) -> int:
        """The window in tokens, special tokens included."""
        return self._recipe.max_tokens

    @property
    def fingerprint(self) -> str:
        """The recipe's fingerprint."""
        return self._recipe.fingerprint

    @property
    def recipe(self) -> Recipe:
        """What shapes a vector."""
        return self._recipe

    def encode_documents(self, texts: Sequence[str]) -> "Vectors":
        """Encode passages; one row a text, in the order given.

        Raises:
            SemanticIndexError: MODEL_FAILED.
        """
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return self._encode(texts, self._recipe.document_prompt)

    def encode_query(self, text: str) -> "Vectors":
        """Encode one question.

        Raises:
            SemanticIndexError: MODEL_FAILED.
        """
        vector: Vectors = self._encode([text], self._recipe.query_prompt)[0]
        return vector

    def _encode(self, texts: Sequence[str], prompt: str) -> "Vectors":
        import numpy as np

        try:
            with self._lock, noise_aside():
                vectors = self._model.encode(
                    [text.encode("utf-8", "replace").decode("utf-8") for text in texts],
                    prompt=prompt,
                    batch_size=BATCH_TEXTS,
                    show_progress_bar=False,
                    convert_to_numpy=True,
                    normalize_embeddings=True,
                )
        except Exception as fault:  # torch and the library raise what they please
            raise SemanticIndexError("the model could not be run", code="MODEL_FAILED") from fault
        return np.asarray(vectors, np.float32)


def open_reference(folder: Path, name: str, *, recipe: Recipe | None = None) -> ReferenceEmbedder:
    """Open a sentence-transformers folder.

    Args:
        folder: the folder.
        name: what to call the model.
        recipe: what the manifest of a prepared model says; worked out if ``None``.

    Raises:
        SemanticIndexError: MODEL_UNSUPPORTED, MODEL_DAMAGED, or EXTRA_MISSING without the extra
            ``models``.
    """
    if recipe is None:
        recipe = recipe_of(folder, model_files(folder))
    stay_offline()
    try:
        with noise_aside():
            from sentence_transformers import SentenceTransformer
    except ImportError as fault:
        raise SemanticIndexError(
            "this model needs sentence-transformers",
            code="EXTRA_MISSING",
            hint="Install the extra `models`: `agentic-os extras` says how.",
        ) from fault
    try:
        with noise_aside():
            model = SentenceTransformer(
                str(folder),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
    except Exception as fault:  # torch and the library raise what they please
        raise SemanticIndexError(
            f"sentence-transformers cannot open {name}", code="MODEL_UNSUPPORTED"
        ) from fault
    return ReferenceEmbedder(name, model, recipe)


def model_files(folder: Path) -> tuple[ModelFile, ...]:
    """Hash the files of a folder that make up its model: weights, configuration, vocabulary.

    Other files (pickles, which may start code; graphs of other runtimes; pictures) are left out.

    Raises:
        SemanticIndexError: MODEL_UNSUPPORTED (no safetensors, or too many files) or
            MODEL_DAMAGED.
    """
    found = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.suffix in _KEPT and path.is_file()
    ]
    kept = [path for path in found if is_file_path(path) and path.split("/")[0] not in _LEFT_OUT]
    if len(kept) > MAX_FILES_ENTRIES:
        raise SemanticIndexError("the folder holds too many files", code="MODEL_UNSUPPORTED")
    if not any(path.endswith(_WEIGHTS) for path in kept):
        raise SemanticIndexError(
            "the folder holds no weights as safetensors",
            code="MODEL_UNSUPPORTED",
            hint="Weights in pickles may start code and are not opened; save the model anew.",
        )
    return tuple(describe(folder, path) for path in kept)


def recipe_of(folder: Path, files: Sequence[ModelFile]) -> Recipe:
    """Return the recipe of a folder that sentence-transformers opens.

    Raises:
        SemanticIndexError: MODEL_UNSUPPORTED, when it is no such folder.
    """
    layout = read_layout(folder)
    return Recipe(
        weights_sha256=_digest([file for file in files if file.path.endswith(_WEIGHTS)]),
        tokenizer_sha256=_digest([file for file in files if not file.path.endswith(_WEIGHTS)]),
        pooling="module",
        normalize=True,
        max_tokens=layout.max_tokens,
        document_prompt=layout.document_prompt,
        query_prompt=layout.query_prompt,
    )


def hub_folder(name: str) -> Path:
    """Find the folder of a hub model in the hub's cache.

    Fetched only where the person's environment says ``HF_HUB_OFFLINE=0``.

    Raises:
        SemanticIndexError: MODEL_MISSING, or EXTRA_MISSING without the extra ``models``.
    """
    stay_offline()
    try:
        with noise_aside():
            from huggingface_hub import constants, snapshot_download
    except ImportError as fault:
        raise SemanticIndexError(
            "a hub name needs sentence-transformers",
            code="EXTRA_MISSING",
            hint="Install the extra `models`: `agentic-os extras` says how.",
        ) from fault
    try:
        with noise_aside():
            folder = snapshot_download(
                name,
                local_files_only=bool(constants.HF_HUB_OFFLINE),
                allow_patterns=[f"*{suffix}" for suffix in sorted(_KEPT)],
                ignore_patterns=[f"{part}/*" for part in sorted(_LEFT_OUT)],
            )
    except Exception as fault:  # its errors have no base of their own
        raise SemanticIndexError(
            f"the model {name!r} is not in the hub's cache",
            code="MODEL_MISSING",
            hint="HF_HUB_OFFLINE=0 lets it be fetched; or name a folder.",
        ) from fault
    return Path(folder)


def _digest(files: Sequence[ModelFile]) -> str:
    """One hash over several files: of the lines ``<sha256>  <path>``, by path."""
    lines = sorted(f"{file.path}\n{file.sha256}\n" for file in files)
    return hashlib.sha256("".join(lines).encode("ascii")).hexdigest()
