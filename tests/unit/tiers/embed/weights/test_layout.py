import json
from pathlib import Path

import pytest

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.weights.bert_graph import BertShape
from agentic_os.tiers.embed.weights.layout import (
    MAX_PROMPT_CHARS,
    FolderLayout,
    joined,
    read_layout,
)
from support.model.tiny import HEADS, LAYERS, WINDOW, config, write_tiny_model


def put(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def test_a_folder_of_version_2(tiny: Path) -> None:
    assert read_layout(tiny) == FolderLayout(
        root="",
        max_tokens=WINDOW,
        pooling="mean",
        normalize=True,
        document_prompt="",
        query_prompt="",
        bert=BertShape(heads=HEADS, layers=LAYERS, epsilon=1e-12, activation="gelu"),
    )


def test_a_folder_of_version_6(tmp_path: Path) -> None:
    folder = tmp_path / "six"
    put(
        folder / "modules.json",
        [
            {"path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"},
            {
                "path": "1_Pooling",
                "type": "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
            },
        ],
    )
    put(folder / "config.json", config())
    put(folder / "tokenizer_config.json", {"model_max_length": 40})
    put(folder / "1_Pooling/config.json", {"pooling_mode": "cls", "include_prompt": True})
    found = read_layout(folder)
    assert (found.pooling, found.normalize, found.max_tokens) == ("cls", False, 40)


def test_an_encoder_in_a_folder_of_its_own(tmp_path: Path) -> None:
    put(
        tmp_path / "modules.json",
        [{"path": "0_T", "type": "x.Transformer"}, {"path": "1_P", "type": "x.Pooling"}],
    )
    put(tmp_path / "0_T/config.json", config())
    put(tmp_path / "0_T/sentence_bert_config.json", {"max_seq_length": 12})
    put(tmp_path / "1_P/config.json", {"pooling_mode_max_tokens": True})
    found = read_layout(tmp_path)
    assert (found.root, found.max_tokens, found.pooling) == ("0_T", 12, "max")
    assert found.bert is not None
    assert joined(found.root, "x") == "0_T/x"
    assert joined("", "x") == "x"


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({"max_seq_length": 10}, 10),
        ({"max_seq_length": 10_000}, WINDOW * 2),
        ({"max_seq_length": None}, WINDOW * 2),
        ({"max_seq_length": True}, WINDOW * 2),
        ({"max_seq_length": 0}, WINDOW * 2),
        ("not JSON", WINDOW * 2),
    ],
)
def test_the_window_stays_within_the_table(tiny: Path, asked: object, wanted: int) -> None:
    put(tiny / "sentence_bert_config.json", asked)
    assert read_layout(tiny).max_tokens == wanted


def test_a_model_without_any_window_gets_the_default(tmp_path: Path) -> None:
    put(tmp_path / "modules.json", [{"path": "", "type": "x.StaticEmbedding"}])
    found = read_layout(tmp_path)
    assert (found.max_tokens, found.pooling, found.bert) == (512, None, None)


@pytest.mark.parametrize(
    ("pooling", "wanted"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean"),
        ({"pooling_mode_cls_token": True}, "cls"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, None),
        ({"pooling_mode_weightedmean_tokens": True}, None),
        ({"pooling_mode": "lasttoken"}, None),
        ({"pooling_mode": "mean", "include_prompt": False}, None),
        ({}, None),
        ([1], None),
    ],
)
def test_poolings(tiny: Path, pooling: object, wanted: str | None) -> None:
    put(tiny / "1_Pooling/config.json", pooling)
    assert read_layout(tiny).pooling == wanted


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "mpnet"},
        {"position_embedding_type": "relative_key"},
        {"is_decoder": True},
        {"hidden_act": "silu"},
        {"hidden_act": 3},
        {"layer_norm_eps": "1"},
        {"num_attention_heads": None},
        {"num_hidden_layers": 10**6},
        {"num_attention_heads": 10**6},
    ],
)
def test_encoders_that_only_the_library_knows(tmp_path: Path, change: dict[str, object]) -> None:
    found = read_layout(write_tiny_model(tmp_path / "m", changes=change))
    assert found.bert is None
    assert found.pooling == "mean"


def test_modules_that_only_the_library_knows(tiny: Path) -> None:
    put(
        tiny / "modules.json",
        [{"path": "", "type": f"x.{kind}"} for kind in ("Transformer", "Pooling", "Dense")],
    )
    found = read_layout(tiny)
    assert (found.pooling, found.bert) == (None, None)


@pytest.mark.parametrize(
    ("configuration", "document", "query"),
    [
        ({"prompts": {"query": "q: ", "document": "d: "}}, "d: ", "q: "),
        ({"prompts": {"query": "q: ", "passage": "p: "}}, "p: ", "q: "),
        ({"prompts": {"x": "y: "}, "default_prompt_name": "x"}, "y: ", "y: "),
        ({"prompts": {"query": 7}}, "", ""),
        ({"prompts": "no"}, "", ""),
    ],
)
def test_prompts(tiny: Path, configuration: object, document: str, query: str) -> None:
    put(tiny / "config_sentence_transformers.json", configuration)
    found = read_layout(tiny)
    assert (found.document_prompt, found.query_prompt) == (document, query)


def test_a_huge_prompt_is_refused(tiny: Path) -> None:
    huge = {"prompts": {"query": "x" * (MAX_PROMPT_CHARS + 1)}}
    put(tiny / "config_sentence_transformers.json", huge)
    with pytest.raises(SemanticIndexError, match="prompt"):
        read_layout(tiny)


@pytest.mark.parametrize(
    "modules",
    [
        "nonsense",
        [],
        {},
        [{"type": "x.Transformer"}],
        [{"path": "", "type": 1}],
        [{"path": "../out", "type": "x.Transformer"}],
        [{"path": "/etc", "type": "x.Transformer"}],
        [{"path": "a\0b", "type": "x.Transformer"}],
        ["x"],
    ],
)
def test_what_is_no_such_folder_is_refused(tmp_path: Path, modules: object) -> None:
    put(tmp_path / "modules.json", modules)
    with pytest.raises(SemanticIndexError) as refused:
        read_layout(tmp_path)
    assert refused.value.code == "MODEL_UNSUPPORTED"


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SemanticIndexError, match=r"modules\.json"):
        read_layout(tmp_path)


def test_a_huge_configuration_counts_as_missing(tiny: Path) -> None:
    put(tiny / "modules.json", " " * (5 * 1024 * 1024) + "[]")
    with pytest.raises(SemanticIndexError, match=r"modules\.json"):
        read_layout(tiny)
