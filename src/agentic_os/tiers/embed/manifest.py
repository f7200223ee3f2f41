"""``model.json``: what a prepared model is, where it came from, and the hashes of its files.

The manifest stands in the model's folder and is published with it. It is read strictly: a
missing field, a wrong type or an unsafe file name refuses the model.
"""

import re
from dataclasses import dataclass
from typing import Literal

from agentic_os.errors import SemanticIndexError
from agentic_os.tiers.embed.interface import SHORT_FINGERPRINT_CHARS, Recipe

Backend = Literal["onnx", "sentence-transformers"]
SourceKind = Literal["hub", "package", "folder"]

MANIFEST = "model.json"
MANIFEST_SCHEMA = "agentic-os/model/v1"
MODEL_MANIFEST_BYTES = 1024 * 1024
MAX_DIMENSION = 16_384
MAX_WINDOW_TOKENS = 1_000_000
MAX_FILES_ENTRIES = 1_000

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(?:/[A-Za-z0-9_][A-Za-z0-9._-]*){0,3}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """One file of a model: its path below the folder, its length and SHA-256 (hex)."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A prepared model.

    ``origin`` names the exact bytes and the rule it was made from, so that preparing the same
    thing twice can be told; ``prepared_at`` is UTC, RFC 3339.
    """

    name: str
    backend: Backend
    dimension: int
    recipe: Recipe
    source: SourceKind
    origin: str
    licence: str
    prepared_at: str
    files: tuple[ModelFile, ...]
    schema: str = MANIFEST_SCHEMA

    @property
    def fingerprint(self) -> str:
        """The recipe's fingerprint."""
        return self.recipe.fingerprint

    @property
    def folder(self) -> str:
        """The name of the model's folder on the shelf."""
        return f"{self.name}-{self.fingerprint[:SHORT_FINGERPRINT_CHARS]}"

    @property
    def total_bytes(self) -> int:
        """Length of all files together."""
        return sum(file.bytes for file in self.files)


def is_model_name(name: str) -> bool:
    """Return whether ``name`` can name a model: letters, digits and inner ``._-``, at most 64."""
    return _NAME.fullmatch(name) is not None


def is_file_path(path: str) -> bool:
    """Return whether ``path`` can be a model's file: relative, POSIX, without dots that climb."""
    return _FILE.fullmatch(path) is not None and path != MANIFEST


def write_manifest(manifest: Manifest) -> bytes:
    """Return the bytes of ``model.json``, readable and ending in a newline."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def read_manifest(data: bytes) -> Manifest:
    """Read ``model.json``.

    Raises:
        SemanticIndexError: MODEL_DAMAGED, for anything but a whole, sound manifest.
    """
    import msgspec

    try:
        found = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise _damaged("is not a manifest") from fault
    _require_sound(found)
    return found


def _require_sound(found: Manifest) -> None:
    recipe = found.recipe
    paths = [file.path for file in found.files]
    checks = (
        (found.schema == MANIFEST_SCHEMA, "is of another version"),
        (is_model_name(found.name), "has no usable name"),
        (0 < found.dimension <= MAX_DIMENSION, "has no usable dimension"),
        (0 < recipe.max_tokens <= MAX_WINDOW_TOKENS, "has no usable window"),
        (0 < len(paths) <= MAX_FILES_ENTRIES, "lists no files, or too many"),
        (len(set(paths)) == len(paths), "lists a file twice"),
        (all(map(is_file_path, paths)), "lists a file outside its folder"),
        (all(file.bytes >= 0 for file in found.files), "lists a negative length"),
        (
            all(
                _SHA256.fullmatch(digest) is not None
                for digest in (
                    recipe.weights_sha256,
                    recipe.tokenizer_sha256,
                    *(file.sha256 for file in found.files),
                )
            ),
            "holds something that is not a SHA-256",
        ),
    )
    for sound, fault in checks:
        if not sound:
            raise _damaged(fault)


def _damaged(fault: str) -> SemanticIndexError:
    return SemanticIndexError(
        f"the model's {MANIFEST} {fault}",
        code="MODEL_DAMAGED",
        hint="Prepare the model again: agentic-os model prepare",
    )
