import shutil
from pathlib import Path

import pytest

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed import sentence_transformers as reference
from agentic_os.tiers.embed.onnx import OnnxEmbedder
from agentic_os.tiers.embed.prepare.request import Prepared
from agentic_os.tiers.embed.selection import DEFAULT_MODEL, find_model, open_embedder


@pytest.fixture
def data(tmp_path: Path, shared: Prepared) -> Path:
    shutil.copytree(shared.path, tmp_path / "data/models" / shared.path.name)
    return tmp_path / "data"


def test_a_model_is_found_by_name_and_by_folder(data: Path, shared: Prepared) -> None:
    for choice in ("tiny", shared.path.name):
        found = find_model(data, choice)
        assert found is not None
        assert found[1] == shared.manifest
        embedder = open_embedder(data, choice, threads=1)
        assert isinstance(embedder, OnnxEmbedder)
        assert embedder.fingerprint == shared.manifest.fingerprint


def test_nothing_prepared_says_how_to(tmp_path: Path) -> None:
    assert find_model(tmp_path) is None
    for choice in (None, DEFAULT_MODEL):
        with pytest.raises(SemanticIndexError, match="no embedding model is prepared") as refused:
            open_embedder(tmp_path, choice)
        assert (refused.value.code, "model prepare" in refused.value.hint) == (
            "MODEL_MISSING",
            True,
        )


@pytest.mark.parametrize(
    ("choice", "hint"), [("tinny", "Did you mean 'tiny'?"), ("quite-other", "model list")]
)
def test_an_unknown_name_gets_a_hint(data: Path, choice: str, hint: str) -> None:
    with pytest.raises(SemanticIndexError, match=choice) as refused:
        open_embedder(data, choice)
    assert hint in refused.value.hint


def test_a_folder_and_a_hub_name_go_to_the_reference_backend(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[Path, str]] = []

    def open_reference(folder: Path, name: str) -> None:
        opened.append((folder, name))

    monkeypatch.setattr(reference, "open_reference", open_reference)
    monkeypatch.setattr(reference, "hub_folder", lambda name: Path("/hub") / name)
    open_embedder(data, str(tmp_path))
    open_embedder(data, "some-one/model.v2")
    assert opened == [
        (tmp_path, tmp_path.name),
        (Path("/hub/some-one/model.v2"), "some-one/model.v2"),
    ]


@pytest.mark.parametrize("choice", ["/no/such/folder", "a/b/c", "../x"])
def test_what_is_neither_folder_nor_hub_name_is_missing(tmp_path: Path, choice: str) -> None:
    with pytest.raises(SemanticIndexError) as refused:
        open_embedder(tmp_path, choice)
    assert refused.value.code == "MODEL_MISSING"


def test_the_two_defaults_are_one() -> None:
    from agentic_os.tiers.embed.prepare import sources

    names = (sources.HubSource().model.name, sources.PackageSource().package.name)
    assert names == (DEFAULT_MODEL, DEFAULT_MODEL)
