import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.interface import Recipe
from agentic_os.tiers.embed.manifest import (
    Manifest,
    ModelFile,
    is_file_path,
    is_model_name,
    read_manifest,
    write_manifest,
)

HASH = "0123456789abcdef" * 4
MANIFEST = Manifest(
    name="tiny",
    backend="onnx",
    dimension=32,
    recipe=Recipe(
        weights_sha256=HASH,
        tokenizer_sha256=HASH,
        pooling="mean",
        normalize=True,
        max_tokens=24,
    ),
    source="folder",
    origin="folder:x",
    licence="",
    prepared_at="2026-01-02T03:04:05Z",
    files=(
        ModelFile(path="model.onnx", bytes=3, sha256=HASH),
        ModelFile(path="1_Pooling/config.json", bytes=4, sha256=HASH),
    ),
)


def test_what_is_written_is_read_again() -> None:
    data = write_manifest(MANIFEST)
    assert read_manifest(data) == MANIFEST
    assert data.endswith(b"}\n")
    assert MANIFEST.total_bytes == 7
    assert MANIFEST.folder == f"tiny-{MANIFEST.fingerprint[:12]}"


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        (replace(MANIFEST, schema="agentic-os/model/v9"), "another version"),
        (replace(MANIFEST, name="../up"), "no usable name"),
        (replace(MANIFEST, dimension=0), "no usable dimension"),
        (replace(MANIFEST, dimension=10**9), "no usable dimension"),
        (replace(MANIFEST, recipe=replace(MANIFEST.recipe, max_tokens=0)), "no usable window"),
        (replace(MANIFEST, files=()), "no files"),
        (replace(MANIFEST, files=MANIFEST.files[:1] * 2), "a file twice"),
        (
            replace(MANIFEST, files=(ModelFile(path="../x", bytes=1, sha256=HASH),)),
            "outside its folder",
        ),
        (
            replace(MANIFEST, files=(ModelFile(path="x", bytes=-1, sha256=HASH),)),
            "negative length",
        ),
        (replace(MANIFEST, files=(ModelFile(path="x", bytes=1, sha256="A"),)), "not a SHA-256"),
        (
            replace(MANIFEST, recipe=replace(MANIFEST.recipe, weights_sha256="")),
            "not a SHA-256",
        ),
    ],
)
def test_an_unsound_manifest_is_refused(changed: Manifest, fault: str) -> None:
    with pytest.raises(SemanticIndexError, match=fault) as refused:
        read_manifest(write_manifest(changed))
    assert refused.value.code == "MODEL_DAMAGED"
    assert "prepare" in refused.value.hint


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"{}", b"[" * 100_000])
def test_what_is_no_manifest_is_refused(data: bytes) -> None:
    with pytest.raises(SemanticIndexError, match="is not a manifest"):
        read_manifest(data)


def test_a_wrong_type_is_refused() -> None:
    value = json.loads(write_manifest(MANIFEST))
    value["dimension"] = "32"
    with pytest.raises(SemanticIndexError):
        read_manifest(json.dumps(value).encode())


@given(st.binary(max_size=200))
def test_bytes_never_break_the_reader(data: bytes) -> None:
    with pytest.raises(SemanticIndexError):
        read_manifest(data)


@pytest.mark.parametrize("name", ["a", "all-MiniLM-L6-v2", "x" * 64, "a.b_c"])
def test_names_that_can_be_used(name: str) -> None:
    assert is_model_name(name)


@pytest.mark.parametrize("name", ["", ".", "..", "-a", "a/b", "x" * 65, "a b", "ä", "a\n"])
def test_names_that_cannot(name: str) -> None:
    assert not is_model_name(name)


@pytest.mark.parametrize("path", ["model.onnx", "1_Pooling/config.json", "a/b/c/d"])
def test_paths_that_can_be_used(path: str) -> None:
    assert is_file_path(path)


@pytest.mark.parametrize(
    "path", ["", "/etc", "../x", "a/../b", "a//b", ".hidden", "a/.git", "a/b/c/d/e", "model.json"]
)
def test_paths_that_cannot(path: str) -> None:
    assert not is_file_path(path)
