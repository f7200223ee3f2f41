import math

import numpy as np
import pytest

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.weights.bert_graph import Activation, BertShape, build_bert
from support.model.tiny import HEADS, LAYERS, WIDTH, Array, tiny_weights

SHAPE = BertShape(heads=HEADS, layers=LAYERS, epsilon=1e-12, activation="gelu")
IDS = np.array([[2, 4, 5, 6, 3], [2, 8, 3, 0, 0]], np.int64)
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int64)


def run(
    shape: BertShape, weights: dict[str, Array], ids: object = IDS, mask: object = MASK
) -> Array:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        build_bert(weights, shape).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    given = {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": np.zeros_like(np.asarray(ids)),
    }
    found: Array = session.run(["last_hidden_state"], given)[0]
    return found


def normalised(values: Array, weights: dict[str, Array], name: str) -> Array:
    mean = values.mean(-1, keepdims=True)
    spread = np.sqrt(((values - mean) ** 2).mean(-1, keepdims=True) + 1e-12)
    scaled: Array = (values - mean) / spread
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def dense(values: Array, weights: dict[str, Array], name: str) -> Array:
    product: Array = values @ weights[f"{name}.weight"].T
    return product + weights[f"{name}.bias"]


def bent(values: Array, activation: Activation) -> Array:
    if activation == "relu":
        return np.maximum(values, np.float32(0))
    if activation == "gelu_tanh":
        inner = math.sqrt(2 / math.pi) * (values + 0.044715 * values**3)
        return np.asarray(0.5 * values * (1 + np.tanh(inner)), np.float32)
    errors = np.vectorize(math.erf)(values / math.sqrt(2))
    return np.asarray(0.5 * values * (1 + errors), np.float32)


def plain_bert(weights: dict[str, Array], ids: list[int], activation: Activation) -> Array:
    """The encoder for one text without padding, written down from the paper."""
    state = (
        weights["embeddings.word_embeddings.weight"][ids]
        + weights["embeddings.token_type_embeddings.weight"][0]
        + weights["embeddings.position_embeddings.weight"][: len(ids)]
    )
    state = normalised(state, weights, "embeddings.LayerNorm")
    size = WIDTH // HEADS
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        parts = [
            dense(state, weights, f"{name}attention.self.{p}") for p in ("query", "key", "value")
        ]
        heads = []
        for head in range(HEADS):
            query, key, value = (part[:, head * size : (head + 1) * size] for part in parts)
            scores = np.exp(query @ key.T / math.sqrt(size))
            heads.append(scores / scores.sum(-1, keepdims=True) @ value)
        mixed = dense(np.concatenate(heads, -1), weights, f"{name}attention.output.dense")
        state = normalised(mixed + state, weights, f"{name}attention.output.LayerNorm")
        wide = bent(dense(state, weights, f"{name}intermediate.dense"), activation)
        state = normalised(
            dense(wide, weights, f"{name}output.dense") + state, weights, f"{name}output.LayerNorm"
        )
    return state


@pytest.mark.parametrize("activation", ["gelu", "gelu_tanh", "relu"])
def test_the_graph_computes_what_the_paper_says_padding_or_not(activation: Activation) -> None:
    weights = tiny_weights()
    shape = BertShape(heads=HEADS, layers=LAYERS, epsilon=1e-12, activation=activation)
    found = run(shape, weights)
    assert found.shape == (2, 5, WIDTH)
    for row, ids in enumerate(([2, 4, 5, 6, 3], [2, 8, 3])):
        wanted = plain_bert(weights, ids, activation)
        np.testing.assert_allclose(found[row, : len(ids)], wanted, atol=2e-5)


def test_any_length_up_to_the_table_runs() -> None:
    weights = tiny_weights()
    for length in (1, 2, 48):
        ids = np.full((1, length), 4, np.int64)
        wanted = plain_bert(weights, [4] * length, "gelu")
        np.testing.assert_allclose(
            run(SHAPE, weights, ids, np.ones_like(ids))[0], wanted, atol=2e-5
        )


def test_weights_below_bert_are_found() -> None:
    plain = run(SHAPE, tiny_weights())
    np.testing.assert_array_equal(run(SHAPE, tiny_weights(prefix="bert.")), plain)


def test_two_builds_are_the_same_bytes() -> None:
    weights = tiny_weights()
    one, two = (build_bert(weights, SHAPE).SerializeToString() for _ in range(2))
    assert one == two


def refused(weights: dict[str, Array], shape: BertShape = SHAPE) -> str:
    with pytest.raises(SemanticIndexError) as fault:
        build_bert(weights, shape)
    assert fault.value.code == "MODEL_UNSUPPORTED"
    return fault.value.message


def test_a_missing_weight_is_named() -> None:
    weights = tiny_weights()
    del weights["encoder.layer.1.output.dense.bias"]
    assert "encoder.layer.1.output.dense.bias" in refused(weights)


def test_a_weight_of_another_form_is_named() -> None:
    weights = tiny_weights()
    weights["encoder.layer.0.output.dense.bias"] = np.zeros((2, 2), np.float32)
    assert "encoder.layer.0.output.dense.bias" in refused(weights)


def test_weights_that_do_not_fit_together_are_refused() -> None:
    weights = tiny_weights()
    weights["encoder.layer.0.output.dense.weight"] = np.zeros((WIDTH, 5), np.float32)
    assert "do not fit" in refused(weights)


def test_heads_must_divide_the_width() -> None:
    shape = BertShape(heads=5, layers=LAYERS, epsilon=1e-12, activation="gelu")
    assert "heads" in refused(tiny_weights(), shape)


def test_nothing_at_all_is_refused() -> None:
    assert "word_embeddings" in refused({})
