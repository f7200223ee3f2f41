"""A cosigned head: "this identity verified everything up to here, and a witness saw it".

The only thing that lets a boot skip signatures (design decision 10), and so the only thing
here that must not be fooled::

    statement   size, root and origin, signed by the identity's ML-DSA-87 key AFTER a check of
                every signature (header AGENTIC-OS-VERIFIED-HEAD-V1)
    note        a checkpoint of the same origin, size and root, cosigned by a pinned witness
    use         the lines up to the size must give exactly that root, and the statement's key
                must be one that signed for the identity in this very chain

The root covers every byte of every line, signatures included: equal root, equal bytes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from agentic_os.crypto.canonical.json import encode, is_canonical
from agentic_os.crypto.canonical.texts import decode_base64, encode_base64, signed_text
from agentic_os.crypto.keys.pairs import SigningKey, VerifyingKey
from agentic_os.crypto.tlog.checkpoint import SignedCheckpoint, parse_signed_checkpoint
from agentic_os.crypto.tlog.note import open_note
from agentic_os.crypto.tlog.note_keys import NoteKey
from agentic_os.errors import CryptoError, FilesError
from agentic_os.files.reading import Folder
from agentic_os.text.shapes import read_shape

HEAD_HEADER: Final = "AGENTIC-OS-VERIFIED-HEAD-V1"
HEAD_NAME: Final = "verified-head.json"
HEAD_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CosignedHead:
    """A head whose note a pinned witness has cosigned; its statement is checked in use."""

    origin: str
    size: int
    root: bytes
    key_id: str
    signature: bytes

    def is_stated_by(self, key: VerifyingKey) -> bool:
        """Whether ``key`` made the statement."""
        text = _statement(origin=self.origin, size=self.size, root=self.root)
        return key.key_id == self.key_id and key.verify(self.signature, text)


class _Shape(msgspec.Struct, forbid_unknown_fields=True):
    checkpoint: str
    key_id: str
    sig_b64: str


def state_head(checkpoint_note: bytes, key: SigningKey) -> bytes:
    """Make the document that states a cosigned checkpoint, to be kept as ``HEAD_NAME``.

    Only for a head up to which every signature was checked.

    Raises:
        CryptoError: when the note is not a checkpoint.
    """
    head = parse_signed_checkpoint(checkpoint_note).checkpoint
    text = _statement(origin=head.origin, size=head.size, root=head.root)
    return encode(
        {
            "checkpoint": checkpoint_note.decode(),
            "key_id": key.key_id,
            "sig_b64": encode_base64(key.sign(text)),
        }
    )


def read_head(document: bytes, witnesses: Iterable[NoteKey]) -> CosignedHead:
    """Read a stated head and verify the witness's cosignature.

    Args:
        document: as ``state_head`` made it.
        witnesses: the pinned cosignature keys; log keys do not count.

    Raises:
        CryptoError: ``HEAD_INVALID``, or what notes and checkpoints raise.
    """
    if len(document) > HEAD_BYTES or not is_canonical(document):
        raise CryptoError("not a verified head", code="HEAD_INVALID")
    try:
        shape = read_shape(document, _Shape)
    except ValueError as error:
        raise CryptoError(f"not a verified head: {error}", code="HEAD_INVALID") from None
    signed = parse_signed_checkpoint(shape.checkpoint.encode())
    open_note(signed.note, [key for key in witnesses if key.kind == "cosignature"])
    return CosignedHead(
        origin=signed.checkpoint.origin,
        size=signed.checkpoint.size,
        root=signed.checkpoint.root,
        key_id=shape.key_id,
        signature=decode_base64(shape.sig_b64),
    )


def read_cosigned_note(folder: Path) -> SignedCheckpoint | None:
    """Return the cosigned checkpoint of the head that is kept beside a ledger; None without one.

    Its signatures are for whoever reads a proof; nothing is verified here.
    """
    try:
        with Folder.open(folder) as opened:
            document = opened.read(HEAD_NAME, limit_bytes=HEAD_BYTES).data
        shape = read_shape(document, _Shape)
        return parse_signed_checkpoint(shape.checkpoint.encode())
    except (FilesError, CryptoError, ValueError):
        return None


def _statement(*, origin: str, size: int, root: bytes) -> bytes:
    return signed_text(
        HEAD_HEADER, ("origin", origin), ("size", str(size)), ("root", encode_base64(root))
    )
