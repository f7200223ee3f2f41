"""C2SP checkpoints: the text of a signed tree head.

Line 1 is the log's origin, line 2 the tree size in decimal without leading zeros, line 3
the root hash in base64; more lines are extensions, allowed and never needed here
(c2sp.org/tlog-checkpoint). An origin may hold spaces (the specification only advises
against them, and the Go checksum database has some), but it is at most 255 bytes long.
"""

import re
from dataclasses import dataclass
from typing import Final

from agentic_os.crypto.canonical.texts import decode_base64, encode_base64
from agentic_os.crypto.tlog.merkle import HASH_BYTES
from agentic_os.crypto.tlog.merkle_tree import TREE_LEAVES
from agentic_os.crypto.tlog.note import SignedNote, parse_note, sign_text
from agentic_os.crypto.tlog.note_keys import NoteSigner
from agentic_os.errors import CryptoError

ORIGIN_BYTES: Final = 255
EXTENSION_LINES: Final = 16

_DECIMAL: Final = re.compile(r"0|[1-9][0-9]{0,18}")
_NO_ORIGIN: Final = re.compile(r"[\x00-\x1f\ud800-\udfff]")
_HEAD_LINES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A tree head: which log, how many leaves, which root (32 bytes)."""

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The note text."""
        lines = (self.origin, str(self.size), encode_base64(self.root), *self.extensions)
        return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedCheckpoint:
    """A checkpoint and the note it was read from; unverified until ``note.open_note``."""

    checkpoint: Checkpoint
    note: SignedNote


def parse_decimal(text: str) -> int | None:
    """Read a size or index: ASCII digits, no leading zero, at most 2**63 - 1."""
    if not _DECIMAL.fullmatch(text):
        return None
    number = int(text)
    return number if number <= TREE_LEAVES else None


def parse_hash(text: str) -> bytes | None:
    """Read a base64 SHA-256 hash in its only spelling."""
    try:
        data = decode_base64(text)
    except CryptoError:
        return None
    return data if len(data) == HASH_BYTES else None


def is_origin(text: str) -> bool:
    """Whether ``text`` may be the origin line of a checkpoint."""
    return not _NO_ORIGIN.search(text) and 0 < len(text.encode()) <= ORIGIN_BYTES


def parse_checkpoint(text: str) -> Checkpoint:
    """Read a checkpoint's text.

    Raises:
        CryptoError: ``CHECKPOINT_INVALID``; the message names the rule.
    """
    lines = text.split("\n")
    if lines.pop() != "" or len(lines) < _HEAD_LINES:
        raise _invalid("fewer than three lines")
    origin, size_text, root_text, *extensions = lines
    size, root = parse_decimal(size_text), parse_hash(root_text)
    if not is_origin(origin):
        raise _invalid(f"an origin has 1 to {ORIGIN_BYTES} bytes and no control characters")
    if size is None:
        raise _invalid("the size is not a decimal number up to 2**63 - 1")
    if root is None:
        raise _invalid("the root is not the base64 of 32 bytes")
    if len(extensions) > EXTENSION_LINES or "" in extensions:
        raise _invalid(f"more than {EXTENSION_LINES} extension lines, or an empty one")
    return Checkpoint(origin=origin, size=size, root=root, extensions=tuple(extensions))


def parse_signed_checkpoint(data: bytes) -> SignedCheckpoint:
    """Read a checkpoint note without verifying it.

    Raises:
        CryptoError: ``NOTE_INVALID``, ``CHECKPOINT_INVALID``.
    """
    note = parse_note(data)
    return SignedCheckpoint(checkpoint=parse_checkpoint(note.text), note=note)


def sign_checkpoint(checkpoint: Checkpoint, signer: NoteSigner) -> SignedCheckpoint:
    """Sign a tree head with the log's key (kind ``note``, named like the origin)."""
    signature = sign_text(checkpoint.text, signer)
    note = SignedNote(text=checkpoint.text, signatures=(signature,))
    return SignedCheckpoint(checkpoint=checkpoint, note=note)


def _invalid(rule: str) -> CryptoError:
    return CryptoError(f"not a checkpoint: {rule}", code="CHECKPOINT_INVALID")
