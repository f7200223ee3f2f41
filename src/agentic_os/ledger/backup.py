"""Backup: one archive that another machine can restore and boot.

A gzip-compressed tar of plain files: ``manifest.json`` first (format, head, and the size and
SHA-256 of every other member), then the ledger's whole lines, the identity's envelope,
pinned witness keys, what the witness client keeps, the verified head, and the private keys
ENCRYPTED with the backup's own password, whatever protects them in the folder. Projections and
audit records are not in it: the first is a cache, the second is no identity truth.

Restoring writes into an empty or missing folder only, takes nothing but the members that the
manifest names, at names that a backup can have, and compares every hash before anything
stands under its final name. Whether the ledger verifies is boot's question, there as here.
"""

import io
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Annotated, Final

import msgspec

from agentic_os.crypto import (
    PublicKeyEnvelope,
    encode,
    encode_key,
    read_key,
    sha256_text,
)
from agentic_os.errors import LedgerError, VerificationError
from agentic_os.files.publishing import private_folder
from agentic_os.files.reading import Folder
from agentic_os.ledger.answers import BackupData
from agentic_os.ledger.head import HEAD_NAME
from agentic_os.ledger.layout import (
    ENVELOPE_NAME,
    KEY_SUFFIX,
    KEYS_FOLDER,
    WITNESS_FOLDER,
    WITNESS_KEYS_FOLDER,
)
from agentic_os.ledger.storage import BLOCK_BYTES, LEDGER_NAME, FileStorage
from agentic_os.ledger.verify import verify_storage

BACKUP_FORMAT: Final = "agentic-os-backup/v1"
MANIFEST_NAME: Final = "manifest.json"
MANIFEST_BYTES: Final = 4 * 1024 * 1024
MEMBER_BYTES: Final = 64 * 1024 * 1024
"""Longest member other than the ledger."""
MEMBERS_ENTRIES: Final = 10_000
DEPTH_ENTRIES: Final = 3
PASSWORD_CHARS: Final = 8
"""Shortest password of a backup."""

_NAME: Final = re.compile(
    rf"{re.escape(LEDGER_NAME)}|{re.escape(ENVELOPE_NAME)}|{re.escape(HEAD_NAME)}"
    rf"|{KEYS_FOLDER}/[a-z0-9][a-z0-9-]{{0,63}}{re.escape(KEY_SUFFIX)}"
    rf"|{WITNESS_KEYS_FOLDER}/[A-Za-z0-9][A-Za-z0-9_.-]{{0,127}}"
    rf"|{WITNESS_FOLDER}/(?:[A-Za-z0-9][A-Za-z0-9_.-]{{0,127}}/)?[A-Za-z0-9][A-Za-z0-9_.-]{{0,127}}"
)
_FOLDERS: Final = (WITNESS_KEYS_FOLDER, WITNESS_FOLDER)


