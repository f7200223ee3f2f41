"""What a sentence-transformers folder says about itself: window, pooling, prompts, encoder.

Reads the small JSON files that sentence-transformers writes, in the forms of its versions 2 to 6.
Everything is optional but ``modules.json``; what cannot be understood is ``None`` and leaves the
model to the reference backend. The person named the folder, so links in it are followed (the
hub's cache is made of them); paths that its files name may not climb out of it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.interface import Pooling
from agentic_os.tiers.embed.manifest import MAX_WINDOW_TOKENS
from agentic_os.tiers.embed.weights.bert_graph import Activation, BertShape

CONFIG_BYTES = 4 * 1024 * 1024
DEFAULT_WINDOW_TOKENS = 512
DEFAULT_EPSILON = 1e-12
MAX_LAYERS_ENTRIES = 256
MAX_HEADS_ENTRIES = 1_024
MAX_PROMPT_CHARS = 10_000

_ACTIVATIONS: Mapping[str, Activation] = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}
_POOLING_FLAGS: Mapping[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
}
_POOLINGS: Mapping[str, Pooling] = {"mean": "mean", "cls": "cls", "max": "max"}

Config = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderLayout:
    """What was found; ``pooling`` and ``bert`` are ``None`` where only the library knows.

    ``root`` is where the encoder's files stand, relative to the folder (empty: the folder).
    """

    root: str
    max_tokens: int
    pooling: Pooling | None
    normalize: bool
    document_prompt: str
    query_prompt: str
    bert: BertShape | None


def read_layout(folder: Path) -> FolderLayout:
    """Read the layout of a sentence-transformers folder.

    Raises:
        SemanticIndexError: MODEL_UNSUPPORTED, when the folder is not one.
    """
    modules = _modules(folder)
    kinds = [kind for kind, _ in modules]
    root = modules[0][1]
    config = _config(folder, joined(root, "config.json"))
    plain = kinds in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
    pooling = _pooling(_config(folder, joined(modules[1][1], "config.json"))) if plain else None
    top = _config(folder, "config_sentence_transformers.json")
    default = _text(top, "default_prompt_name")
    prompts = _table(top.get("prompts"))
    return FolderLayout(
        root=root,
        max_tokens=_window(folder, root, config),
        pooling=pooling,
        normalize="Normalize" in kinds,
        document_prompt=_prompt(prompts, ("document", "passage", "corpus", default)),
        query_prompt=_prompt(prompts, ("query", default)),
        bert=_bert(config) if plain else None,
    )


def _modules(folder: Path) -> list[tuple[str, str]]:
    """Return the kind of each module, its last dotted name, and its folder."""
    found = _json(folder / "modules.json")
    modules: list[tuple[str, str]] = []
    for entry in found if isinstance(found, list) else ():
        row = _table(entry)
        kind, path = row.get("type"), row.get("path")
        if not isinstance(kind, str) or not isinstance(path, str) or not _stays(path):
            raise _not_one("its modules.json names a module without type or place")
        modules.append((kind.rpartition(".")[2], path))
    if not modules:
        raise _not_one("its modules.json lists no modules")
    return modules


def joined(root: str, name: str) -> str:
    """Return the path of ``name`` below ``root``, which may be empty."""
    return f"{root}/{name}" if root else name


def _config(folder: Path, path: str) -> Config:
    return _table(_json(folder / path))


def _json(path: Path) -> object:
    """Read a small JSON file; ``None`` if it is missing, too large or not JSON."""
    try:
        with path.open("rb") as stream:
            data = stream.read(CONFIG_BYTES + 1)
        return None if len(data) > CONFIG_BYTES else json.loads(data)
    except (OSError, ValueError, RecursionError):
        return None


def _stays(path: str) -> bool:
    """Return whether a path that a file names stays below its folder."""
    pure = PurePosixPath(path)
    return not pure.is_absolute() and ".." not in pure.parts and "\0" not in path


def _window(folder: Path, root: str, config: Config) -> int:
    """Return the longest text in tokens: as the model says, within its table of positions."""
    asked = (
        _number(_config(folder, joined(root, "sentence_bert_config.json")), "max_seq_length"),
        _number(_config(folder, joined(root, "tokenizer_config.json")), "model_max_length"),
    )
    most = _number(config, "max_position_embeddings") or DEFAULT_WINDOW_TOKENS
    wanted = next((number for number in asked if number), most)
    return min(wanted, most, MAX_WINDOW_TOKENS)


def _pooling(config: Config) -> Pooling | None:
    if config.get("include_prompt") is False:
        return None  # the prompt's tokens would have to be left out of the mean
    named = config.get("pooling_mode")
    if isinstance(named, str):
        return _POOLINGS.get(named)
    flags = {name for name, value in config.items() if name.startswith("pooling_mode") and value}
    if len(flags) != 1:
        return None
    return _POOLING_FLAGS.get(flags.pop())


def _bert(config: Config) -> BertShape | None:
    heads = _number(config, "num_attention_heads")
    layers = _number(config, "num_hidden_layers")
    activation = _ACTIVATIONS.get(_text(config, "hidden_act") or "")
    epsilon = config.get("layer_norm_eps", DEFAULT_EPSILON)
    usual = (
        config.get("model_type") == "bert"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and config.get("is_decoder") is not True
    )
    if not usual or activation is None or not isinstance(epsilon, float):
        return None
    if heads is None or layers is None or heads > MAX_HEADS_ENTRIES or layers > MAX_LAYERS_ENTRIES:
        return None
    return BertShape(heads=heads, layers=layers, epsilon=epsilon, activation=activation)


def _prompt(prompts: Config, names: tuple[str | None, ...]) -> str:
    """Return the first prompt that is there under one of ``names``."""
    for name in names:
        found = prompts.get(name) if name else None
        if isinstance(found, str):
            if len(found) > MAX_PROMPT_CHARS:
                raise _not_one(f"a prompt has more than {MAX_PROMPT_CHARS} characters")
            return found
    return ""


def _table(value: object) -> Config:
    return value if isinstance(value, dict) else {}


def _text(config: Config, key: str) -> str | None:
    found = config.get(key)
    return found if isinstance(found, str) else None


def _number(config: Config, key: str) -> int | None:
    """Return a whole number above zero; tokenizers without a window say 10**30."""
    found = config.get(key)
    if isinstance(found, int) and not isinstance(found, bool) and found > 0:
        return found
    return None


def _not_one(fault: str) -> SemanticIndexError:
    return SemanticIndexError(
        f"this is not a sentence-transformers folder: {fault}", code="MODEL_UNSUPPORTED"
    )
