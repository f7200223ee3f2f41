"""How a witness's folder looks to its operator without opening a private key; nothing changes.

A witness with keys and no memory, with a damaged one or with that of other keys does not
serve; one whose manifest has expired serves, and clients that ask for a root refuse its
receipts.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope, read_public_key_envelope
from agentic_os.errors import AgenticOSError, WitnessError
from agentic_os.files.reading import Folder
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.served_key import ServedKey, verify_manifest
from agentic_os.witness.service.keyring import (
    COSIGNER_KEY_FILE,
    DATABASE_FILE,
    MANIFEST_FILE,
    PUBLIC_FILE_BYTES,
    RECEIPT_KEY_FILE,
    RECEIPT_PUBLIC_FILE,
    ROOT_PUBLIC_FILE,
)

RENEW_BEFORE: Final = timedelta(days=90)
"""A manifest that ends within this time is told: the root is kept offline and must be fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessFinding:
    """What is wrong with a witness's folder, and what to do."""

    code: str
    message: str
    hint: str
    is_urgent: bool = True


def witness_health(folder: Path, *, now: datetime) -> tuple[WitnessFinding, ...] | None:
    """Return what is wrong with the witness in a folder, None if no witness lives there.

    Args:
        folder: the witness's.
        now: the moment for which the manifest is looked at.
    """
    if not any((folder / name).exists() for name in (RECEIPT_KEY_FILE, COSIGNER_KEY_FILE)):
        return None
    return tuple(_findings(folder, now))


def _findings(folder: Path, now: datetime) -> Iterator[WitnessFinding]:
    try:
        with Folder.open(folder) as opened:
            parts = {
                name: opened.read(name, limit_bytes=PUBLIC_FILE_BYTES).data
                for name in (RECEIPT_PUBLIC_FILE, MANIFEST_FILE, ROOT_PUBLIC_FILE)
            }
        public = read_public_key_envelope(parts[RECEIPT_PUBLIC_FILE])
        root = read_public_key_envelope(parts[ROOT_PUBLIC_FILE])
    except AgenticOSError as error:
        yield WitnessFinding(
            code=error.code,
            message=f"the witness's public files cannot be read: {error.message}",
            hint="Restore the witness's folder from its newest backup.",
        )
        return
    yield from _memory(folder, public)
    yield from _manifest(ServedKey(public=public, manifest=parts[MANIFEST_FILE]), root, now)


def _memory(folder: Path, public: PublicKeyEnvelope) -> Iterator[WitnessFinding]:
    try:
        _check_memory(folder / DATABASE_FILE, public)
    except WitnessError as error:
        yield WitnessFinding(code=error.code, message=error.message, hint=error.hint)


def _check_memory(path: Path, public: PublicKeyEnvelope) -> None:
    if not path.is_file():
        raise ERRORS.error("DATABASE_MISSING", "there are keys and no memory")
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA query_only=1")
            state = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            owner = connection.execute(
                "SELECT value FROM meta WHERE name = 'receipt_key_sha256'"
            ).fetchone()
    except sqlite3.Error as error:
        state, owner = str(error), None
    if state != "ok":
        raise ERRORS.error("DATABASE_INVALID", f"the memory is damaged: {state}")
    if owner is None or owner[0] != public.sha256:
        raise ERRORS.error("DATABASE_KEYS", "the memory belongs to other keys")


def _manifest(
    served: ServedKey, root: PublicKeyEnvelope, now: datetime
) -> Iterator[WitnessFinding]:
    renew = "Fetch the root and run `agentic-os witness keygen --renew --root DIR`."
    fault = _fault(served, root, now)
    if fault is not None:
        yield WitnessFinding(code=fault.code, message=fault.message, hint=renew)
    elif _fault(served, root, now + RENEW_BEFORE) is not None:
        yield WitnessFinding(
            code="MANIFEST_ENDS",
            message=f"the manifest ends within {RENEW_BEFORE.days} days",
            hint=renew,
            is_urgent=False,
        )


def _fault(served: ServedKey, root: PublicKeyEnvelope, at: datetime) -> AgenticOSError | None:
    try:
        verify_manifest(served, root=root, at=at)
    except AgenticOSError as error:
        return error
    return None
