"""A package as read: hashes of all of it, and the texts that decide about it.

Reading extracts nothing: contents are hashed as they pass, so a package costs the memory of its
JSON members, whatever its size. What is installed is read a second time, against these hashes.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import BinaryIO, Final

from agentic_os.crypto.canonical.texts import SHA256_PREFIX
from agentic_os.plugins.codes import ERRORS
from agentic_os.plugins.package.archive import Contents, Member, read_archive
from agentic_os.plugins.package.compressed import Decompressor
from agentic_os.plugins.package.layout import (
    INSTALL_ROOT,
    MANIFEST_PATH,
    SIGNATURES,
    check_place,
    is_kept,
)

PACKED_BYTES: Final = 64 * 1024 * 1024
"""A larger package is not installed; the format itself allows 2 GiB of contents."""
TEXT_BYTES: Final = 1024 * 1024
_MAGIC_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagedFile:
    """A file of the install root; ``sha256`` is bare hex, ``magic`` its first eight bytes."""

    path: str
    size: int
    sha256: str
    executable: bool
    magic: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """What a package holds. Nothing about it is believed yet.

    Attributes:
        top: the name of its one folder, ``<id>-<version>``.
        manifest: the bytes of ``manifest.json``.
        files: the files of the install root in byte order of their paths.
        texts: the JSON files of the install root by path.
        trust: the trust objects by file name; an empty one counts as present.
        others: what no hash covers.
    """

    top: str
    manifest: bytes
    files: tuple[PackagedFile, ...]
    texts: Mapping[str, bytes]
    trust: Mapping[str, bytes]
    others: tuple[str, ...]

    @property
    def package_hash(self) -> str:
        """``sha256:`` name of the install root: paths and contents, not modes."""
        return hash_of_files({file.path: file.sha256 for file in self.files})


def hash_of_files(sums: Mapping[str, str]) -> str:
    r"""Return the package hash of files given as path and hex SHA-256.

    >>> from agentic_os.crypto.canonical.texts import sha256_hex
    >>> hash_of_files({"a-c": sha256_hex(b"2"), "a.d": sha256_hex(b"3"), "a/b": sha256_hex(b"1")})
    'sha256:bb94d34acbe008a1697bd845a92a83d38fd91be8a151aa5bb5c9b07a0b05f6d4'
    """
    whole = hashlib.sha256()
    for path in sorted(sums):
        whole.update(f"{path}\0{sums[path]}\n".encode("ascii"))
    return SHA256_PREFIX + whole.hexdigest()


def members_of(
    file: BinaryIO, *, limit_bytes: int = PACKED_BYTES
) -> Iterator[tuple[str, Member, Contents]]:
    """Yield each member with its path below the top folder; the top folder itself as ``""``.

    Raises:
        PackageRefusedError: the package is malformed; possibly only at the end.
    """
    top = ""
    for member, contents in read_archive(Decompressor(file, limit_bytes=limit_bytes)):
        if not top:
            if not member.is_folder or "/" in member.path:
                raise ERRORS.error("PLUGIN_ENVELOPE_MALFORMED", "no top folder stands first")
            top = member.path
            yield "", member, contents
            continue
        folder, _, relative = member.path.partition("/")
        if folder != top:
            raise ERRORS.error("PLUGIN_ENVELOPE_MALFORMED", "more than one top folder")
        check_place(relative, is_folder=member.is_folder)
        yield relative, member, contents


def read_package(file: BinaryIO, *, limit_bytes: int = PACKED_BYTES) -> Package:
    """Read a whole package strictly.

    Raises:
        PackageRefusedError: ``PLUGIN_ENVELOPE_MALFORMED``, ``PLUGIN_MEMBER_ORDER_VIOLATION``,
            ``PLUGIN_CEILING_EXCEEDED``.
    """
    top = ""
    kept: dict[str, bytes] = {}
    files: list[PackagedFile] = []
    others: list[str] = []
    for relative, member, contents in members_of(file, limit_bytes=limit_bytes):
        if not relative:
            top = member.path
        if member.is_folder:
            continue
        if is_kept(relative):
            kept[relative] = text_of(relative, member, contents)
        folder, _, path = relative.partition("/")
        if folder == INSTALL_ROOT:
            pieces = iter((kept[relative],)) if relative in kept else contents
            files.append(_hashed(path, member, pieces))
        elif folder not in {SIGNATURES, MANIFEST_PATH}:
            others.append(relative)
    if not files or MANIFEST_PATH not in kept:
        raise ERRORS.error("PLUGIN_ENVELOPE_MALFORMED", "it has no manifest, or nothing to install")
    return Package(
        top=top,
        manifest=kept[MANIFEST_PATH],
        files=tuple(files),
        texts=_below(INSTALL_ROOT, kept),
        trust=_below(SIGNATURES, kept),
        others=tuple(others),
    )


def text_of(relative: str, member: Member, contents: Contents) -> bytes:
    """Return the whole of a small file.

    Raises:
        PackageRefusedError: ``PLUGIN_CEILING_EXCEEDED``.
    """
    if member.size > TEXT_BYTES:
        raise ERRORS.error("PLUGIN_CEILING_EXCEEDED", f"{relative} has more than 1 MiB")
    return b"".join(contents)


def _below(folder: str, kept: Mapping[str, bytes]) -> Mapping[str, bytes]:
    return MappingProxyType(
        {
            path.removeprefix(f"{folder}/"): text
            for path, text in kept.items()
            if path.startswith(f"{folder}/")
        }
    )


def _hashed(path: str, member: Member, contents: Contents) -> PackagedFile:
    whole = hashlib.sha256()
    magic = b""
    for piece in contents:
        magic = magic or piece[:_MAGIC_BYTES]
        whole.update(piece)
    return PackagedFile(
        path=path,
        size=member.size,
        sha256=whole.hexdigest(),
        executable=member.executable,
        magic=magic,
    )
