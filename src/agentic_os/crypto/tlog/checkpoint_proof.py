"""C2SP ``.tlog-proof`` files: one entry's inclusion, provable offline.

A first line that names the format, an optional ``extra`` line of base64, ``index <n>``, the
inclusion proof from the leaf's sibling upwards, an empty line and the checkpoint with its
signatures, verbatim (c2sp.org/tlog-proof). The extra data is NOT authenticated.
"""

from dataclasses import dataclass
from typing import Final

from agentic_os.crypto.canonical.texts import decode_base64, encode_base64
from agentic_os.crypto.tlog.checkpoint import (
    SignedCheckpoint,
    parse_decimal,
    parse_hash,
    parse_signed_checkpoint,
)
from agentic_os.crypto.tlog.merkle import PROOF_HASHES, inclusion_holds
from agentic_os.crypto.tlog.note import NOTE_BYTES
from agentic_os.errors import CryptoError

TLOG_PROOF_HEADER: Final = "c2sp.org/tlog-proof@v1"
EXTRA_BYTES: Final = 64 * 1024
TLOG_PROOF_BYTES: Final = NOTE_BYTES + 2 * EXTRA_BYTES + 4096

_EXTRA: Final = "extra "
_INDEX: Final = "index "


@dataclass(frozen=True, slots=True, kw_only=True)
class TlogProof:
    """The parts of a proof file. ``extra`` is empty when the file has none."""

    index: int
    hashes: tuple[bytes, ...]
    head: SignedCheckpoint
    extra: bytes = b""

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        lines = [TLOG_PROOF_HEADER]
        if self.extra:
            lines.append(_EXTRA + encode_base64(self.extra))
        lines.append(f"{_INDEX}{self.index}")
        lines.extend(encode_base64(item) for item in self.hashes)
        return "".join(f"{line}\n" for line in lines).encode() + b"\n" + self.head.note.data

    def includes(self, leaf: bytes) -> bool:
        """Whether the leaf hash stands at the index; says nothing about signatures."""
        checkpoint = self.head.checkpoint
        return inclusion_holds(
            index=self.index,
            size=checkpoint.size,
            leaf=leaf,
            proof=self.hashes,
            root=checkpoint.root,
        )


def parse_tlog_proof(data: bytes) -> TlogProof:
    """Read a proof file without verifying it.

    Raises:
        CryptoError: ``TLOG_PROOF_INVALID``, ``NOTE_INVALID``, ``CHECKPOINT_INVALID``.
    """
    if len(data) > TLOG_PROOF_BYTES:
        raise _invalid(f"larger than {TLOG_PROOF_BYTES} bytes")
    front, parted, note = data.partition(b"\n\n")
    try:
        lines = front.decode("ascii").split("\n")
    except UnicodeDecodeError:
        raise _invalid("not ASCII before the checkpoint") from None
    if not parted or lines.pop(0) != TLOG_PROOF_HEADER:
        raise _invalid("another header, or no empty line")
    extra = b""
    if lines and lines[0].startswith(_EXTRA):
        extra = _parse_extra(lines.pop(0).removeprefix(_EXTRA))
    if not lines or not lines[0].startswith(_INDEX):
        raise _invalid("no index line")
    index = parse_decimal(lines.pop(0).removeprefix(_INDEX))
    if index is None:
        raise _invalid("the index is not a decimal number")
    if len(lines) > PROOF_HASHES:
        raise _invalid(f"more than {PROOF_HASHES} hashes")
    hashes = tuple(item for item in map(parse_hash, lines) if item is not None)
    if len(hashes) != len(lines):
        raise _invalid("a proof line is not the base64 of 32 bytes")
    head = parse_signed_checkpoint(note)
    return TlogProof(index=index, hashes=hashes, head=head, extra=extra)


def _parse_extra(text: str) -> bytes:
    try:
        extra = decode_base64(text)
    except CryptoError:
        raise _invalid("the extra line is not base64") from None
    if len(extra) > EXTRA_BYTES:
        raise _invalid(f"more than {EXTRA_BYTES} bytes of extra data")
    return extra


def _invalid(rule: str) -> CryptoError:
    return CryptoError(f"not a tlog-proof: {rule}", code="TLOG_PROOF_INVALID")
