"""What lies where in an identity's folder. Names only; nothing is opened here.

::

    ledger.jsonl            the ledger                      ledger.lock    its one writer
    keys/<role>.key         private keys (0600)             keys/checkpoint.key   Ed25519
    identity-envelope.json  the identity's public key envelope, made once and kept
    witness-keys/*.json     pinned witness keys             verified-head.json
    witness/*               what the witness client keeps   safe-mode.json  a latched conflict
    projection.db           the cache                       snapshot-*.jsonl.gz
"""

from pathlib import Path
from typing import Final

KEYS_FOLDER: Final = "keys"
KEY_SUFFIX: Final = ".key"
CHECKPOINT_KEY: Final = "checkpoint"
ENVELOPE_NAME: Final = "identity-envelope.json"
WITNESS_KEYS_FOLDER: Final = "witness-keys"
WITNESS_FOLDER: Final = "witness"
SAFE_MODE_NAME: Final = "safe-mode.json"


def key_path(folder: Path, name: str) -> Path:
    """Where the private key of a role (or the checkpoint key) lies."""
    return folder / KEYS_FOLDER / f"{name}{KEY_SUFFIX}"
