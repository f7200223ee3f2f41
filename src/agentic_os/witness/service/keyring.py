"""The keys of a witness and the folder that keeps them beside its database.

==================  =======================================================================
receipt.key         ML-DSA-87, signs AII OS receipts; ``receipt.public.json`` is its envelope
cosigner.key        Ed25519, signs C2SP cosignatures; ``cosigner.vkey`` is its public text
manifest.json       the operator's root vouches for the receipt key
root.public.json    the public half of that root
witness.db          the memory; made with the keys and never without them
==================  =======================================================================
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from agentic_os.crypto.canonical.texts import sha256_text
from agentic_os.crypto.envelope.profiles import ROOT_PROFILE
from agentic_os.crypto.envelope.public_keys import (
    PublicKeyEnvelope,
    make_named_envelope,
    read_public_key_envelope,
)
from agentic_os.crypto.keys.files import read_key, write_key
from agentic_os.crypto.keys.pairs import ED25519, ML_DSA_87, SigningKey, generate_key
from agentic_os.crypto.tlog.note_keys import NoteSigner, parse_vkey
from agentic_os.errors import FilesError
from agentic_os.files.publishing import private_folder, publish
from agentic_os.files.reading import Folder
from agentic_os.witness.codes import ERRORS
from agentic_os.witness.protocol.operator_root import OperatorRoot, sign_manifest
from agentic_os.witness.service.store import create_database

RECEIPT_KEY_TYPE: Final = "witness"
DATABASE_FILE: Final = "witness.db"
RECEIPT_KEY_FILE: Final = "receipt.key"
COSIGNER_KEY_FILE: Final = "cosigner.key"
RECEIPT_PUBLIC_FILE: Final = "receipt.public.json"
VKEY_FILE: Final = "cosigner.vkey"
MANIFEST_FILE: Final = "manifest.json"
ROOT_PUBLIC_FILE: Final = "root.public.json"
PUBLIC_FILE_BYTES: Final = 1024 * 1024

_MADE: Final = (
    DATABASE_FILE,
    RECEIPT_KEY_FILE,
    COSIGNER_KEY_FILE,
    RECEIPT_PUBLIC_FILE,
    VKEY_FILE,
    MANIFEST_FILE,
    ROOT_PUBLIC_FILE,
)


@dataclass(frozen=True, kw_only=True)
class WitnessKeys:
    """Everything that a witness signs with or shows about its keys."""

    receipt_key: SigningKey
    receipt_public: PublicKeyEnvelope
    cosigner: NoteSigner
    manifest: bytes
    root_public: bytes

    @property
    def name(self) -> str:
        """The name that the cosignatures carry."""
        return self.cosigner.key.name

    @property
    def meta(self) -> dict[str, str]:
        """What the database must say it belongs to."""
        return {
            "cosigner_vkey": self.cosigner.key.vkey,
            "format": "agentic-os-witness/1",
            "receipt_key_sha256": self.receipt_public.sha256,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class KeygenData:
    """Answer of ``witness keygen``: the public halves, and the manifest that vouches for them."""

    name: str
    vkey: str
    receipt_key_sha256: str
    manifest_sha256: str
    renewed: bool = False


def keygen_data(keys: WitnessKeys, *, renewed: bool = False) -> KeygenData:
    """Say what was made."""
    return KeygenData(
        name=keys.name,
        vkey=keys.cosigner.key.vkey,
        receipt_key_sha256=keys.receipt_public.sha256,
        manifest_sha256=sha256_text(keys.manifest),
        renewed=renewed,
    )


def witness_vkey(folder: Path) -> str:
    """Read the public cosignature key of a witness; no private key is opened.

    Raises:
        WitnessError: ``WITNESS_MISSING``.
    """
    try:
        with Folder.open(folder) as opened:
            text = opened.read(VKEY_FILE, limit_bytes=PUBLIC_FILE_BYTES).data.decode(
                "ascii", "replace"
            )
    except FilesError as error:
        raise ERRORS.error(
            "WITNESS_MISSING", f"no witness in that folder: {error.message}"
        ) from None
    return parse_vkey(text.strip()).vkey


def generate_witness(
    folder: Path, *, name: str, root: OperatorRoot, now: datetime, password: str | None = None
) -> WitnessKeys:
    """Make a new witness: keys, manifest and empty database, or nothing at all.

    Args:
        folder: made 0700; nothing of a witness may stand there.
        name: the cosigner's name, best a URL without scheme (``witness.example/w1``).
        root: the operator's root, which signs the manifest now and is not kept here.
        now: start of the keys' windows.
        password: encrypts the two private key files.

    Raises:
        WitnessError: ``WITNESS_EXISTS``; CryptoError ``KEY_NAME_INVALID``.
    """
    private_folder(folder)
    if any((folder / part).is_symlink() or (folder / part).exists() for part in _MADE):
        raise ERRORS.error("WITNESS_EXISTS", "a witness stands in that folder already")
    receipt_key = generate_key(ML_DSA_87)
    receipt_public = make_named_envelope(
        receipt_key.public, key_type=RECEIPT_KEY_TYPE, created_at=now, profile=ROOT_PROFILE
    )
    keys = WitnessKeys(
        receipt_key=receipt_key,
        receipt_public=receipt_public,
        cosigner=NoteSigner(
            kind="cosignature", name=name, private=(cosigner := generate_key(ED25519))
        ),
        manifest=sign_manifest(root, receipt_public, now=now),
        root_public=root.public.document,
    )
    try:
        write_key(folder / RECEIPT_KEY_FILE, receipt_key, password=password)
        write_key(folder / COSIGNER_KEY_FILE, cosigner, password=password)
        publish(folder / RECEIPT_PUBLIC_FILE, receipt_public.document)
        publish(folder / VKEY_FILE, f"{keys.cosigner.key.vkey}\n".encode())
        publish(folder / MANIFEST_FILE, keys.manifest)
        publish(folder / ROOT_PUBLIC_FILE, keys.root_public)
        create_database(folder / DATABASE_FILE, meta=keys.meta)
    except BaseException:
        for part in _MADE:
            (folder / part).unlink(missing_ok=True)
        raise
    return keys


def read_witness_keys(folder: Path, *, password: str | None = None) -> WitnessKeys:
    """Open the keys of a witness.

    Raises:
        WitnessError: ``WITNESS_MISSING``; CryptoError as ``read_key``, and ``KEY_MISMATCH``
            when public and private files do not belong together.
    """
    try:
        with Folder.open(folder) as opened:
            parts = {
                name: opened.read(name, limit_bytes=PUBLIC_FILE_BYTES).data
                for name in (RECEIPT_PUBLIC_FILE, VKEY_FILE, MANIFEST_FILE, ROOT_PUBLIC_FILE)
            }
    except FilesError as error:
        raise ERRORS.error(
            "WITNESS_MISSING", f"no witness in that folder: {error.message}"
        ) from None
    receipt_key = read_key(folder / RECEIPT_KEY_FILE, password=password)
    receipt_public = read_public_key_envelope(parts[RECEIPT_PUBLIC_FILE])
    vkey = parse_vkey(parts[VKEY_FILE].decode("utf-8", "replace").strip())
    cosigner = NoteSigner(
        kind="cosignature",
        name=vkey.name,
        private=read_key(folder / COSIGNER_KEY_FILE, password=password),
    )
    if receipt_public.part(ML_DSA_87).raw != receipt_key.public.raw or cosigner.key != vkey:
        raise ERRORS.error("KEY_MISMATCH", "the key files of the witness do not belong together")
    return WitnessKeys(
        receipt_key=receipt_key,
        receipt_public=receipt_public,
        cosigner=cosigner,
        manifest=parts[MANIFEST_FILE],
        root_public=parts[ROOT_PUBLIC_FILE],
    )


def renew_manifest(folder: Path, *, root: OperatorRoot, now: datetime) -> bytes:
    """Let the root vouch again for a witness whose manifest is about to expire.

    Raises:
        CryptoError: ``KEY_MISMATCH`` when it is another root than before.
    """
    with Folder.open(folder) as opened:
        public = opened.read(ROOT_PUBLIC_FILE, limit_bytes=PUBLIC_FILE_BYTES).data
        receipt = opened.read(RECEIPT_PUBLIC_FILE, limit_bytes=PUBLIC_FILE_BYTES).data
    if public != root.public.document:
        raise ERRORS.error("KEY_MISMATCH", "another root than this witness has")
    manifest = sign_manifest(root, read_public_key_envelope(receipt), now=now)
    publish(folder / MANIFEST_FILE, manifest)
    return manifest
