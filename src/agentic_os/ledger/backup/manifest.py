"""What a backup archive is: its manifest, the names that its members can have, its bounds."""

import re
from typing import Annotated, Final

import msgspec

from agentic_os.errors import LedgerError
from agentic_os.ledger.answers import BackupData
from agentic_os.ledger.file.head import HEAD_NAME
from agentic_os.ledger.file.storage import LEDGER_NAME
from agentic_os.ledger.layout import (
    ENVELOPE_NAME,
    KEY_SUFFIX,
    KEYS_FOLDER,
    WITNESS_FOLDER,
    WITNESS_KEYS_FOLDER,
)

BACKUP_FORMAT: Final = "agentic-os-backup/v1"
MANIFEST_NAME: Final = "manifest.json"
MANIFEST_BYTES: Final = 4 * 1024 * 1024
MEMBER_BYTES: Final = 64 * 1024 * 1024
"""Longest member other than the ledger."""
ARCHIVE_MEMBERS: Final = 10_000

MEMBER_NAME: Final = re.compile(
    rf"{re.escape(LEDGER_NAME)}|{re.escape(ENVELOPE_NAME)}|{re.escape(HEAD_NAME)}"
    rf"|{KEYS_FOLDER}/[a-z0-9][a-z0-9-]{{0,63}}{re.escape(KEY_SUFFIX)}"
    rf"|{WITNESS_KEYS_FOLDER}/[A-Za-z0-9][A-Za-z0-9_.-]{{0,127}}"
    rf"|{WITNESS_FOLDER}/(?:[A-Za-z0-9][A-Za-z0-9_.-]{{0,127}}/)?[A-Za-z0-9][A-Za-z0-9_.-]{{0,127}}"
)


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One member: its name, its size in bytes, the ``sha256:`` name of its bytes."""

    name: str
    size: Annotated[int, msgspec.Meta(ge=0)]
    sha256: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first member: what the ledger was, and every other member."""

    format: str
    origin: str
    lines: int
    head_hash: str
    root_hash: str
    files: Annotated[tuple[Member, ...], msgspec.Meta(max_length=ARCHIVE_MEMBERS)]


def answer_of(manifest: Manifest, size: int) -> BackupData:
    """Make the answer of a backup and of its restoration; ``size`` is the archive's in bytes."""
    return BackupData(
        lines=manifest.lines,
        head_hash=manifest.head_hash,
        root_hash=manifest.root_hash,
        origin=manifest.origin,
        files=tuple(member.name for member in manifest.files),
        bytes=size,
    )


def backup_invalid(why: str) -> LedgerError:
    """Make the refusal of an archive."""
    return LedgerError(f"not a usable backup: {why}", code="BACKUP_INVALID")


def backup_failed(error: OSError) -> LedgerError:
    """Make the error that says that the disk refused."""
    return LedgerError(f"the disk refused: {error.strerror}", code="BACKUP_FAILED")
