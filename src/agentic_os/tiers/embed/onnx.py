"""The default embedder: a prepared ONNX model on onnxruntime, tokenised by tokenizers.

No torch. The bytes of model and tokenizer are hashed as they are read and must be what the
manifest says; what runs is what was hashed.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.batching import plan_batches
from agentic_os.tiers.embed.manifest import Manifest, ModelFile
from agentic_os.tiers.embed.noise import noise_aside
from agentic_os.tiers.embed.shelf import damaged

if TYPE_CHECKING:
    from agentic_os.tiers.embed.interface import Pooling, Vectors

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"

_SEVERITY_ERROR = 3
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_TOKEN_AXES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A loaded graph and tokenizer: texts to token vectors, pooled; no prompts."""

    graph: Any
    tokenizer: Any
    inputs: tuple[str, ...]
    output: str
    pooling: "Pooling"
    normalize: bool

    def encode(self, texts: Sequence[str]) -> "Vectors":
        """Encode texts as rows, in order.

        Raises:
            SemanticIndexError: MODEL_FAILED.
        """
        import numpy as np

        encodings = self.tokenizer.encode_batch_fast([_encodable(text) for text in texts])
        ids = [encoding.ids for encoding in encodings]
        lengths = [len(tokens) for tokens in ids]
        rows: list[Vectors] = [np.empty(0, np.float32)] * len(ids)
        for batch in plan_batches(lengths):
            pooled = self._run([ids[position] for position in batch], lengths[batch[-1]])
            for position, row in zip(batch, pooled, strict=True):
                rows[position] = row
        return np.stack(rows)

    def _run(self, batch: list[list[int]], width: int) -> "Vectors":
        import numpy as np

        tokens = np.zeros((len(batch), width), np.int64)
        mask = np.zeros((len(batch), width), np.int64)
        for row, ids in enumerate(batch):
            tokens[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        given = {
            "input_ids": tokens,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(tokens),
        }
        try:
            hidden = self.graph.run([self.output], {name: given[name] for name in self.inputs})[0]
        except Exception as fault:  # onnxruntime raises classes of its own, without a base
            raise SemanticIndexError("the model could not be run", code="MODEL_FAILED") from fault
        vectors = pool(hidden, mask.astype(np.float32), self.pooling)
        return unit(vectors) if self.normalize else vectors


class OnnxEmbedder:
    """A prepared model, loaded; the session may be used from several threads."""

    __slots__ = ("_manifest", "_session")

    def __init__(self, manifest: Manifest, session: Session) -> None:
        """Take a loaded session and what describes it."""
        self._manifest = manifest
        self._session = session

    @property
    def name(self) -> str:
        """The model's name."""
        return self._manifest.name

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        return self._manifest.dimension

    @property
    def max_tokens(self) -> int:
        """The window in tokens, special tokens included."""
        return self._manifest.recipe.max_tokens

    @property
    def fingerprint(self) -> str:
        """The recipe's fingerprint."""
        return self._manifest.fingerprint

    def encode_documents(self, texts: Sequence[str]) -> "Vectors":
        """Encode passages; one row a text, in the order given.

        Raises:
            SemanticIndexError: MODEL_FAILED.
        """
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), np.float32)
        prompt = self._manifest.recipe.document_prompt
        return self._session.encode([prompt + text for text in texts])

    def encode_query(self, text: str) -> "Vectors":
        """Encode one question.

        Raises:
            SemanticIndexError: MODEL_FAILED.
        """
        prompt = self._manifest.recipe.query_prompt
        vector: Vectors = self._session.encode([prompt + text])[0]
        return vector


