"""Makes a model that is ready to run out of a sentence-transformers folder.

Three ways, the first that fits:

1. a BERT encoder with mean, cls or max pooling: its graph is built from the weights;
2. another encoder with such pooling whose folder holds ``onnx/model.onnx``: that graph is taken;
3. anything else: its files are kept as they are, for sentence-transformers.

Graphs are quantised to eight-bit integers: dynamic, per channel, weights in seven bits. Per
channel keeps the vectors near the exact ones (measured on code: mean cosine 0.992, where one
scale a matrix gives 0.939); seven bits, because processors without VNNI add pairs of products in
sixteen bits and saturate on eight. Activations are scaled by batch, so one text's vector differs
a little with what stands beside it (cosine 0.97 and more measured on short texts): never
compare two vectors for equality.
A quantised model is published only after it was run: the exact graph must give a text the same
vector alone and padded, and the quantised one must stay close to it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.manifest import Backend
from agentic_os.tiers.embed.noise import noise_aside
from agentic_os.tiers.embed.onnx import MODEL_FILE, TOKENIZER_FILE, load_session
from agentic_os.tiers.embed.weights import bert_graph
from agentic_os.tiers.embed.weights.layout import FolderLayout, joined, read_layout
from agentic_os.tiers.embed.weights.safetensors import read_weights

if TYPE_CHECKING:
    from agentic_os.tiers.embed.interface import Vectors
    from agentic_os.tiers.embed.onnx import Session

Progress = Callable[[str, int, int], None]
"""Told the stage, how much of it is done and how much there is; 0 of 0 where unknown."""


def unwatched(_stage: str, _done: int, _total: int) -> None:
    """Ignore progress."""


QUANTISATION = "int8-channel-7bit-1"
"""Version of the rule above; part of a model's origin."""

OWN_GRAPH = "own-graph"
AS_IT_IS = "as-it-is"

MAX_WEIGHTS_BYTES = 4 * 1024 * 1024 * 1024
MAX_TOKENIZER_BYTES = 256 * 1024 * 1024
LEAST_COSINE = 0.9
LEAST_SELF_COSINE = 0.9999

WEIGHTS_FILE = "model.safetensors"
FOLDER_GRAPH = "onnx/model.onnx"

