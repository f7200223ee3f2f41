import shutil
from pathlib import Path

import pytest

from agentic_os.tiers.embed.listing import list_models, prepared_answer
from agentic_os.tiers.embed.prepare.request import Prepared


@pytest.fixture
def data(tmp_path: Path, shared: Prepared) -> Path:
    shutil.copytree(shared.path, tmp_path / "data/models" / shared.path.name)
    return tmp_path / "data"


def test_an_empty_shelf(tmp_path: Path) -> None:
    assert list_models(tmp_path).data.models == ()


def test_a_model_is_described_and_the_chosen_one_marked(data: Path, shared: Prepared) -> None:
    (view,) = list_models(data, choice="tiny").data.models
    assert (view.name, view.state, view.selected, view.verified) == ("tiny", "sound", True, False)
    assert view.fingerprint == shared.manifest.fingerprint
    assert (view.folder, view.bytes) == (shared.path.name, shared.manifest.total_bytes)
    assert view.licence is None
    (other,) = list_models(data, hashed=True).data.models
    assert (other.selected, other.verified) == (False, True)


def test_damage_is_a_warning(data: Path, shared: Prepared) -> None:
    path = data / "models" / shared.path.name / "model.onnx"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert list_models(data).data.models[0].state == "sound"
    answer = list_models(data, hashed=True)
    (view,) = answer.data.models
    assert (view.state, view.name, view.verified) == ("damaged", None, False)
    assert [item.code for item in answer.warnings] == ["MODEL_DAMAGED"]
    path.unlink()
    answer = list_models(data)
    assert answer.data.models[0].state == "damaged"
    assert "model.onnx is missing" in answer.warnings[0].message


def test_what_prepare_says(data: Path, shared: Prepared) -> None:
    answer = prepared_answer(data, shared)
    assert answer.data.already is False
    assert answer.data.model.folder == shared.path.name
    assert answer.data.model.selected is False  # another model is the default
