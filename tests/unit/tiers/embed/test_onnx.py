import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.onnx import OnnxEmbedder, load_session, open_onnx, pool, unit
from agentic_os.tiers.embed.prepare.request import Prepared, prepare
from agentic_os.tiers.embed.prepare.sources import FolderSource
from support.model.tiny import WIDTH, WINDOW, Array, tokenizer_json, write_tiny_model

if TYPE_CHECKING:
    from agentic_os.tiers.embed.interface import Embedder

TEXTS = ["alpha beta", "witness", "a rate limit of the client " * 3, "", "ledger gamma delta"]


def test_it_says_what_it_is(embedder: OnnxEmbedder, shared: Prepared) -> None:
    known: Embedder = embedder
    assert (known.name, known.dimension, known.max_tokens) == ("tiny", WIDTH, WINDOW)
    assert known.fingerprint == shared.manifest.recipe.fingerprint


def test_rows_are_units_in_the_order_given(embedder: OnnxEmbedder) -> None:
    vectors = embedder.encode_documents(TEXTS)
    assert vectors.shape == (len(TEXTS), WIDTH)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    backwards = embedder.encode_documents(TEXTS[::-1])
    nearest = (backwards @ vectors.T).argmax(axis=1)
    assert nearest.tolist() == [4, 3, 2, 1, 0]


def test_a_query_is_one_vector_near_the_same_text(embedder: OnnxEmbedder) -> None:
    query = embedder.encode_query("witness")
    assert query.shape == (WIDTH,)
    assert (embedder.encode_documents(TEXTS) @ query).argmax() == 1


def test_many_texts_of_many_lengths(embedder: OnnxEmbedder) -> None:
    texts = [" ".join(["alpha", "beta", "gamma"][: 1 + n % 3] * (1 + n % 7)) for n in range(300)]
    vectors = embedder.encode_documents(texts)
    single = np.stack([embedder.encode_documents([text])[0] for text in texts[:21]])
    assert ((vectors[:21] * single).sum(axis=1) > 0.95).all()


def test_no_texts_give_no_rows(embedder: OnnxEmbedder) -> None:
    assert embedder.encode_documents([]).shape == (0, WIDTH)


def test_a_long_text_is_cut_at_the_window(embedder: OnnxEmbedder) -> None:
    words = ["alpha"] * (WINDOW - 2)
    whole = embedder.encode_query(" ".join(words))
    longer = embedder.encode_query(" ".join([*words, *["witness"] * 1_000]))
    np.testing.assert_allclose(longer, whole, atol=1e-5)
    shorter = embedder.encode_query(" ".join([*words[:-1], "witness"]))
    assert not np.allclose(shorter, whole, atol=1e-3)


def test_lone_surrogates_are_replaced(embedder: OnnxEmbedder) -> None:
    assert np.isfinite(embedder.encode_query("alpha \ud800 beta")).all()


def test_several_threads_share_one_session(embedder: OnnxEmbedder) -> None:
    wanted = [embedder.encode_query(text) for text in TEXTS]
    with ThreadPoolExecutor(4) as threads:
        found: list[Array] = list(threads.map(embedder.encode_query, TEXTS * 10))
    np.testing.assert_allclose(np.stack(found), np.stack(wanted * 10), atol=1e-6)