def open_onnx(path: Path, manifest: Manifest, *, threads: int = 0) -> OnnxEmbedder:
    """Load a prepared ONNX model.

    Args:
        path: the model's folder.
        manifest: its manifest.
        threads: processor threads for one batch; 0 leaves it to onnxruntime.

    Raises:
        SemanticIndexError: MODEL_DAMAGED, or EXTRA_MISSING without the extra ``rag``.
    """
    known = {file.path: file for file in manifest.files}
    if MODEL_FILE not in known or TOKENIZER_FILE not in known:
        raise damaged(path.name, "it lists no graph or no tokenizer")
    recipe = manifest.recipe
    session = load_session(
        _read(path, known[MODEL_FILE]),
        _read(path, known[TOKENIZER_FILE]),
        pooling=recipe.pooling,
        normalize=recipe.normalize,
        max_tokens=recipe.max_tokens,
        threads=threads,
    )
    return OnnxEmbedder(manifest, session)


def load_session(
    model: bytes,
    tokenizer: bytes,
    *,
    pooling: "Pooling",
    normalize: bool,
    max_tokens: int,
    threads: int = 0,
) -> Session:
    """Make a session of the bytes of a graph and of a ``tokenizer.json``.

    Raises:
        SemanticIndexError: MODEL_DAMAGED, MODEL_UNSUPPORTED, or EXTRA_MISSING.
    """
    try:
        with noise_aside():
            import onnxruntime
            from tokenizers import Tokenizer
    except ImportError as fault:
        raise SemanticIndexError(
            "embedding needs onnxruntime and tokenizers",
            code="EXTRA_MISSING",
            hint="Install the extra `rag`: `agentic-os extras` says how.",
        ) from fault
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _SEVERITY_ERROR
    options.intra_op_num_threads = threads
    try:
        with noise_aside():
            graph = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            words = Tokenizer.from_buffer(tokenizer)
    except Exception as fault:  # both libraries raise classes without a common base
        raise SemanticIndexError(
            "the model's graph or tokenizer cannot be loaded",
            code="MODEL_DAMAGED",
            hint="Prepare the model again: agentic-os model prepare",
        ) from fault
    words.no_padding()
    words.enable_truncation(max_tokens)
    inputs = tuple(item.name for item in graph.get_inputs())
    outputs = {item.name: item.shape for item in graph.get_outputs()}
    output = next((name for name in _TOKEN_OUTPUTS if name in outputs), None)
    if not set(inputs) <= _INPUTS or output is None or len(outputs[output]) != _TOKEN_AXES:
        raise SemanticIndexError(
            "the graph does not give a vector a token", code="MODEL_UNSUPPORTED"
        )
    return Session(
        graph=graph,
        tokenizer=words,
        inputs=inputs,
        output=output,
        pooling=pooling,
        normalize=normalize,
    )


def pool(hidden: "Vectors", mask: "Vectors", pooling: "Pooling") -> "Vectors":
    """Make one vector a text of token vectors; ``mask`` is 1 where a token stands, else 0.

    Raises:
        SemanticIndexError: MODEL_UNSUPPORTED, for a pooling that only a library knows.
    """
    import numpy as np

    match pooling:
        case "mean":
            # A product of matrices: several times as fast as multiplying and summing.
            summed = np.matmul(mask[:, None, :], hidden)[:, 0, :]
            pooled = summed / mask.sum(axis=1, keepdims=True)
        case "cls":
            pooled = hidden[:, 0, :]
        case "max":
            pooled = np.where(mask[:, :, None] > 0, hidden, -np.inf).max(axis=1)
        case "module":
            raise SemanticIndexError(
                "this model's pooling needs sentence-transformers", code="MODEL_UNSUPPORTED"
            )
        case never:
            assert_never(never)
    return np.asarray(pooled, np.float32)


def unit(vectors: "Vectors") -> "Vectors":
    """Scale rows to length one; a row of zeros stays what it is."""
    import numpy as np

    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, np.float32(1e-12)), np.float32)


def _encodable(text: str) -> str:
    """Replace lone surrogates, which the tokenizer cannot take."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _read(folder: Path, file: ModelFile) -> bytes:
    """Read a model's file; its bytes must be the ones that the manifest describes."""
    try:
        data = (folder / file.path).read_bytes()
    except OSError as fault:
        raise damaged(folder.name, f"{file.path} cannot be read") from fault
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise damaged(folder.name, f"{file.path} has other bytes")
    return data
