import json
import sys
from pathlib import Path

import numpy as np
import pytest

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.onnx import load_session
from agentic_os.tiers.embed.prepare import make as making
from agentic_os.tiers.embed.prepare.make import look_at, make_graph, read_bounded, unwatched
from agentic_os.tiers.embed.weights.bert_graph import BertShape, build_bert
from support.model.tiny import HEADS, LAYERS, WIDTH, safetensors, tiny_weights, write_tiny_model

SHAPE = BertShape(heads=HEADS, layers=LAYERS, epsilon=1e-12, activation="gelu")


def refused(folder: Path, staged: Path) -> SemanticIndexError:
    with pytest.raises(SemanticIndexError) as fault:
        make_graph(look_at(folder), staged, unwatched)
    return fault.value


def own_graph(folder: Path, model: bytes) -> Path:
    """A folder of an encoder that is not BERT, with a graph of its own."""
    write_tiny_model(folder, changes={"model_type": "mpnet"})
    (folder / "onnx").mkdir()
    (folder / "onnx/model.onnx").write_bytes(model)
    return folder


def test_a_bert_folder_is_built_quantised_and_checked(tiny: Path, tmp_path: Path) -> None:
    stages: list[tuple[str, int, int]] = []
    made = make_graph(look_at(tiny), tmp_path, lambda *told: stages.append(told))
    assert (made.backend, made.dimension) == ("onnx", WIDTH)
    assert [stage for stage, _, _ in stages] == [
        "building the graph",
        "quantising",
        "checking",
        "checking",
    ]
    exact = build_bert(tiny_weights(), SHAPE).SerializeToString()
    small = (tmp_path / "model.onnx").read_bytes()
    assert len(small) < len(exact) * 0.6
    words = (tmp_path / "tokenizer.json").read_bytes()
    vectors = [
        load_session(graph, words, pooling="mean", normalize=True, max_tokens=24).encode(
            ["alpha beta", "witness", "a rate limit of the client"]
        )
        for graph in (exact, small)
    ]
    cosines = (vectors[0] * vectors[1]).sum(axis=1)
    assert (cosines > 0.97).all()
    assert not np.allclose(vectors[0], vectors[1], atol=1e-6)


def test_two_builds_make_the_same_bytes(tiny: Path, tmp_path: Path) -> None:
    graphs = []
    for name in ("one", "two"):
        staged = tmp_path / name
        staged.mkdir()
        make_graph(look_at(tiny), staged, unwatched)
        graphs.append((staged / "model.onnx").read_bytes())
    assert graphs[0] == graphs[1]


def test_a_graph_in_the_folder_is_taken_for_other_encoders(tmp_path: Path) -> None:
    graph = build_bert(tiny_weights(), SHAPE).SerializeToString()
    model = look_at(own_graph(tmp_path / "m", graph))
    assert model.rule.startswith("own-graph:")
    staged = tmp_path / "staged"
    staged.mkdir()
    assert make_graph(model, staged, unwatched).dimension == WIDTH


def test_a_graph_that_is_none_is_damage(tmp_path: Path) -> None:
    folder = own_graph(tmp_path / "m", b"\xff\xffjunk")
    assert refused(folder, tmp_path).code == "MODEL_DAMAGED"


def test_a_graph_that_cannot_be_quantised_is_unsupported(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from onnxruntime import quantization

    def failing(*_: object, **__: object) -> None:
        raise RuntimeError("Unable to find data type")

    monkeypatch.setattr(quantization, "quantize_dynamic", failing)
    fault = refused(tiny, tmp_path)
    assert (fault.code, "quantised" in fault.message) == ("MODEL_UNSUPPORTED", True)


def test_a_graph_of_unheard_operators_is_damage(tmp_path: Path) -> None:
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("Unheard", ["x"], ["y"])],
        "other",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["a"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    folder = own_graph(tmp_path / "m", model.SerializeToString())
    assert refused(folder, tmp_path).code == "MODEL_DAMAGED"


def test_a_graph_that_minds_its_padding_is_refused(tmp_path: Path) -> None:
    model = build_bert(tiny_weights(), SHAPE)
    for constant in model.graph.initializer:
        if constant.name == "masked":
            constant.raw_data = np.zeros(1, np.float32).tobytes()
    folder = own_graph(tmp_path / "m", model.SerializeToString())
    fault = refused(folder, tmp_path)
    assert fault.code == "MODEL_QUALITY"
    assert "beside" in fault.message


@pytest.mark.parametrize(("value", "words"), [(np.nan, "not finite"), (0.0, "same vector")])
def test_weights_that_say_nothing_are_refused(
    tiny: Path, tmp_path: Path, value: float, words: str
) -> None:
    weights = tiny_weights()
    for name in ("weight", "bias"):
        last = f"encoder.layer.{LAYERS - 1}.output.LayerNorm.{name}"
        weights[last] = np.full_like(weights[last], value)
    (tiny / "model.safetensors").write_bytes(safetensors(weights))
    fault = refused(tiny, tmp_path)
    assert (fault.code, words in fault.message) == ("MODEL_QUALITY", True)


def test_a_quantised_graph_that_strays_is_refused(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "LEAST_COSINE", 0.99999)
    assert "quantised" in refused(tiny, tmp_path).message


def test_damaged_weights_are_refused(tiny: Path, tmp_path: Path) -> None:
    (tiny / "model.safetensors").write_bytes(b"junk")
    assert refused(tiny, tmp_path).code == "MODEL_DAMAGED"


def test_without_onnx_it_says_what_to_install(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    fault = refused(tiny, tmp_path)
    assert (fault.code, "extra `rag`" in fault.hint) == ("EXTRA_MISSING", True)


def test_what_no_graph_can_be_made_of_is_left_as_it_is(tiny: Path, tmp_path: Path) -> None:
    (tiny / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode": "lasttoken"}))
    model = look_at(tiny)
    assert not model.quantisable
    with pytest.raises(SemanticIndexError, match="sentence-transformers"):
        make_graph(model, tmp_path, unwatched)


@pytest.mark.parametrize("lost", ["tokenizer.json", "model.safetensors"])
def test_without_tokenizer_or_weights_no_graph_is_made(tiny: Path, lost: str) -> None:
    (tiny / lost).unlink()
    assert look_at(tiny).rule == "as-it-is"


def test_a_full_disk_is_not_taken_for_a_bad_model(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from onnxruntime import quantization

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(quantization, "quantize_dynamic", full)
    with pytest.raises(OSError, match="No space"):
        make_graph(look_at(tiny), tmp_path, unwatched)


def test_reads_are_bounded(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"1234")
    assert read_bounded(tmp_path / "f", 4) == b"1234"
    with pytest.raises(SemanticIndexError, match="larger than 3 bytes"):
        read_bounded(tmp_path / "f", 3)
    with pytest.raises(SemanticIndexError, match="No such file"):
        read_bounded(tmp_path / "g", 3)
