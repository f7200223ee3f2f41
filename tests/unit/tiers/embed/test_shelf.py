import shutil
import threading
from pathlib import Path

import pytest

from agentic_os.errors import FilesError, SemanticIndexError
from agentic_os.tiers.embed import shelf as shelf_module
from agentic_os.tiers.embed.manifest import Manifest
from agentic_os.tiers.embed.prepare.request import Prepared
from agentic_os.tiers.embed.shelf import Shelf, describe, manifest_of, verify


@pytest.fixture
def data(tmp_path: Path, shared: Prepared) -> Path:
    """A data directory with a copy of the tiny model on its shelf."""
    shutil.copytree(shared.path, tmp_path / "data/models" / shared.path.name)
    return tmp_path / "data"


def only(data: Path) -> Path:
    return next(Path(data / "models").glob("tiny-*"))


def test_a_shelf_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert Shelf(tmp_path).models() == ()
    assert Shelf(tmp_path).sound() == ()
    assert not (tmp_path / "models").exists()


def test_a_shelf_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file")
    with pytest.raises(FilesError) as refused:
        Shelf(tmp_path).models()
    assert refused.value.code == "NOT_A_FOLDER"


def test_models_are_listed_with_their_manifests(data: Path, shared: Prepared) -> None:
    (data / "models/.staging-1-x").mkdir()
    (data / "models/note.txt").write_text("x")
    (model,) = Shelf(data).models()
    assert (model.manifest, model.fault) == (shared.manifest, None)
    verify(model.path, shared.manifest)


def spoil_manifest(model: Path) -> None:
    (model / "model.json").write_text("{}")


def lose_manifest(model: Path) -> None:
    (model / "model.json").unlink()


def lose_file(model: Path) -> None:
    (model / "model.onnx").unlink()


def grow_file(model: Path) -> None:
    with (model / "model.onnx").open("ab") as stream:
        stream.write(b"x")


def rename(model: Path) -> None:
    model.rename(model.with_name("tiny-000000000000"))


@pytest.mark.parametrize("damage", [spoil_manifest, lose_manifest, lose_file, grow_file, rename])
def test_a_damaged_model_is_listed_with_its_fault_and_not_sound(
    data: Path, damage: "object"
) -> None:
    assert callable(damage)
    damage(only(data))
    (model,) = Shelf(data).models()
    assert model.manifest is None
    assert model.fault is not None
    assert model.fault.code in {"MODEL_DAMAGED", "FILE_MISSING"}
    assert Shelf(data).sound() == ()


def test_changed_bytes_of_the_same_length_are_found_by_hashing(
    data: Path, shared: Prepared
) -> None:
    path = only(data) / "tokenizer.json"
    text = path.read_bytes()
    path.write_bytes(bytes([text[0] ^ 1]) + text[1:])
    assert manifest_of(only(data)) == shared.manifest
    with pytest.raises(SemanticIndexError, match=r"tokenizer\.json has other bytes"):
        verify(only(data), shared.manifest)


def test_a_file_that_cannot_be_read_is_damage(tmp_path: Path) -> None:
    with pytest.raises(SemanticIndexError, match="cannot be read"):
        describe(tmp_path, "absent")


def test_what_a_killed_preparation_left_goes_with_the_next(data: Path) -> None:
    left = data / "models/.staging-99999-dead"
    left.mkdir()
    (left / "model.onnx").write_bytes(b"half")
    with Shelf(data).writing():
        assert not left.exists()
    assert only(data).exists()


def test_a_staged_folder_is_private_and_gone_afterwards(data: Path) -> None:
    shelf = Shelf(data)
    with shelf.writing(), shelf.staging() as staged:
        assert staged.stat().st_mode & 0o777 == 0o700
        assert len(shelf.models()) == 1
    assert not staged.exists()


def staged_copy(staged: Path, shared: Prepared) -> Manifest:
    for file in shared.manifest.files:
        shutil.copy(shared.path / file.path, staged / file.path)
    return shared.manifest


def test_a_damaged_model_is_replaced(data: Path, shared: Prepared) -> None:
    lose_file(only(data))
    shelf = Shelf(data)
    with shelf.writing(), shelf.staging() as staged:
        final = shelf.put(staged, staged_copy(staged, shared))
    assert final == only(data)
    assert manifest_of(final) == shared.manifest
    assert [path.name for path in (data / "models").iterdir() if path.is_dir()] == [final.name]


def test_a_rename_that_fails_leaves_nothing_half(
    tmp_path: Path, shared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf(tmp_path)

    def full(_path: Path) -> None:
        raise OSError(28, "No space left on device")

    with shelf.writing(), shelf.staging() as staged:
        manifest = staged_copy(staged, shared)
        monkeypatch.setattr(shelf_module, "_sync", full)
        with pytest.raises(FilesError, match="No space") as refused:
            shelf.put(staged, manifest)
    assert refused.value.code == "PUBLISH_FAILED"
    assert shelf.models() == ()


def test_one_preparation_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(tmp_path)
    order: list[str] = []

    def second() -> None:
        with shelf.writing():
            order.append("second")

    with shelf.writing():
        thread = threading.Thread(target=second)
        thread.start()
        order.append("first")
    thread.join(30)
    assert order == ["first", "second"]
    monkeypatch.setattr(shelf_module, "LOCK_WAIT_SECONDS", 0.01)
    with (
        shelf.writing(),
        pytest.raises(FilesError, match="held by process"),
        Shelf(tmp_path).writing(),
    ):
        pass
