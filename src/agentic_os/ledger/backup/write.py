"""Backup: one archive that another machine can restore and boot.

A gzip-compressed tar of plain files: ``manifest.json`` first (format, head, and the size and
SHA-256 of every other member), then the ledger's whole lines, the identity's envelope,
pinned witness keys, what the witness client keeps, the verified head, and the private keys
ENCRYPTED with the backup's own password, whatever protects them in the folder. Projections and
audit records are not in it: the first is a cache, the second is no identity truth.

``backup_restore.py`` is the way back.
"""

import io
import os
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from agentic_os.crypto.canonical.json import encode
from agentic_os.crypto.canonical.texts import sha256_text
from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope
from agentic_os.crypto.keys.files import encode_key, read_key
from agentic_os.crypto.keys.password import CARRIED
from agentic_os.errors import LedgerError, VerificationError
from agentic_os.files.reading import Folder
from agentic_os.ledger.answers import BackupData
from agentic_os.ledger.backup.manifest import (
    ARCHIVE_MEMBERS,
    BACKUP_FORMAT,
    MANIFEST_NAME,
    MEMBER_BYTES,
    MEMBER_NAME,
    Manifest,
    Member,
    answer_of,
    backup_failed,
)
from agentic_os.ledger.file.head import HEAD_NAME
from agentic_os.ledger.file.storage import BLOCK_BYTES, LEDGER_NAME, FileStorage
from agentic_os.ledger.file.verify import verify_storage
from agentic_os.ledger.layout import (
    ENVELOPE_NAME,
    KEYS_FOLDER,
    WITNESS_FOLDER,
    WITNESS_KEYS_FOLDER,
)

DEPTH_LEVELS: Final = 3
PASSWORD_CHARS: Final = 8
"""Shortest password of a backup."""

_FOLDERS: Final = (WITNESS_KEYS_FOLDER, WITNESS_FOLDER)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    member: Member
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
        ledger = Member(name=LEDGER_NAME, size=size, sha256=_hash_of(storage, size))
        items = [_Item(member=ledger, data=None), *_items(folder, password, key_password)]
        manifest = Manifest(
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
    return answer_of(manifest, archive.stat().st_size)


def _items(folder: Path, password: str, key_password: str | None) -> Iterator[_Item]:
    keys = folder / KEYS_FOLDER
    if keys.is_dir():
        for path in sorted(keys.iterdir()):
            if MEMBER_NAME.fullmatch(f"{KEYS_FOLDER}/{path.name}"):
                key = read_key(path, password=key_password)
                data = encode_key(key, password=password, cost=CARRIED)
                yield _item(f"{KEYS_FOLDER}/{path.name}", data)
    with Folder.open(folder) as opened:
        for name in sorted(_names(opened)):
            yield _item(name, opened.read(name, limit_bytes=MEMBER_BYTES).data)


def _names(opened: Folder) -> Iterator[str]:
    entries, _ = opened.entries(limit_entries=ARCHIVE_MEMBERS)
    for entry in entries:
        if entry.kind == "file" and entry.name in {ENVELOPE_NAME, HEAD_NAME}:
            yield entry.name
        if entry.kind == "folder" and entry.name in _FOLDERS:
            yield from _below(opened, entry.name, DEPTH_LEVELS - 1)


def _below(opened: Folder, relative: str, depth: int) -> Iterator[str]:
    with opened.descend(relative) as inner:
        entries, _ = inner.entries(limit_entries=ARCHIVE_MEMBERS)
    for entry in entries:
        name = f"{relative}/{entry.name}"
        if entry.kind == "folder" and depth > 1:
            yield from _below(opened, name, depth - 1)
        elif entry.kind == "file" and MEMBER_NAME.fullmatch(name):
            yield name


def _item(name: str, data: bytes) -> _Item:
    return _Item(member=Member(name=name, size=len(data), sha256=sha256_text(data)), data=data)


def _hash_of(storage: FileStorage, size: int) -> str:
    running, at = sha256(), 0
    while at < size:
        block = storage.read(at, min(BLOCK_BYTES, size - at))
        running.update(block)
        at += len(block)
    return f"sha256:{running.hexdigest()}"


def _write(archive: Path, manifest: Manifest, items: list[_Item], storage: FileStorage) -> None:
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(archive, flags, 0o600)
    except FileExistsError:
        raise LedgerError(f"{archive.name} exists already", code="BACKUP_EXISTS") from None
    except OSError as error:
        raise backup_failed(error) from None
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
        raise backup_failed(error) from None


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
