"""The witness keys pinned beside a ledger: without them its receipts could not be verified."""

from pathlib import Path
from typing import Final

from agentic_os.crypto.envelope.public_keys import PublicKeyEnvelope, read_public_key_envelope
from agentic_os.errors import CryptoError, FilesError
from agentic_os.files.publishing import private_folder, publish
from agentic_os.files.reading import Folder
from agentic_os.identity.codes import ERRORS
from agentic_os.ledger.layout import WITNESS_KEYS_FOLDER

WITNESS_KEYS_ENTRIES: Final = 1_000
KEY_BYTES: Final = 64 * 1024


class PinnedKeys(dict[str, PublicKeyEnvelope]):
    """The witness keys beside the ledger, by key id; a live mapping for chain and journal."""

    def __init__(self, folder: Path) -> None:
        """Read ``witness-keys/``.

        Raises:
            IdentityError: ``WITNESS_KEY_INVALID`` for a damaged file.
        """
        super().__init__()
        self._folder = folder / WITNESS_KEYS_FOLDER
        if not self._folder.is_dir():
            return
        try:
            with Folder.open(self._folder) as opened:
                entries, _ = opened.entries(limit_entries=WITNESS_KEYS_ENTRIES)
                for entry in entries:
                    if entry.kind == "file" and entry.name.endswith(".json"):
                        data = opened.read(entry.name, limit_bytes=KEY_BYTES).data
                        envelope = read_public_key_envelope(data)
                        self[envelope.key_id] = envelope
        except (FilesError, CryptoError) as error:
            raise ERRORS.error(
                "WITNESS_KEY_INVALID", f"a pinned witness key cannot be read: {error.message}"
            ) from None

    def pin(self, envelope: PublicKeyEnvelope) -> None:
        """Keep a key durably before a line that needs it is written.

        Raises:
            IdentityError: ``WITNESS_KEY_CHANGED`` when another key has that id.
        """
        known = self.get(envelope.key_id)
        if known is not None:
            if known.document != envelope.document:
                raise ERRORS.error(
                    "WITNESS_KEY_CHANGED", "another witness key of the same id is pinned"
                )
            return
        name = "".join(char if char.isalnum() or char in "_.-" else "-" for char in envelope.key_id)
        private_folder(self._folder)
        publish(self._folder / f"{name}.json", envelope.document)
        self[envelope.key_id] = envelope