class _Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    size: Annotated[int, msgspec.Meta(ge=0)]
    sha256: str


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    origin: str
    lines: int
    head_hash: str
    root_hash: str
    files: Annotated[tuple[_Member, ...], msgspec.Meta(max_length=MEMBERS_ENTRIES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    member: _Member
    data: bytes | None


def write_backup(
    folder: Path,
    archive: Path,
    *,
    password: str,
    key_password: str | None = None,
    witness_keys: Mapping[str, PublicKeyEnvelope] | None = None,
) -> BackupData:
    """Verify the ledger and write everything that is not a cache into a new archive.

    Args:
        folder: the identity's; it may be in use, whole lines are taken.
        archive: a path where nothing stands.
        password: encrypts the private keys in the archive.
        key_password: opens them in the folder, where they have one.
        witness_keys: pinned receipt keys, as verification needs them.

    Raises:
        LedgerError: ``BACKUP_PASSWORD``, ``BACKUP_EXISTS``, ``BACKUP_FAILED``,
            ``LEDGER_MISSING``.
        VerificationError: the ledger's first finding: a damaged ledger is not backed up.
        CryptoError: a key cannot be opened.
    """
    if len(password) < PASSWORD_CHARS:
        raise LedgerError(
            f"a backup's password has at least {PASSWORD_CHARS} characters",
            code="BACKUP_PASSWORD",
        )
    storage = FileStorage.open(folder / LEDGER_NAME)
    try:
        found, chain = verify_storage(storage, witness_keys=witness_keys)
        first = next((one for one in found.findings if one.code != "LEDGER_TAIL_TORN"), None)
        if first is not None:
            raise VerificationError(first.message, code=first.code, hint=first.hint)
        size = storage.size() - found.torn_bytes
        ledger = _Member(name=LEDGER_NAME, size=size, sha256=_hash_of(storage, size))
        items = [_Item(member=ledger, data=None), *_items(folder, password, key_password)]
        manifest = _Manifest(
            format=BACKUP_FORMAT,
            origin=chain.origin,
            lines=chain.size,
            head_hash=chain.head_hash,
            root_hash=chain.root.hex(),
            files=tuple(item.member for item in items),
        )
        _write(archive, manifest, items, storage)
    finally:
        storage.close()
    return _answer(manifest, archive.stat().st_size)


def restore_backup(archive: Path, folder: Path) -> BackupData:
    """Restore an archive into an empty or missing folder.

    Raises:
        LedgerError: ``RESTORE_NOT_EMPTY``, ``BACKUP_INVALID``, ``BACKUP_FAILED``; the folder
            is then as it was.
    """
    if folder.exists() and any(folder.iterdir()):
        raise LedgerError(
            "the folder to restore into is not empty",
            code="RESTORE_NOT_EMPTY",
            hint="Restore into a new folder; boot it before it replaces anything.",
        )
    partial = folder.with_name(f".{folder.name}.restoring-{os.getpid()}")
    try:
        private_folder(partial)
        with tarfile.open(archive, "r:gz") as tar:
            manifest = _extract(tar, partial)
        partial.replace(folder)  # over an empty folder, or where none stands
    except (tarfile.TarError, zlib.error, EOFError):
        raise _invalid("it is damaged") from None
    except OSError as error:
        raise _failed(error) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return _answer(manifest, archive.stat().st_size)


def _items(folder: Path, password: str, key_password: str | None) -> Iterator[_Item]:
    keys = folder / KEYS_FOLDER
    if keys.is_dir():
        for path in sorted(keys.iterdir()):
            if _NAME.fullmatch(f"{KEYS_FOLDER}/{path.name}"):
                key = read_key(path, password=key_password)
                data = encode_key(key, password=password)
                yield _item(f"{KEYS_FOLDER}/{path.name}", data)
    with Folder.open(folder) as opened:
        for name in sorted(_names(opened)):
            yield _item(name, opened.read(name, limit_bytes=MEMBER_BYTES).data)


def _names(opened: Folder) -> Iterator[str]:
    entries, _ = opened.entries(limit_entries=MEMBERS_ENTRIES)
    for entry in entries:
        if entry.kind == "file" and entry.name in {ENVELOPE_NAME, HEAD_NAME}:
            yield entry.name
        if entry.kind == "folder" and entry.name in _FOLDERS:
            yield from _below(opened, entry.name, DEPTH_ENTRIES - 1)


def _below(opened: Folder, relative: str, depth: int) -> Iterator[str]:
    with opened.descend(relative) as inner:
        entries, _ = inner.entries(limit_entries=MEMBERS_ENTRIES)
    for entry in entries:
        name = f"{relative}/{entry.name}"
        if entry.kind == "folder" and depth > 1:
            yield from _below(opened, name, depth - 1)
        elif entry.kind == "file" and _NAME.fullmatch(name):
            yield name


def _item(name: str, data: bytes) -> _Item:
    return _Item(member=_Member(name=name, size=len(data), sha256=sha256_text(data)), data=data)


def _hash_of(storage: FileStorage, size: int) -> str:
    running, at = sha256(), 0
    while at < size:
        block = storage.read(at, min(BLOCK_BYTES, size - at))
        running.update(block)
        at += len(block)
    return f"sha256:{running.hexdigest()}"


def _write(archive: Path, manifest: _Manifest, items: list[_Item], storage: FileStorage) -> None:
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(archive, flags, 0o600)
    except FileExistsError:
        raise LedgerError(f"{archive.name} exists already", code="BACKUP_EXISTS") from None
    except OSError as error:
        raise _failed(error) from None
    try:
        with os.fdopen(handle, "wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz") as tar:
                text = encode(msgspec.to_builtins(manifest))
                tar.addfile(_header(MANIFEST_NAME, len(text)), io.BytesIO(text))
                for item in items:
                    source = (
                        io.BytesIO(item.data)
                        if item.data is not None
                        else _Bytes(storage, item.member.size)
                    )
                    tar.addfile(_header(item.member.name, item.member.size), source)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        archive.unlink(missing_ok=True)
        raise _failed(error) from None


def _header(name: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size = size
    header.mode = 0o600
    return header


class _Bytes(io.RawIOBase):
    """The first bytes of a storage as a file."""

    def __init__(self, storage: FileStorage, size: int) -> None:
        super().__init__()
        self._storage = storage
        self._left = size
        self._at = 0

    def read(self, size: int = -1, /) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        data = self._storage.read(self._at, wanted)
        self._at += len(data)
        self._left -= len(data)
        return data


def _extract(tar: tarfile.TarFile, folder: Path) -> _Manifest:
    first = tar.next()
    if first is None or first.name != MANIFEST_NAME or first.size > MANIFEST_BYTES:
        raise _invalid("it has no manifest")
    try:
        manifest = msgspec.json.decode(_open(tar, first).read(), type=_Manifest)
    except msgspec.MsgspecError as error:
        raise _invalid(str(error)) from None
    if manifest.format != BACKUP_FORMAT:
        raise _invalid("another format")
    wanted = {member.name: member for member in manifest.files}
    if len(wanted) != len(manifest.files) or LEDGER_NAME not in wanted:
        raise _invalid("a name stands twice, or there is no ledger")
    while (header := tar.next()) is not None:
        member = wanted.pop(header.name, None)
        if member is None or not _NAME.fullmatch(header.name) or header.size != member.size:
            raise _invalid("a member that the manifest does not name so")
        if header.name != LEDGER_NAME and member.size > MEMBER_BYTES:
            raise _invalid("a member is too large")
        _place(_open(tar, header), member, folder)
    if wanted:
        raise _invalid("members are missing")
    return manifest


def _open(tar: tarfile.TarFile, header: tarfile.TarInfo) -> IO[bytes]:
    source = tar.extractfile(header) if header.isreg() else None
    if source is None:
        raise _invalid("a member is not a plain file")
    return source


def _place(source: IO[bytes], member: _Member, folder: Path) -> None:
    path = folder / member.name
    private_folder(path.parent)
    running = sha256()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        while block := source.read(BLOCK_BYTES):
            running.update(block)
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    if f"sha256:{running.hexdigest()}" != member.sha256:
        raise _invalid("a member's hash is not the manifest's")


def _answer(manifest: _Manifest, size: int) -> BackupData:
    return BackupData(
        lines=manifest.lines,
        head_hash=manifest.head_hash,
        root_hash=manifest.root_hash,
        origin=manifest.origin,
        files=tuple(member.name for member in manifest.files),
        bytes=size,
    )


def _invalid(why: str) -> LedgerError:
    return LedgerError(f"not a usable backup: {why}", code="BACKUP_INVALID")


def _failed(error: OSError) -> LedgerError:
    return LedgerError(f"the disk refused: {error.strerror}", code="BACKUP_FAILED")
