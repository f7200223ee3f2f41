"""The reference backend against a stand-in for the library; the real one is a service test."""

import json
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed import sentence_transformers as reference
from agentic_os.tiers.embed.prepare.request import prepare
from agentic_os.tiers.embed.prepare.sources import FolderSource
from agentic_os.tiers.embed.selection import open_embedder
from agentic_os.tiers.embed.sentence_transformers import (
    ReferenceEmbedder,
    hub_folder,
    model_files,
    open_reference,
)
from support.model.tiny import WIDTH, WINDOW, write_tiny_model


class Library:
    """Stands in for ``SentenceTransformer``: a vector is the counts of a text's letters."""

    opened: list[tuple[str, dict[str, Any]]]
    asked: list[dict[str, Any]]
    fails = False

    def __init__(self, path: str, **options: Any) -> None:
        print("the library talks on stdout")  # noqa: T201 - that is what is tested
        if self.fails:
            raise RuntimeError("cannot open")
        self.opened.append((path, options))

    def get_sentence_embedding_dimension(self) -> int:
        return WIDTH

    def encode(self, texts: list[str], **options: Any) -> object:
        print("and while it works")  # noqa: T201 - that is what is tested
        self.asked.append({"texts": texts, **options})
        if "fail" in texts[0]:
            raise RuntimeError("cannot encode")
        return np.array([[len(options["prompt"]), len(text)] for text in texts], np.float64)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> type[Library]:
    class Fresh(Library):
        opened: list[tuple[str, dict[str, Any]]] = []  # noqa: RUF012 - fresh for every test
        asked: list[dict[str, Any]] = []  # noqa: RUF012 - fresh for every test

    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = Fresh  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    for name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "TRANSFORMERS_VERBOSITY"):
        monkeypatch.setenv(name, "set by a test")
    monkeypatch.delenv("HF_HUB_OFFLINE")
    return Fresh


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A folder that no graph can be built from, with files that are to be left out."""
    folder = write_tiny_model(
        tmp_path / "other",
        changes={"model_type": "mpnet"},
        prompts={"query": "q: ", "document": "d: "},
    )
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    (folder / "README.md").write_text("x")
    (folder / "openvino").mkdir()
    (folder / "openvino/config.json").write_text("{}")
    (folder / ".cache.json").write_text("{}")
    return folder


def test_a_folder_is_opened_offline_without_running_its_code(
    library: type[Library], other: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    import os

    embedder = open_reference(other, "other")
    (opened,) = library.opened
    assert opened[0] == str(other)
    assert opened[1] == {
        "local_files_only": True,
        "trust_remote_code": False,
        "model_kwargs": {"use_safetensors": True},
    }
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert (embedder.name, embedder.dimension, embedder.max_tokens) == ("other", WIDTH, WINDOW)
    assert len(embedder.fingerprint) == 64
    vectors = embedder.encode_documents(["ab", "c"])
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, [[3, 2], [3, 1]])
    np.testing.assert_array_equal(embedder.encode_query("abc"), [3, 3])
    assert embedder.encode_documents([]).shape == (0, WIDTH)
    assert [asked["prompt"] for asked in library.asked] == ["d: ", "q: "]
    assert library.asked[0]["normalize_embeddings"] is True
    assert library.asked[0]["show_progress_bar"] is False
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "talks on stdout" in captured.err


def test_the_person_may_let_the_hub_be_asked(
    library: type[Library], other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    open_reference(other, "other")
    assert library.opened
    assert os.environ["HF_HUB_OFFLINE"] == "0"


def test_lone_surrogates_are_replaced(library: type[Library], other: Path) -> None:
    open_reference(other, "other").encode_query("a\ud800")
    assert library.asked[0]["texts"] == ["a?"]


def test_what_the_library_raises_is_told(library: type[Library], other: Path) -> None:
    embedder = open_reference(other, "other")
    with pytest.raises(SemanticIndexError) as refused:
        embedder.encode_query("fail")
    assert refused.value.code == "MODEL_FAILED"
    library.fails = True
    with pytest.raises(SemanticIndexError) as refused:
        open_reference(other, "other")
    assert refused.value.code == "MODEL_UNSUPPORTED"


def test_without_the_extra_it_says_what_to_install(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(SemanticIndexError) as refused:
        open_reference(other, "other")
    assert (refused.value.code, "extra `models`" in refused.value.hint) == (
        "EXTRA_MISSING",
        True,
    )


def test_pickles_and_other_runtimes_are_left_out(other: Path) -> None:
    assert [file.path for file in model_files(other)] == [
        "1_Pooling/config.json",
        "config.json",
        "config_sentence_transformers.json",
        "model.safetensors",
        "modules.json",
        "sentence_bert_config.json",
        "tokenizer.json",
    ]


def test_a_folder_with_pickles_alone_is_refused(other: Path) -> None:
    (other / "model.safetensors").unlink()
    with pytest.raises(SemanticIndexError, match="safetensors") as refused:
        model_files(other)
    assert "pickles" in refused.value.hint


def test_too_many_files_are_refused(other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "MAX_FILES_ENTRIES", 3)
    with pytest.raises(SemanticIndexError, match="too many"):
        model_files(other)


def test_whatever_is_in_the_folder_changes_the_fingerprint(
    library: type[Library], other: Path
) -> None:
    before = open_reference(other, "other").fingerprint
    (other / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode": "cls"}))
    after = open_reference(other, "other").fingerprint
    assert before != after
    assert len(library.opened) == 2


def test_it_is_kept_on_the_shelf_and_opened_from_there(
    library: type[Library], other: Path, tmp_path: Path
) -> None:
    source = FolderSource(folder=other, name="other")
    told: list[tuple[str, int, int]] = []
    made = prepare(
        tmp_path / "data", tmp_path / "cache", source, progress=lambda *step: told.append(step)
    )
    assert made.manifest.backend == "sentence-transformers"
    assert told[-1] == ("copying", made.manifest.total_bytes, made.manifest.total_bytes)
    assert not (made.path / "pytorch_model.bin").exists()
    assert (made.path / "1_Pooling/config.json").exists()
    assert prepare(tmp_path / "data", tmp_path / "cache", source).already
    opened = open_embedder(tmp_path / "data", "other")
    assert isinstance(opened, ReferenceEmbedder)
    assert opened.fingerprint == made.manifest.fingerprint
    assert opened.recipe == made.manifest.recipe
    assert library.opened[-1][0] == str(made.path)
    (made.path / "config.json").write_bytes(
        (made.path / "config.json").read_bytes().replace(b"mpnet", b"mqnet")
    )
    with pytest.raises(SemanticIndexError, match="other bytes"):
        open_embedder(tmp_path / "data", "other")


def test_a_file_that_changes_while_it_is_copied_is_refused(
    library: type[Library], other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copyfile(_source: Path, target: Path) -> None:
        target.write_bytes(b"changed")

    monkeypatch.setattr(shutil, "copyfile", copyfile)
    with pytest.raises(SemanticIndexError, match="changed while"):
        prepare(tmp_path / "data", tmp_path / "cache", FolderSource(folder=other, name="other"))
    assert library.opened == []


def test_a_hub_model_is_looked_for_in_the_cache_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[dict[str, Any]] = []

    class Constants:
        HF_HUB_OFFLINE = True

    def snapshot_download(name: str, **options: Any) -> str:
        asked.append({"name": name, **options})
        if name == "no/model":
            raise FileNotFoundError(name)
        return str(tmp_path)

    module = ModuleType("huggingface_hub")
    module.constants = Constants  # type: ignore[attr-defined]
    module.snapshot_download = snapshot_download  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert hub_folder("some/model") == tmp_path
    assert asked[0]["local_files_only"] is True
    assert "*.safetensors" in asked[0]["allow_patterns"]
    Constants.HF_HUB_OFFLINE = False
    hub_folder("some/model")
    assert asked[1]["local_files_only"] is False
    with pytest.raises(SemanticIndexError, match="no/model") as refused:
        hub_folder("no/model")
    assert refused.value.code == "MODEL_MISSING"
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(SemanticIndexError) as refused:
        hub_folder("some/model")
    assert refused.value.code == "EXTRA_MISSING"
