"""Builds the ONNX graph of a BERT encoder from its weights, node by node, without torch.

The graph computes what ``BertModel`` of the transformers library computes in evaluation, pooler
left out: token, type and position embeddings, then blocks of self-attention and feed-forward,
each with a residual and a layer normalisation. Inputs: ``input_ids``, ``attention_mask``,
``token_type_ids`` (int64, batch by length); output: ``last_hidden_state``.

The position table is sliced to the length of the batch. A Gather over a Range says the same, and
onnxruntime folds it wrongly (design decision 14).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, assert_never

from agentic_os.errors import SemanticIndexError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from agentic_os.tiers.embed.interface import Vectors

Activation = Literal["gelu", "gelu_tanh", "relu"]

RULE = "bert-1"
"""Version of this rule; part of a model's origin, raised when the graph changes."""

OPSET = 20
IR_VERSION = 10

_MASKED = -10_000.0
_PREFIXES = ("", "bert.")


@dataclass(frozen=True, slots=True, kw_only=True)
class BertShape:
    """The numbers of a BERT encoder that its weights do not tell."""

    heads: int
    layers: int
    epsilon: float
    activation: Activation


def build_bert(weights: Mapping[str, "Vectors"], shape: BertShape) -> Any:
    """Build the encoder as an ``onnx.ModelProto``.

    Raises:
        SemanticIndexError: MODEL_UNSUPPORTED, when a weight is missing or does not fit.
    """
    import onnx
    from onnx import TensorProto, helper

    graph = _Graph(weights, shape)
    graph.embeddings()
    for layer in range(shape.layers):
        graph.block(layer)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    graph.node("Identity", [graph.state], output="last_hidden_state")
    output = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, ["batch", "length", graph.width]
    )
    model = helper.make_model(
        helper.make_graph(graph.nodes, RULE, inputs, [output], graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="agentic-os",
    )
    try:
        onnx.checker.check_model(model)
        # Shapes that do not fit one another are found here and not while embedding.
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as fault:
        raise _unsupported("its weights do not fit together") from fault
    return model


class _Graph:
    """The graph while it grows; ``state`` names the tensor that the next part reads."""

    def __init__(self, weights: Mapping[str, "Vectors"], shape: BertShape) -> None:
        import numpy as np

        self._weights = weights
        self._shape = shape
        self._prefix = next(
            (p for p in _PREFIXES if f"{p}embeddings.word_embeddings.weight" in weights), ""
        )
        words = self._weight("embeddings.word_embeddings.weight", axes=2)
        self.width = int(words.shape[1])
        if self.width % shape.heads:
            raise _unsupported("its width is not a multiple of its heads")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.state = ""
        head = self.width // shape.heads
        self._words = self._constant("words", words)
        self._split = self._constant("split", np.array([0, 0, shape.heads, head], np.int64))
        self._merge = self._constant("merge", np.array([0, 0, self.width], np.int64))
        self._scale = self._constant("scale", np.array(head**-0.5, np.float32))
        self._bias = ""

    def node(self, kind: str, inputs: list[str], *, output: str = "", **attributes: Any) -> str:
        """Append a node and return the name of its output."""
        from onnx import helper

        name = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def embeddings(self) -> None:
        """Words, token types and positions, added and normalised; and the attention's mask."""
        import numpy as np
        from onnx import TensorProto

        types = self._constant("types", self._weight("embeddings.token_type_embeddings.weight", 2))
        table = self._constant(
            "positions", self._weight("embeddings.position_embeddings.weight", 2)
        )
        zero = self._constant("zero", np.array([0], np.int64))
        length = self.node("Shape", ["input_ids"], start=1, end=2)
        words = self.node("Gather", [self._words, "input_ids"])
        kinds = self.node("Gather", [types, "token_type_ids"])
        places = self.node("Slice", [table, zero, length, zero])
        summed = self.node("Add", [self.node("Add", [words, kinds]), places])
        self.state = self._normalised(summed, "embeddings.LayerNorm")
        one = self._constant("one", np.array(1, np.float32))
        masked = self._constant("masked", np.array(_MASKED, np.float32))
        axes = self._constant("mask_axes", np.array([1, 2], np.int64))
        kept = self.node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
        away = self.node("Mul", [self.node("Sub", [one, kept]), masked])
        self._bias = self.node("Unsqueeze", [away, axes])

    def block(self, layer: int) -> None:
        """One layer: attention and feed-forward, each with its residual."""
        name = f"encoder.layer.{layer}."
        attended = self._attention(f"{name}attention.self.")
        dense = self._linear(attended, f"{name}attention.output.dense")
        self.state = self._normalised(
            self.node("Add", [dense, self.state]), f"{name}attention.output.LayerNorm"
        )
        hidden = self._linear(self.state, f"{name}intermediate.dense")
        match self._shape.activation:
            case "gelu":
                bent = self.node("Gelu", [hidden])
            case "gelu_tanh":
                bent = self.node("Gelu", [hidden], approximate="tanh")
            case "relu":
                bent = self.node("Relu", [hidden])
            case never:
                assert_never(never)
        dense = self._linear(bent, f"{name}output.dense")
        self.state = self._normalised(
            self.node("Add", [dense, self.state]), f"{name}output.LayerNorm"
        )

    def _attention(self, name: str) -> str:
        query, key, value = (
            self.node("Reshape", [self._linear(self.state, f"{name}{part}"), self._split])
            for part in ("query", "key", "value")
        )
        query = self.node("Transpose", [query], perm=[0, 2, 1, 3])
        key = self.node("Transpose", [key], perm=[0, 2, 3, 1])
        value = self.node("Transpose", [value], perm=[0, 2, 1, 3])
        scores = self.node("Mul", [self.node("MatMul", [query, key]), self._scale])
        shares = self.node("Softmax", [self.node("Add", [scores, self._bias])], axis=-1)
        mixed = self.node("Transpose", [self.node("MatMul", [shares, value])], perm=[0, 2, 1, 3])
        return self.node("Reshape", [mixed, self._merge])

    def _linear(self, source: str, name: str) -> str:
        weight = self._constant(f"{name}.weight", self._weight(f"{name}.weight", 2).T)
        bias = self._constant(f"{name}.bias", self._weight(f"{name}.bias", 1))
        return self.node("Add", [self.node("MatMul", [source, weight]), bias])

    def _normalised(self, source: str, name: str) -> str:
        weight = self._constant(f"{name}.weight", self._weight(f"{name}.weight", 1))
        bias = self._constant(f"{name}.bias", self._weight(f"{name}.bias", 1))
        return self.node(
            "LayerNormalization", [source, weight, bias], axis=-1, epsilon=self._shape.epsilon
        )

    def _weight(self, name: str, axes: int) -> "Vectors":
        found = self._weights.get(self._prefix + name)
        if found is None or found.ndim != axes:
            raise _unsupported(f"the weight {name} is missing or has another form")
        return found

    def _constant(self, name: str, value: "npt.NDArray[np.generic]") -> str:
        import numpy as np
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name


def _unsupported(fault: str) -> SemanticIndexError:
    return SemanticIndexError(
        f"no graph can be built from this model: {fault}", code="MODEL_UNSUPPORTED"
    )
