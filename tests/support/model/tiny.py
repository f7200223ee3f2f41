"""A small sentence-transformers folder with random weights, written without the library."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

WORDS = ["alpha", "beta", "gamma", "delta", "ledger", "witness", "rate", "limit", "client", "a"]
LETTERS = [chr(code) for code in range(33, 127)]
WIDTH = 32
HEADS = 4
LAYERS = 2
WINDOW = 24

Array = npt.NDArray[np.float32]


def tiny_weights(seed: int = 7, prefix: str = "") -> dict[str, Array]:
    """Random weights of a BERT encoder of two layers."""
    random = np.random.default_rng(seed)
    weights: dict[str, Array] = {}

    def add(name: str, *shape: int, near: float = 0.0, spread: float = 0.2) -> None:
        values = random.normal(near, spread, shape)
        weights[prefix + name] = values.astype(np.float32)

    def norm(name: str) -> None:
        add(f"{name}.weight", WIDTH, near=1.0, spread=0.05)
        add(f"{name}.bias", WIDTH, spread=0.05)

    def dense(name: str, wide: int, narrow: int) -> None:
        add(f"{name}.weight", wide, narrow)
        add(f"{name}.bias", wide)

    add("embeddings.word_embeddings.weight", len(vocabulary()), WIDTH, spread=1.0)
    add("embeddings.position_embeddings.weight", WINDOW * 2, WIDTH)
    add("embeddings.token_type_embeddings.weight", 2, WIDTH)
    norm("embeddings.LayerNorm")
    for layer in range(LAYERS):
        start = f"encoder.layer.{layer}."
        for part in ("query", "key", "value"):
            dense(f"{start}attention.self.{part}", WIDTH, WIDTH)
        dense(f"{start}attention.output.dense", WIDTH, WIDTH)
        norm(f"{start}attention.output.LayerNorm")
        dense(f"{start}intermediate.dense", WIDTH * 2, WIDTH)
        dense(f"{start}output.dense", WIDTH, WIDTH * 2)
        norm(f"{start}output.LayerNorm")
    return weights


def vocabulary() -> dict[str, int]:
    """Special tokens, a few words, and every letter alone and inside a word."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    tokens += [letter for letter in LETTERS if letter not in WORDS]
    tokens += [f"##{letter}" for letter in LETTERS]
    return {token: number for number, token in enumerate(tokens)}


def safetensors(
    tensors: Mapping[str, npt.NDArray[Any]], kinds: Mapping[str, str] | None = None
) -> bytes:
    """The bytes of a safetensors file."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, values in tensors.items():
        kind = (kinds or {}).get(name, "F32")
        piece = values.tobytes()
        header[name] = {
            "dtype": kind,
            "shape": list(values.shape),
            "data_offsets": [len(body), len(body) + len(piece)],
        }
        body += piece
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def tokenizer_json() -> bytes:
    """A WordPiece tokenizer over ``vocabulary``, padded to a fixed length as MiniLM's is."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    known = vocabulary()
    tokenizer = Tokenizer(models.WordPiece(vocab=known, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[("[CLS]", known["[CLS]"]), ("[SEP]", known["[SEP]"])],
    )
    tokenizer.enable_padding(length=WINDOW)
    tokenizer.enable_truncation(WINDOW // 2)
    return tokenizer.to_str().encode()


def config(**changes: object) -> dict[str, object]:
    """The encoder's ``config.json``."""
    return {
        "architectures": ["BertModel"],
        "hidden_act": "gelu",
        "hidden_size": WIDTH,
        "intermediate_size": WIDTH * 2,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": WINDOW * 2,
        "model_type": "bert",
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "vocab_size": len(vocabulary()),
        **changes,
    }


def write_tiny_model(
    folder: Path,
    *,
    seed: int = 7,
    pooling: Mapping[str, object] | None = None,
    changes: Mapping[str, object] | None = None,
    prompts: Mapping[str, str] | None = None,
    normalize: bool = True,
) -> Path:
    """Write the folder and return it."""
    folder.mkdir(parents=True)
    modules = ["Transformer", "Pooling"] + ["Normalize"] * normalize
    _json(
        folder / "modules.json",
        [
            {
                "idx": number,
                "name": str(number),
                "path": "" if not number else f"{number}_{kind}",
                "type": f"sentence_transformers.models.{kind}",
            }
            for number, kind in enumerate(modules)
        ],
    )
    _json(folder / "config.json", config(**(changes or {})))
    _json(folder / "sentence_bert_config.json", {"max_seq_length": WINDOW, "do_lower_case": False})
    _json(folder / "1_Pooling/config.json", dict(pooling or {"pooling_mode_mean_tokens": True}))
    if prompts is not None:
        _json(folder / "config_sentence_transformers.json", {"prompts": dict(prompts)})
    (folder / "tokenizer.json").write_bytes(tokenizer_json())
    (folder / "model.safetensors").write_bytes(safetensors(tiny_weights(seed)))
    return folder


def _json(path: Path, value: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
