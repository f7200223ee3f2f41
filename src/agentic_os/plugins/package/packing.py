"""Make a package from a folder: one folder has one package, byte for byte."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agentic_os.plugins.package.archive import PIECE_BYTES, Contents, Member, write_archive
from agentic_os.plugins.package.compressed import Compressor
from agentic_os.plugins.package.layout import check_place

_EXECUTABLE: Final = 0o100


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A file to be packed: a place on disk, or bytes."""

    path: Path = Path()
    data: bytes | None = None
    is_executable: bool = False

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self.path.stat().st_size if self.data is None else len(self.data)

    @property
    def executable(self) -> bool:
        """Whether its owner may run it."""
        if self.data is not None:
            return self.is_executable
        return bool(self.path.stat().st_mode & _EXECUTABLE)

    def pieces(self) -> Contents:
        """Its contents."""
        if self.data is not None:
            yield self.data
            return
        with self.path.open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                yield piece


def sha256_of(packed: Packed) -> str:
    """Return the hex SHA-256 of a file to be packed."""
    whole = hashlib.sha256()
    for piece in packed.pieces():
        whole.update(piece)
    return whole.hexdigest()


def write_package(top: str, files: Mapping[str, Packed], write: Callable[[bytes], object]) -> None:
    """Write a package; ``files`` are named by their paths below the top folder.

    Raises:
        PackageRefusedError: a name or a place that no package has.
    """
    compressor = Compressor(write)
    write_archive(_members(top, files), compressor.write)
    compressor.finish()


def _members(top: str, files: Mapping[str, Packed]) -> Iterator[tuple[Member, Contents]]:
    folders = {
        "/".join(parts[:depth]) for parts in map(_parts, files) for depth in range(1, len(parts))
    }
    yield Member(path=top, is_folder=True), iter(())
    for relative in sorted(folders | files.keys()):
        packed = files.get(relative)
        check_place(relative, is_folder=packed is None)
        path = f"{top}/{relative}"
        if packed is None:
            yield Member(path=path, is_folder=True), iter(())
            continue
        yield (
            Member(path=path, executable=packed.executable, size=packed.size),
            packed.pieces(),
        )


def _parts(path: str) -> list[str]:
    return path.split("/")
