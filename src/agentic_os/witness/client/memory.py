"""What a client keeps about each witness, so that a witness that went back is noticed.

One folder a witness, named by the SHA-256 of its cosignature key: ``state.json`` (the newest
point that the witness acknowledged), ``keys.json`` (its
pinned receipt key and manifest), ``receipts.jsonl`` (every receipt, for people and auditors).
The state is on disk before the outcome is reported.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope, read_public_key_envelope
from agentic_os.crypto.tlog.note_keys import NoteKey
from agentic_os.errors import AgenticOSError, CryptoError, FilesError
from agentic_os.files.handles import open_regular
from agentic_os.files.publishing import private_folder, publish
from agentic_os.files.reading import Folder
from agentic_os.text.shapes import read_shape
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.served_key import ServedKey

STATE_FILE: Final = "state.json"
KEYS_FILE: Final = "keys.json"
RECEIPTS_FILE: Final = "receipts.jsonl"
FILE_BYTES: Final = 1024 * 1024
RECEIPTS_BYTES: Final = 1024 * 1024
"""How much of the receipts is read at once; more than a hundred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A place in a ledger: seq, bare hex hash of that line, and tree root (hex) if proved."""

    ordinal: int
    ledger_hash: str
    root: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessedState:
    """What is remembered of one witness.

    Args:
        origin: the ledger that all of this is about.
        acknowledged: the newest point that it signed for.
        cosigned_at: the newest time that it stated (POSIX seconds).
        bound_to: identity and checkpoint key that the origin is bound to there.
        receipted: the ordinal of its newest receipt; it may have cosigned more since.
        conflict: the code of an integrity conflict; latched until a person clears it.
    """

    origin: str = ""
    acknowledged: Point | None = None
    cosigned_at: int = 0
    bound_to: str = ""
    receipted: int = 0
    conflict: str = ""


_NULL: Final = msgspec.Raw(b"null")


class _Keys(msgspec.Struct, frozen=True):
    public_key: msgspec.Raw
    public_key_manifest: msgspec.Raw = _NULL


class WitnessMemory:
    """The folder of one witness below the client's own folder."""

    def __init__(self, folder: Path, witness: NoteKey) -> None:
        """Nothing is made before the first write."""
        self._folder = folder / hashlib.sha256(witness.vkey.encode()).hexdigest()[:32]

    def state(self) -> WitnessedState:
        """Read the state; empty for a witness that was never asked.

        Raises:
            WitnessError: ``MEMORY_INVALID``: a damaged file must not read as an empty one.
        """
        data = self._read(STATE_FILE)
        if data is None:
            return WitnessedState()
        try:
            return read_shape(data, WitnessedState)
        except ValueError:
            raise _invalid(STATE_FILE) from None

    def keep_state(self, state: WitnessedState) -> None:
        """Replace the state, durably."""
        private_folder(self._folder)
        publish(self._folder / STATE_FILE, msgspec.json.encode(state))

    def receipt_key(self) -> PublicKeyEnvelope | None:
        """Read the pinned receipt key.

        Raises:
            WitnessError: ``MEMORY_INVALID``.
        """
        kept = self.served_key()
        return kept.public if kept else None

    def served_key(self) -> ServedKey | None:
        """Read the pinned receipt key with the manifest that vouched for it, if one did.

        Raises:
            WitnessError: ``MEMORY_INVALID``.
        """
        data = self._read(KEYS_FILE)
        if data is None:
            return None
        try:
            keys = read_shape(data, _Keys)
            public = read_public_key_envelope(bytes(keys.public_key))
        except (ValueError, CryptoError):
            raise _invalid(KEYS_FILE) from None
        manifest = bytes(keys.public_key_manifest)
        return ServedKey(public=public, manifest=None if manifest == bytes(_NULL) else manifest)

    def pin_receipt_key(self, public: PublicKeyEnvelope, manifest: bytes | None) -> None:
        """Pin a receipt key with what a root said of it."""
        private_folder(self._folder)
        keys = _Keys(
            public_key=msgspec.Raw(public.document),
            public_key_manifest=msgspec.Raw(manifest) if manifest else _NULL,
        )
        publish(self._folder / KEYS_FILE, msgspec.json.encode(keys))

    def keep_receipt(self, answer: bytes) -> None:
        """Append a verified receipt (one line of JSON), durably.

        Raises:
            WitnessError: ``MEMORY_INVALID`` where it cannot be written.
        """
        private_folder(self._folder)
        try:
            handle = open_regular(
                str(self._folder / RECEIPTS_FILE), os.O_WRONLY | os.O_CREAT | os.O_APPEND
            )
            try:
                os.write(handle, answer.rstrip(b"\n") + b"\n")
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError:
            raise _invalid(RECEIPTS_FILE) from None

    def receipts(self) -> tuple[bytes, ...]:
        """Read the newest kept receipts (``RECEIPTS_BYTES`` of them), oldest first.

        A torn last line, left by a crash, is left out.

        Raises:
            WitnessError: ``MEMORY_INVALID`` for what is no file.
        """
        try:
            with open(self._folder / RECEIPTS_FILE, "rb", opener=open_regular) as file:
                size = file.seek(0, os.SEEK_END)
                start = max(0, size - RECEIPTS_BYTES)
                file.seek(start)
                lines = file.read(RECEIPTS_BYTES).split(b"\n")[:-1]
        except FileNotFoundError:
            return ()
        except OSError:
            raise _invalid(RECEIPTS_FILE) from None
        return tuple(lines[1:] if start else lines)

    def _read(self, name: str) -> bytes | None:
        try:
            with Folder.open(self._folder) as opened:
                return opened.read(name, limit_bytes=FILE_BYTES).data
        except FilesError as error:
            if error.code == "FILE_MISSING":
                return None
            raise


def _invalid(name: str) -> AgenticOSError:
    return ERRORS.error("MEMORY_INVALID", f"{name} of a witness is damaged")
