"""Restoring a backup: into an empty or missing folder, and nothing but what was backed up.

Members are taken only as the manifest names them, at names that a backup can have, as plain
files; every hash is compared before anything stands under its final name. Whether the ledger
verifies is boot's question, there as here.
"""

import os
import tarfile
import zlib
from hashlib import sha256
from pathlib import Path
from typing import IO

from agentic_os.errors import FilesError, LedgerError
from agentic_os.files.publishing import private_folder
from agentic_os.files.unfinished import folder_made_whole
from agentic_os.ledger.answers import BackupData
from agentic_os.ledger.backup.manifest import (
    BACKUP_FORMAT,
    MANIFEST_BYTES,
    MANIFEST_NAME,
    MEMBER_BYTES,
    MEMBER_NAME,
    Manifest,
    Member,
    answer_of,
    backup_failed,
    backup_invalid,
)
from agentic_os.ledger.file.storage import BLOCK_BYTES, LEDGER_NAME
from agentic_os.text.shapes import read_shape


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
    try:
        with folder_made_whole(folder) as unfinished:
            manifest = _opened(archive, unfinished)
    except FilesError as error:
        raise LedgerError(error.message, code="BACKUP_FAILED", hint=error.hint) from None
    return answer_of(manifest, archive.stat().st_size)


def _opened(archive: Path, folder: Path) -> Manifest:
    try:
        with tarfile.open(archive, "r:gz") as tar:
            return _extract(tar, folder)
    except (tarfile.TarError, zlib.error, EOFError):
        raise backup_invalid("it is damaged") from None
    except OSError as error:
        raise backup_failed(error) from None


def _extract(tar: tarfile.TarFile, folder: Path) -> Manifest:
    first = tar.next()
    if first is None or first.name != MANIFEST_NAME or first.size > MANIFEST_BYTES:
        raise backup_invalid("it has no manifest")
    try:
        manifest = read_shape(_open(tar, first).read(), Manifest)
    except ValueError as error:
        raise backup_invalid(str(error)) from None
    if manifest.format != BACKUP_FORMAT:
        raise backup_invalid("another format")
    wanted = {member.name: member for member in manifest.files}
    if len(wanted) != len(manifest.files) or LEDGER_NAME not in wanted:
        raise backup_invalid("a name stands twice, or there is no ledger")
    while (header := tar.next()) is not None:
        member = wanted.pop(header.name, None)
        if member is None or not MEMBER_NAME.fullmatch(header.name) or header.size != member.size:
            raise backup_invalid("a member that the manifest does not name so")
        if header.name != LEDGER_NAME and member.size > MEMBER_BYTES:
            raise backup_invalid("a member is too large")
        _place(_open(tar, header), member, folder)
    if wanted:
        raise backup_invalid("members are missing")
    return manifest


def _open(tar: tarfile.TarFile, header: tarfile.TarInfo) -> IO[bytes]:
    source = tar.extractfile(header) if header.isreg() else None
    if source is None:
        raise backup_invalid("a member is not a plain file")
    return source


def _place(source: IO[bytes], member: Member, folder: Path) -> None:
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
        raise backup_invalid("a member's hash is not the manifest's")