_PROBES = (
    "cat",
    "Where is the time-out of the payment client set?",
    "def retry(call, attempts=3):\n    for attempt in range(attempts):\n        call()",
    "The ledger is append-only; a witness keeps the hash of its head, so that a rollback shows.",
    "x = {'a': [1, 2, 3], 'b': None}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What was put into the staged folder."""

    backend: Backend
    dimension: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderModel:
    """A folder that can be made into a model, and how."""

    folder: Path
    layout: FolderLayout
    weights: Path
    tokenizer: Path
    rule: str

    @property
    def quantisable(self) -> bool:
        """Return whether it becomes a graph; else it stays with sentence-transformers."""
        return self.rule != AS_IT_IS


def look_at(folder: Path) -> FolderModel:
    """Decide how a sentence-transformers folder is made into a model.

    Raises:
        SemanticIndexError: MODEL_UNSUPPORTED, when it is no such folder, or holds its weights
            only as pickles, which may start code.
    """
    layout = read_layout(folder)
    weights = folder / joined(layout.root, WEIGHTS_FILE)
    graph = folder / FOLDER_GRAPH
    tokenizer = folder / joined(layout.root, TOKENIZER_FILE)
    rule = AS_IT_IS
    if layout.pooling is not None and tokenizer.is_file():
        if layout.bert is not None and weights.is_file():
            rule = f"{bert_graph.RULE}:{QUANTISATION}"
        elif graph.is_file():
            rule = f"{OWN_GRAPH}:{QUANTISATION}"
            weights = graph
    return FolderModel(
        folder=folder, layout=layout, weights=weights, tokenizer=tokenizer, rule=rule
    )


def make_graph(model: FolderModel, staged: Path, progress: Progress) -> Made:
    """Write ``model.onnx`` and ``tokenizer.json`` into ``staged``.

    Raises:
        SemanticIndexError: MODEL_DAMAGED, MODEL_UNSUPPORTED, MODEL_QUALITY (the quantised
            graph does not say what the exact one says), or EXTRA_MISSING.
    """
    layout = model.layout
    pooling = layout.pooling
    if pooling is None:
        raise SemanticIndexError(
            "this model's pooling needs sentence-transformers", code="MODEL_UNSUPPORTED"
        )
    words = read_bounded(model.tokenizer, MAX_TOKENIZER_BYTES)
    progress("building the graph", 0, 3)
    exact = _exact_graph(model)
    progress("quantising", 1, 3)
    small = _quantised(exact, staged / MODEL_FILE)
    progress("checking", 2, 3)
    (staged / TOKENIZER_FILE).write_bytes(words)

    def loaded(graph: bytes) -> "Session":
        return load_session(
            graph,
            words,
            pooling=pooling,
            normalize=layout.normalize,
            max_tokens=layout.max_tokens,
        )

    dimension = _require_agreement(loaded(exact.SerializeToString()), loaded(small))
    progress("checking", 3, 3)
    return Made(backend="onnx", dimension=dimension)


def probe(session: "Session") -> int:
    """Run a session on a few texts and return the width of its vectors.

    Raises:
        SemanticIndexError: MODEL_QUALITY, when vectors are not finite, or all the same.
    """
    return int(_probe(session).shape[1])


def read_bounded(path: Path, limit_bytes: int) -> bytes:
    """Read a file of the person's, which may be a link, up to a limit.

    Raises:
        SemanticIndexError: MODEL_DAMAGED.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(limit_bytes + 1)
    except OSError as fault:
        raise SemanticIndexError(
            f"{path.name} cannot be read: {fault.strerror}", code="MODEL_DAMAGED"
        ) from fault
    if len(data) > limit_bytes:
        raise SemanticIndexError(
            f"{path.name} is larger than {limit_bytes} bytes", code="MODEL_DAMAGED"
        )
    return data


def _exact_graph(model: FolderModel) -> Any:
    _require_onnx()
    data = read_bounded(model.weights, MAX_WEIGHTS_BYTES)
    if model.layout.bert is not None and not model.rule.startswith(OWN_GRAPH):
        return bert_graph.build_bert(read_weights(data), model.layout.bert)
    import onnx

    try:
        return onnx.load_model_from_string(data)
    except Exception as fault:  # protobuf's own, whose package has no types
        raise SemanticIndexError(
            f"{model.weights.name} is not an ONNX graph", code="MODEL_DAMAGED"
        ) from fault


def _require_onnx() -> None:
    try:
        import onnx  # noqa: F401 - only asked whether it is there
    except ImportError as fault:
        raise SemanticIndexError(
            "preparing a model from weights needs onnx",
            code="EXTRA_MISSING",
            hint="Install the extra `rag`: `agentic-os extras` says how.",
        ) from fault


def _quantised(exact: Any, path: Path) -> bytes:
    with noise_aside():
        from onnxruntime.quantization import QuantType, quantize_dynamic

        try:
            quantize_dynamic(
                exact, path, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8
            )
        except OSError:
            raise
        except Exception as fault:  # the quantiser raises whatever its parts raise
            raise SemanticIndexError(
                "the graph cannot be quantised", code="MODEL_UNSUPPORTED"
            ) from fault
    return path.read_bytes()


def _require_agreement(exact: "Session", small: "Session") -> int:
    """Compare the exact graph with itself and the quantised with the exact one."""
    import numpy as np

    together = _probe(exact)
    alone = np.concatenate([exact.encode([text]) for text in _PROBES])
    if _cosines(together, alone).min() < LEAST_SELF_COSINE:
        raise _quality("a text does not get one vector whatever stands beside it")
    if _cosines(together, _probe(small)).mean() < LEAST_COSINE:
        raise _quality("quantised, it says something else")
    return int(together.shape[1])


def _probe(session: "Session") -> "Vectors":
    import numpy as np

    vectors = session.encode(_PROBES)
    if not np.isfinite(vectors).all():
        raise _quality("its vectors are not finite")
    if np.ptp(vectors, axis=0).max() == 0:
        raise _quality("every text gets the same vector")
    return vectors


def _cosines(left: "Vectors", right: "Vectors") -> "Vectors":
    import numpy as np

    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    cosines: Vectors = (left * right).sum(axis=1) / np.maximum(lengths, np.float32(1e-12))
    return cosines


def _quality(fault: str) -> SemanticIndexError:
    return SemanticIndexError(
        f"the model does not work as it should: {fault}", code="MODEL_QUALITY"
    )