def test_prompts_stand_before_the_text(tmp_path: Path, embedder: OnnxEmbedder) -> None:
    folder = write_tiny_model(tmp_path / "m", prompts={"query": "witness ", "document": "ledger "})
    made = prepare(tmp_path / "data", tmp_path / "cache", FolderSource(folder=folder, name="m"))
    prompted = open_onnx(made.path, made.manifest)
    wanted = embedder.encode_documents(["witness alpha", "ledger alpha"])
    np.testing.assert_allclose(prompted.encode_query("alpha"), wanted[0], atol=0.05)
    np.testing.assert_allclose(prompted.encode_documents(["alpha"])[0], wanted[1], atol=0.05)
    assert prompted.fingerprint != embedder.fingerprint


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_other_bytes_than_the_manifests_are_refused(tmp_path: Path, tiny: Path, file: str) -> None:
    made = prepare(tmp_path / "data", tmp_path / "cache", FolderSource(folder=tiny, name="m"))
    data = bytearray((made.path / file).read_bytes())
    data[len(data) // 2] ^= 1
    (made.path / file).write_bytes(data)
    with pytest.raises(SemanticIndexError, match="other bytes") as refused:
        open_onnx(made.path, made.manifest)
    assert refused.value.code == "MODEL_DAMAGED"


def test_a_missing_file_is_damage(tmp_path: Path, shared: Prepared) -> None:
    with pytest.raises(SemanticIndexError, match="cannot be read"):
        open_onnx(tmp_path, shared.manifest)


def test_a_manifest_without_a_graph_is_damage(shared: Prepared) -> None:
    without = replace(shared.manifest, files=shared.manifest.files[1:])
    with pytest.raises(SemanticIndexError, match="no graph"):
        open_onnx(shared.path, without)


def test_the_number_of_threads_can_be_set(shared: Prepared) -> None:
    one = open_onnx(shared.path, shared.manifest, threads=1)
    assert one.encode_query("alpha").shape == (WIDTH,)


@pytest.mark.parametrize(("model", "words"), [(b"junk", tokenizer_json()), (None, b"junk")])
def test_bytes_that_are_no_model_are_damage(
    shared: Prepared, model: bytes | None, words: bytes
) -> None:
    graph = model or (shared.path / "model.onnx").read_bytes()
    with pytest.raises(SemanticIndexError) as refused:
        load_session(graph, words, pooling="mean", normalize=True, max_tokens=8)
    assert refused.value.code == "MODEL_DAMAGED"


def test_a_graph_of_something_else_is_unsupported() -> None:
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "other",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["a"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    with pytest.raises(SemanticIndexError, match="vector a token"):
        load_session(
            model.SerializeToString(),
            tokenizer_json(),
            pooling="mean",
            normalize=True,
            max_tokens=8,
        )


def test_a_graph_that_fails_while_running_is_reported(shared: Prepared) -> None:
    # Its table has 48 positions; a window beyond them cannot run.
    session = load_session(
        (shared.path / "model.onnx").read_bytes(),
        (shared.path / "tokenizer.json").read_bytes(),
        pooling="mean",
        normalize=True,
        max_tokens=1_000,
    )
    with pytest.raises(SemanticIndexError) as refused:
        session.encode(["alpha " * 500])
    assert refused.value.code == "MODEL_FAILED"


def test_without_the_extra_it_says_what_to_install(
    shared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(SemanticIndexError, match="onnxruntime") as refused:
        open_onnx(shared.path, shared.manifest)
    assert refused.value.code == "EXTRA_MISSING"
    assert "extra `rag`" in refused.value.hint


HIDDEN = np.array([[[1, 2], [3, -4], [9, 9]]], np.float32)
MASK = np.array([[1, 1, 0]], np.float32)


def test_poolings_leave_the_padding_out() -> None:
    np.testing.assert_array_equal(pool(HIDDEN, MASK, "mean"), [[2, -1]])
    np.testing.assert_array_equal(pool(HIDDEN, MASK, "cls"), [[1, 2]])
    np.testing.assert_array_equal(pool(HIDDEN, MASK, "max"), [[3, 2]])
    with pytest.raises(SemanticIndexError, match="sentence-transformers"):
        pool(HIDDEN, MASK, "module")


def test_units_and_a_row_of_zeros() -> None:
    found = unit(np.array([[3, 4], [0, 0]], np.float32))
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.0, 0.0]])


def test_a_model_that_does_not_normalise_gives_vectors_as_they_are(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "m", normalize=False)
    made = prepare(tmp_path / "data", tmp_path / "cache", FolderSource(folder=folder, name="m"))
    assert not made.manifest.recipe.normalize
    assert hashlib.sha256((made.path / "model.onnx").read_bytes()).hexdigest() == (
        made.manifest.recipe.weights_sha256
    )
    length = np.linalg.norm(open_onnx(made.path, made.manifest).encode_query("alpha"))
    assert abs(length - 1) > 0.1
