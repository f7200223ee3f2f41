"""The shelf: the folder ``models`` in the data directory, one folder a prepared model.

Invariants:

- A model appears whole or not at all: it is written into a hidden folder, synced, and renamed.
- What a killed preparation left is hidden, is never opened, and goes with the next preparation.
- A folder whose name does not carry its manifest's fingerprint is damaged, not a model.
"""

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agentic_os.errors import AgenticOSError, FilesError, SemanticIndexError
from agentic_os.files.publishing import ExclusiveLock, private_folder, publish
from agentic_os.files.reading import Folder
from agentic_os.tiers.embed.manifest import (
    MANIFEST,
    MODEL_MANIFEST_BYTES,
    Manifest,
    ModelFile,
    read_manifest,
    write_manifest,
)

SHELF = "models"
LOCK_WAIT_SECONDS = 600.0
MAX_MODELS_ENTRIES = 1_000

_LOCK = ".lock"
_STAGING = ".staging-"
_READ_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelvedModel:
    """A folder on the shelf: its manifest, or why there is none that can be used."""

    path: Path
    manifest: Manifest | None
    fault: AgenticOSError | None = None


class Shelf:
    """The prepared models of one data directory."""

    __slots__ = ("_folder",)

    def __init__(self, data: Path) -> None:
        """Name the data directory; nothing is made."""
        self._folder = data / SHELF

    def models(self) -> tuple[ShelvedModel, ...]:
        """Every model, by folder name; a folder that is none carries its fault."""
        try:
            with Folder.open(self._folder) as handle:
                entries, _ = handle.entries(limit_entries=MAX_MODELS_ENTRIES)
        except FilesError as fault:
            if fault.code == "FILE_MISSING":
                return ()
            raise
        return tuple(
            self._look(entry.name)
            for entry in entries
            if entry.kind == "folder" and not entry.name.startswith(".")
        )

    def sound(self) -> tuple[tuple[Path, Manifest], ...]:
        """Return the usable models, the most recently prepared first."""
        found = [
            (model.path, model.manifest) for model in self.models() if model.manifest is not None
        ]
        found.sort(key=lambda pair: (pair[1].prepared_at, pair[0].name), reverse=True)
        return tuple(found)

    def verified(
        self, *, origin: str | None = None, name: str | None = None, folder: str | None = None
    ) -> tuple[Path, Manifest] | None:
        """Find the usable model of this origin, name or folder, every file of it verified."""
        for path, manifest in self.sound():
            found = (manifest.origin, manifest.name, manifest.folder)
            wanted = (origin or found[0], name or found[1], folder or found[2])
            if wanted == found and _verifies(path, manifest):
                return path, manifest
        return None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the shelf's writer lock and clear what killed preparations left.

        Raises:
            FilesError: another preparation did not end in time, or the folder is unusable.
        """
        private_folder(self._folder)
        with ExclusiveLock(self._folder / _LOCK, timeout_s=LOCK_WAIT_SECONDS):
            for left in self._folder.glob(f"{_STAGING}*"):
                shutil.rmtree(left, ignore_errors=True)
            yield

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """Make a hidden folder to build in, deleted when the block ends; hold ``writing``."""
        staged = self._folder / f"{_STAGING}{os.getpid()}-{secrets.token_hex(4)}"
        private_folder(staged)
        try:
            yield staged
        finally:
            shutil.rmtree(staged, ignore_errors=True)

    def put(self, staged: Path, manifest: Manifest) -> Path:
        """Publish a staged folder under its manifest's name, replacing a damaged one.

        Raises:
            FilesError: PUBLISH_FAILED; nothing half done is to be seen.
        """
        publish(staged / MANIFEST, write_manifest(manifest))
        final = self._folder / manifest.folder
        aside = staged.with_name(f"{staged.name}-old")
        try:
            for path in (*staged.rglob("*"), staged):
                _sync(path)
            if final.exists():
                final.rename(aside)
            staged.rename(final)
            _sync(self._folder)
        except OSError as fault:
            raise FilesError(
                f"the model {manifest.folder} could not be published: {fault.strerror}",
                code="PUBLISH_FAILED",
            ) from fault
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return final

    def _look(self, name: str) -> ShelvedModel:
        path = self._folder / name
        try:
            manifest = manifest_of(path)
        except AgenticOSError as fault:
            return ShelvedModel(path=path, manifest=None, fault=fault)
        return ShelvedModel(path=path, manifest=manifest)


def manifest_of(path: Path) -> Manifest:
    """Read a model's manifest and check it against the folder's name and file lengths.

    Raises:
        SemanticIndexError: MODEL_DAMAGED.
        FilesError: the manifest could not be read.
    """
    with Folder.open(path) as handle:
        manifest = read_manifest(handle.read(MANIFEST, limit_bytes=MODEL_MANIFEST_BYTES).data)
        if manifest.folder != path.name:
            raise damaged(path.name, "its fingerprint is not the one in its name")
        for file in manifest.files:
            try:
                length = handle.stat(file.path).size
            except FilesError as fault:
                raise damaged(path.name, f"{file.path} is missing") from fault
            if length != file.bytes:
                raise damaged(path.name, f"{file.path} has another length")
    return manifest


def verify(path: Path, manifest: Manifest) -> None:
    """Hash every file of a model against its manifest.

    Raises:
        SemanticIndexError: MODEL_DAMAGED, naming the first file that differs.
    """
    for file in manifest.files:
        if describe(path, file.path).sha256 != file.sha256:
            raise damaged(path.name, f"{file.path} has other bytes")


def describe(folder: Path, relative: str) -> ModelFile:
    """Return the length and hash of one file below ``folder``, read in pieces.

    Raises:
        SemanticIndexError: MODEL_DAMAGED, when it cannot be read.
    """
    digest = hashlib.sha256()
    length = 0
    try:
        with (folder / relative).open("rb") as stream:
            while piece := stream.read(_READ_BYTES):
                digest.update(piece)
                length += len(piece)
    except OSError as fault:
        raise damaged(folder.name, f"{relative} cannot be read") from fault
    return ModelFile(path=relative, bytes=length, sha256=digest.hexdigest())


def damaged(model: str, fault: str) -> SemanticIndexError:
    """Build the error for a model whose files are not what its manifest says."""
    return SemanticIndexError(
        f"the model {model} is damaged: {fault}",
        code="MODEL_DAMAGED",
        hint="Prepare it again: agentic-os model prepare",
    )


def _verifies(path: Path, manifest: Manifest) -> bool:
    try:
        verify(path, manifest)
    except SemanticIndexError:
        return False
    return True


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
